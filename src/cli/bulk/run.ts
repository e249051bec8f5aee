/**
 * Work from a file, one request for each row: every row is checked first, the totals are shown and confirmed, then the rows
 * are sent. Repeating the command does the rest: rows already done are recognized.
 */

import { assert } from '../../assert.ts';
import { BillingError, InvalidInputError } from '../../errors.ts';
import type { View } from '../../operations/operation.ts';
import type { Invocation, LocalValues } from '../command-line/invocation.ts';
import { sourceOf } from '../command-line/source-flag.ts';
import { delimiterOf, readCsv } from '../files/csv-file.ts';
import { doneWithout } from '../files/output-file.ts';
import { openForWriting } from '../session/open-billing.ts';
import type { OpenForWriting } from '../session/open-billing.ts';
import { refusedByPolicy } from '../operator/policy.ts';
import { checkFields, columnPaths, printBody, render } from '../output/output.ts';
import { confirmShown } from '../session/prompts.ts';
import { counted, say } from '../terminal/safe-text.ts';
import type { Session } from '../session/session.ts';
import type { Target } from '../target/target.ts';
import { applyUnits, stopped } from './apply.ts';
import type { Applied, RowOutcome } from './apply.ts';
import type { BulkKind, Plan, Summary } from './kind.ts';
import { checkResultFile, writeResultFile } from './result-file.ts';
import { readRows } from './rows.ts';
import type { Problem } from './rows.ts';
import { noteNothingSent, tell } from '../session/tell.ts';

const shownProblems = 10;
const shownTotals = 20;
const defaultConcurrency = 8;

export async function runBulk(invocation: Invocation, session: Session): Promise<void> {
  const { local, inputPath } = invocation;
  if (inputPath !== undefined || local['resume'] !== undefined) {
    throw new BillingError('usage', '--from cannot be used with --input or --resume');
  }
  const concurrency = concurrencyOf(textOf(local, 'concurrency') ?? String(defaultConcurrency));
  const resultPath = textOf(local, 'result');
  if (resultPath !== undefined) checkResultFile(resultPath);
  // What a rehearsal shows has fields of its own, but no more ids than a run: the names in it are of customers.
  if (session.flags.dryRun !== true || session.output.format === 'name') checkFields(session.output, fields, view);
  const target = await session.target();
  // A large file is read and judged for a while.
  if (session.flags.dryRun !== true) noteNothingSent(session);
  const opened = await openForWriting(session, target, local);
  try {
    const plan = await planOf(invocation, session, opened);
    refuse(plan, session, opened);
    if (session.flags.quiet !== true) tellProblems(plan.doubts ?? [], session);
    // As of an import: an export that found nothing would go unseen in a job of every night.
    if (plan.rowCount === 0) tell(session, say`warning: there is no row: nothing is sent`);
    if (session.flags.dryRun === true) return await rehearse(plan, session, { opened, concurrency });
    await showTotals(plan.summary, session);
    if (plan.rowCount > 0) await confirm(session, target, plan.summary.words);
    session.dependencies.atInterrupt(undefined);
    const applied = await applyUnits(plan.unitsFor(plan.billing ?? opened.billing), session, { concurrency });
    const unwritten =
      resultPath === undefined ? undefined : await writeResultFile(resultPath, applied.outcomes, session.terminal);
    const result = { written: unwritten === undefined ? resultPath : undefined, unwritten };
    await report(applied, session, { plan, result });
  } finally {
    session.dependencies.atInterrupt(undefined);
    await opened.close();
  }
}

async function planOf(
  { command, given, local }: Invocation,
  session: Session,
  opened: OpenForWriting,
): Promise<Plan & { readonly rowCount: number }> {
  const kind = await kindOf(command.operation);
  const source = sourceOf(textOf(local, 'source'));
  const delimiter = delimiterOf(textOf(local, 'delimiter') ?? ',');
  const file = await readCsv(textOf(local, 'from') ?? '', delimiter, session.terminal);
  const ignored = textOf(local, 'ignore')?.split(',') ?? [];
  const { rows, problems } = await readRows(file, kind.rowCommand?.(command) ?? command, { given, ignored });
  const allowZero = local['allow-zero'] === true;
  const plan = await kind.plan(rows, { opened, source, allowZero });
  const all = [...problems, ...plan.problems].toSorted((one, other) => one.line - other.line);
  return { ...plan, problems: all, rowCount: rows.length };
}

/** Nothing is sent if one row cannot be: the file is corrected and the command repeated. */
function refuse({ problems, refusals = [] }: Plan, session: Session, { context }: OpenForWriting): void {
  if (problems.length > 0) {
    tellProblems(problems, session);
    throw new InvalidInputError([
      { path: '', message: `${counted(problems.length, 'row')} cannot be sent: nothing was sent` },
    ]);
  }
  if (refusals.length === 0) return;
  tellProblems(refusals, session);
  const { policy } = context;
  assert(policy !== undefined, 'a policy alone forbids rows');
  throw refusedByPolicy(policy, counted(refusals.length, 'row'));
}

function problemOf({ line, error }: RowOutcome): Problem {
  return { line, message: error };
}

function tellProblems(problems: readonly Problem[], { terminal }: Session, whereAllAre?: string): void {
  for (const { line, message } of problems.slice(0, shownProblems)) terminal.err(say`line ${line}: ${message}\n`);
  if (problems.length <= shownProblems) return;
  const where = whereAllAre === undefined ? '' : `: ${whereAllAre}`;
  terminal.err(say`and ${counted(problems.length - shownProblems, 'more row')}${where}\n`);
}

/** Shows the plan, and what the service in this process would refuse: each row by itself, done and undone. */
async function rehearse(plan: Plan, session: Session, { opened, concurrency }: Sending): Promise<void> {
  const { rehearsal } = opened;
  const { words, totals } = plan.summary;
  const shown = totals?.view ?? { rows: '', columns: [{ header: 'PLAN', path: 'plan' }] };
  checkFields(session.output, columnPaths(shown), shown);
  const judged = rehearsal && (await applyUnits(plan.unitsFor(rehearsal), session, { concurrency }));
  const outcomes = judged?.outcomes ?? [];
  const bad = outcomes.filter(({ status }) => status === 'failed' || status === 'unknown');
  tellProblems(bad.map(problemOf), session);
  await printBody({ plan: words, totals: totals?.rows ?? [] }, { view: shown }, session);
  if (judged?.stoppedBy !== undefined) throw judged.stoppedBy;
  const earlier = outcomes.filter(({ status }) => status === 'repeated').length;
  const before = earlier === 0 ? '' : `; ${earlier} of ${counted(outcomes.length, 'row')} done before`;
  tell(session, say`dry run: ${words}${before}; nothing was sent`);
  if (bad.length > 0) throw wouldFail(bad, outcomes.length);
}

function wouldFail(bad: readonly RowOutcome[], rowCount: number): BillingError {
  const untried = bad.filter(({ status }) => status === 'unknown').length;
  const refused = bad.length - untried;
  const words = [
    ...(refused > 0 ? [`${refused} of ${counted(rowCount, 'row')} would be refused`] : []),
    ...(untried > 0 ? [`${untried} of ${counted(rowCount, 'row')} could not be tried`] : []),
  ];
  const correct =
    hintOfDone(bad) ?? (refused === rowCount ? 'correct them' : 'correct them, or only the other rows will be done');
  return new BillingError('checkFailed', words.join(', '), { hint: untried > 0 ? 'repeat the command' : correct });
}

/** Whoever corrects a row that was done makes another row of it, which is done as well. */
function hintOfDone(bad: readonly RowOutcome[]): string | undefined {
  const earlier = bad.filter(({ wasDone }) => wasDone === true).length;
  if (earlier === 0) return undefined;
  const others = earlier === bad.length ? '' : 'correct the others and repeat the command; ';
  return `${others}leave rows that were done before as they are: changed in the file, they would be done again`;
}

async function showTotals({ words, totals }: Summary, { terminal, flags }: Session): Promise<void> {
  if (flags.quiet === true) return;
  if (totals !== undefined && totals.rows.length > 0) {
    const { rows, view: shown } = totals;
    const first = { totals: rows.slice(0, shownTotals) };
    const stdout = terminal.stderr;
    terminal.err(await render(first, shown, { choice: { format: 'table' }, fields: [], stdout, isBeside: true }));
    if (rows.length > shownTotals) terminal.err(say`and ${rows.length - shownTotals} more\n`);
  }
  terminal.err(say`${words}\n`);
}

/** Asks in every environment: a file may not be the one that the person thinks it is. */
async function confirm(session: Session, target: Target, words: string): Promise<void> {
  await confirmShown(session, target, {
    effect: say`${words}`,
    message: say`Go ahead with ${words}?`,
    unasked: `${words}: not confirmed, nothing was sent`,
    declined: 'not confirmed: nothing was sent',
  });
}

interface Sending {
  readonly opened: OpenForWriting;
  readonly concurrency: number;
}

const view: View = {
  rows: 'data',
  columns: [
    { header: 'ROWS', path: 'rows', format: 'number' },
    { header: 'DONE', path: 'done', format: 'number' },
    { header: 'REPEATED', path: 'repeated', format: 'number' },
    { header: 'FAILED', path: 'failed', format: 'number' },
    { header: 'UNKNOWN', path: 'unknown', format: 'number' },
    { header: 'PENDING', path: 'pending', format: 'number' },
  ],
};

const fields = [...columnPaths(view), 'failures'];

interface ResultFile {
  /** Its path, if it has been written. */
  readonly written: string | undefined;
  readonly unwritten: BillingError | undefined;
}

async function report(
  { outcomes, stoppedBy }: Applied,
  session: Session,
  { plan, result: { written, unwritten } }: { readonly plan: Plan; readonly result: ResultFile },
): Promise<void> {
  const { output } = session;
  const count = (status: RowOutcome['status']) => outcomes.filter((row) => row.status === status).length;
  const bad = outcomes.filter(({ status }) => status === 'failed' || status === 'unknown');
  const counts = {
    rows: outcomes.length,
    done: count('done'),
    repeated: count('repeated'),
    failed: count('failed'),
    unknown: count('unknown'),
    pending: count('pending'),
  };
  const failures = bad.map(({ line, status, error }) => ({ row: line, status, error }));
  // A person has read the first ones by then, and all of a large file's would push everything else off the screen.
  const data = failures.length === 0 || output.format === 'table' ? counts : { ...counts, failures };
  tellProblems(
    bad.map(problemOf),
    session,
    written === undefined ? 'all of them with --result FILE or -o json' : `all of them are in ${written}`,
  );
  await printBody({ data }, { view, fields }, session);
  const { repeated } = counts;
  if (repeated > 0 && plan.noteOfRepeated !== undefined) tell(session, plan.noteOfRepeated(repeated));
  const beside = unwritten === undefined ? '' : `; ${unwritten.message}`;
  const again = 'repeat the command to go on: no row is done twice';
  if (stoppedBy !== undefined) {
    const words = `${stoppedBy.message} (${counts.pending} of ${counted(counts.rows, 'row')} not sent)${beside}`;
    throw stopped(stoppedBy, words, again);
  }
  if (bad.length === 0) {
    if (unwritten === undefined) return;
    throw doneWithout(unwritten, 'repeat the command to write it: no row is done twice');
  }
  // Refused rows would be refused again.
  const correct = hintOfDone(bad) ?? 'correct these rows and repeat the command: no row is done twice';
  const next = counts.unknown > 0 ? again : correct;
  const words = [
    ...(counts.failed > 0 ? [`${counts.failed} of ${counted(counts.rows, 'row')} failed`] : []),
    ...(counts.unknown > 0 ? [`${counts.unknown} of ${counted(counts.rows, 'row')} may be done or not`] : []),
  ];
  const others = bad.length === counts.rows ? '' : '; the others are done';
  throw new BillingError('checkFailed', `${words.join(', ')}${others}${beside}`, {
    hint: written === undefined ? next : `${written} has the errors; ${next}`,
  });
}

function concurrencyOf(text: string): number {
  const value = Number(text);
  if (/^\d{1,2}$/.test(text) && value >= 1 && value <= 64) return value;
  throw new BillingError('usage', `--concurrency takes 1 to 64, not ${text}`);
}

function textOf(local: LocalValues, name: string): string | undefined {
  const value = local[name];
  return typeof value === 'string' ? value : undefined;
}

async function kindOf(operation: string): Promise<BulkKind> {
  if (operation === 'credits.grant') return (await import('./grants.ts')).grants;
  if (operation === 'customers.create') return (await import('./customers.ts')).customers;
  return (await import('./managers.ts')).managers;
}
