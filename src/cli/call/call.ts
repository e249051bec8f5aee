/** The action of every command that is an operation: flags to input, one call, the answer in the chosen format. */

import { BillingError } from '../../errors.ts';
import { isExactNumber } from '../../exact-json.ts';
import type { Answer, Billing, OperationName } from '../../operations/index.ts';
import type { CallInput } from '../../operations/operation.ts';
import { readTextFile } from '../files/files.ts';
import { grantOperation } from '../operator/grant-history.ts';
import { inputOf, missingFlags, wholeBody } from '../command-line/flags.ts';
import type { Given } from '../command-line/flags.ts';
import type { Invocation } from '../command-line/invocation.ts';
import type { CommandSpec } from '../command-line/manifest.ts';
import { namingWhatIsMissing } from './missing-name.ts';
import { timeoutOf } from '../session/open-session.ts';
import { checkFields, listText, render } from '../output/output.ts';
import { completed, confirmLoss, confirmWrite } from '../session/prompts.ts';
import { checkReplay } from '../operator/replay.ts';
import { amountText, rowsOf, valueAt, wireText } from '../wire/rows.ts';
import { safe, safeJson, say, vouch } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import type { OpenBilling, Session } from '../session/session.ts';
import type { Target } from '../target/target.ts';
import { tell } from '../session/tell.ts';

/** Calls the operation and prints its answer. Nothing is printed on standard output when it throws. */
export async function callOperation(invocation: Invocation, session: Session): Promise<void> {
  const { command, local } = invocation;
  const { flags } = session;
  if (local['from'] !== undefined) return await (await import('../bulk/run.ts')).runBulk(invocation, session);
  if (local['resume'] === true) return await (await import('./resume.ts')).resumeGrants(invocation, session);
  if (flags.dryRun === true && !command.isWrite) {
    throw new BillingError('usage', '--dry-run is for commands that change something; this one only reads');
  }
  if (command.operation === 'usage.cost' && Object.keys(local).length > 0) {
    return await (await import('./usage-split.ts')).splitUsage(invocation, session);
  }
  checkFields(session.output, command.fields, command.view);
  const picture = 'chart' in local || 'ascii' in local ? await pictureOf(invocation, session) : undefined;
  const { given, asked } = await readInput(invocation, session);
  const isRehearsal = flags.dryRun === true && command.rehearsalMember !== undefined;
  const unversioned = isRehearsal ? rehearsalOf(command, asked) : asked;
  const isGrant = command.operation === grantOperation;
  if (isGrant && local['allow-zero'] !== true) refuseZero(unversioned);
  const target = await session.target();
  if (flags.dryRun === true && !isRehearsal) {
    const { printDryRun } = await import('./dry-run.ts');
    return await printDryRun(command, unversioned, { session, target, local });
  }
  const input = await versioned(command, unversioned, { session, target });
  if (!isRehearsal) await agreed(command, input, { session, target });
  const opened = await openFor(invocation, session, target);
  try {
    const { billing } = opened;
    const text = invocation.isAll && picture === undefined ? await listTextFor(command, session) : undefined;
    if (text !== undefined) {
      const { printEveryPage } = await import('./every-page.ts');
      const print = async () => await printEveryPage(command, input, { billing, session, text });
      const count = await namingWhatIsMissing(given.positionals, print);
      return count > 0 ? undefined : await tellUnknownFilters(command, input, { billing, session });
    }
    const receipt = isGrant ? await beginReceipt(session, billing, input) : undefined;
    const question = picture?.chart.question?.(input) ?? input;
    const answer = await namingWhatIsMissing(given.positionals, async () =>
      invocation.isAll
        ? await (await import('./every-page.ts')).everyPage(command, input, { billing, session })
        : await billing.call(command.operation as OperationName, question),
    );
    checkReplay(command, input, answer);
    const shown = await shownAnswer(command, answer, { session, picture, input });
    session.terminal.out(shown);
    if (command.isSecret) noteSecret(command, session, shown.includes(secretOf(command, answer)));
    note(command, answer, session);
    if (isEmptyPage(answer)) await tellUnknownFilters(command, input, { billing, session });
    await receipt?.(answer);
    const kept = command.destroys === true ? 'nothing was changed' : 'all of it was done, and nothing kept';
    if (isRehearsal) tell(session, say`dry run on ${target.environment}: ${kept}`);
    checkFindings(command, answer);
  } finally {
    await opened.close();
  }
}

/** What the flags, their files and the answers to questions come to. */
async function readInput(
  { command, given: typed, inputPath }: Invocation,
  session: Session,
): Promise<{ readonly given: Given; readonly asked: CallInput }> {
  const readText = (path: string) => readTextFile(path, session.terminal);
  const whole = inputPath === undefined ? undefined : wholeBody(await readText(inputPath), command.isBulk);
  const given = await completed(command, typed, missingFlags(command, typed, whole !== undefined), session);
  return { given, asked: await inputOf(command, given, { whole, readText }) };
}

/** Asks whoever runs a write. What no service offers is refused by whoever sends it; nobody has to agree to it first. */
async function agreed(
  command: CommandSpec,
  input: CallInput,
  { session, target }: { readonly session: Session; readonly target: Target },
): Promise<void> {
  const isOffered = target.kind !== 'remote' || command.path !== undefined;
  if (!command.isWrite || !isOffered) return;
  const confirm = command.destroys === true ? confirmLoss : confirmWrite;
  await confirm(session, target, effectOf(command, input));
}

/** With the version that is to be changed, where the command looks it up. */
async function versioned(
  command: CommandSpec,
  input: CallInput,
  context: { readonly session: Session; readonly target: Target },
): Promise<CallInput> {
  if (!command.isWrite || !command.isVersioned) return input;
  const { withVersionSeen } = await import('./version-seen.ts');
  return await withVersionSeen(command.operation as OperationName, input, context);
}

async function pictureOf({ command, local }: Invocation, { flags, terminal }: Session) {
  const [{ chartStyle }, { chosenChart }] = await Promise.all([
    import('../charts/chart.ts'),
    import('../charts/index.ts'),
  ]);
  const chart = await chosenChart(command.operation, local, flags);
  return { chart, style: chartStyle(terminal.stdout, local['ascii'] === true) };
}

/** As a picture, or in the format that was chosen. */
async function shownAnswer(
  { view, fields }: CommandSpec,
  { body }: Answer,
  { session, picture, input }: { readonly session: Session; readonly picture: Picture; readonly input: CallInput },
): Promise<SafeText> {
  if (picture !== undefined) return await picture.chart.draw(body, { asked: input, style: picture.style });
  return await render(body, view, { choice: session.output, fields, stdout: session.terminal.stdout });
}

async function listTextFor({ view, fields }: CommandSpec, { output }: Session) {
  return await listText(view, { choice: output, fields });
}

type Picture = Awaited<ReturnType<typeof pictureOf>> | undefined;

async function tellUnknownFilters(
  command: CommandSpec,
  input: CallInput,
  { billing, session }: { readonly billing: Billing; readonly session: Session },
): Promise<void> {
  const { unknownFilters } = await import('./unknown-filter.ts');
  for (const sentence of await unknownFilters(command, input, billing)) tell(session, sentence);
}

async function openFor({ command, local }: Invocation, session: Session, target: Target): Promise<OpenBilling> {
  const { flags, dependencies } = session;
  if (!command.isWrite) return await dependencies.openBilling(target, { timeoutMilliseconds: timeoutOf(flags) });
  const { openForWriting } = await import('../session/open-billing.ts');
  return await openForWriting(session, target, local);
}

async function beginReceipt(session: Session, billing: Billing, input: CallInput) {
  const { beginReceipt: begin } = await import('./grant-receipt.ts');
  return await begin(session, billing, input);
}

/** A grant of nothing is a slip of the finger more often than not (semantics 9, Grant validation). */
function refuseZero({ body }: CallInput): void {
  const { amountCents, creditAmount } = (body ?? {}) as Record<string, unknown>;
  if (amountCents !== 0 || creditAmount !== undefined) return;
  throw new BillingError('refused', 'this grants 0.00: nothing was sent', {
    hint: 'give --allow-zero if that is meant',
  });
}

/** The same, with nothing kept. */
function rehearsalOf({ rehearsalMember = '' }: CommandSpec, input: CallInput): CallInput {
  return { ...input, body: { ...(input.body as Record<string, unknown> | undefined), [rehearsalMember]: true } };
}

/** Work that could be done in part, or a check that found something, is told by the exit code; the rest has been printed. */
function checkFindings({ findingsPath }: CommandSpec, { body }: Answer): void {
  const found = findingsPath === undefined ? undefined : valueAt(body, findingsPath);
  const findings = Array.isArray(found) ? found.filter((each) => valueAt(each, 'severity') !== 'warning') : [];
  if (findings.length === 0) return;
  const isCheck = valueAt(findings[0], 'check') !== undefined;
  const words = isCheck ? 'found to be wrong' : 'could not be done';
  throw new BillingError('checkFailed', `${findings.length} ${words}; the first: ${firstWords(findings[0])}`, {
    hint: 'see all of them with: -o json',
  });
}

function firstWords(finding: unknown): string {
  const subject = wireText(valueAt(finding, 'contractId')) || wireText(valueAt(finding, 'customerId'));
  const message = wireText(valueAt(finding, 'message') ?? valueAt(finding, 'problem'));
  return subject === '' ? message : `${subject}: ${message}`;
}

/** What would be sent, a member a line: JSON keeps each text on the line of its name. Amounts stand below as people say them. */
function effectOf(command: CommandSpec, input: CallInput): SafeText {
  const ids = Object.values(input.params ?? {}).join(' ');
  const version = input.ifMatch === undefined ? '' : ` (version ${input.ifMatch})`;
  const head = safe(`${command.summary}${ids === '' ? '' : `: ${ids}`}${version}`);
  if (input.body === undefined) return head;
  const body = safeJson(JSON.stringify(input.body, undefined, 2));
  const amounts = Object.entries(input.body ?? {})
    .filter(([name, value]) => name.endsWith('Cents') && isExactNumber(value))
    .map(([name, value]) => say`\n${name} is ${amountText(wireText(value))} USD`);
  return vouch([head, '\n', body, ...amounts].join(''));
}

interface Page {
  readonly data: readonly unknown[];
  readonly total: number;
  readonly hasMore: boolean;
}

function isEmptyPage({ body }: Answer): boolean {
  const { data } = body as unknown as Partial<Page>;
  return Array.isArray(data) && data.length === 0;
}

/** What the table of such a command begins with. */
function secretOf({ view }: CommandSpec, { body }: Answer): string {
  const [row] = rowsOf(body, view).rows;
  return wireText(valueAt(row, view.columns[0]?.path ?? ''));
}

function noteSecret({ group }: CommandSpec, session: Session, isShown: boolean): void {
  if (isShown) tell(session, say`keep it: this secret is not shown again`);
  else tell(session, say`the secret was not printed, and is not shown again; another one: tally ${group} rotate`);
}

function tellOfNone({ findingsPath, view }: CommandSpec, session: Session): void {
  if (findingsPath === undefined) tell(session, say`there are none`);
  else if (findingsPath === view.rows) tell(session, say`nothing wrong was found`);
}

function note(command: CommandSpec, answer: Answer, session: Session): void {
  if (answer.isReplay === true) tell(session, say`this entry was there already: nothing was created`);
  if (command.isVersioned && answer.etag !== undefined && session.terminal.stderr.isTerminal) {
    tell(session, say`version ${answer.etag}: give --if-match to change only this version`);
  }
  const page = answer.body as unknown as Partial<Page>;
  if (session.output.format === 'table') {
    const { isList, rows } = rowsOf(answer.body, command.view);
    if (isList && rows.length === 0) tellOfNone(command, session);
    if ((page.data as unknown) === null) tell(session, say`there is none`);
  }
  if (page.hasMore === true && Array.isArray(page.data)) {
    tell(session, say`${page.data.length} of ${page.total ?? '?'}: there are more; --all prints every one`);
  }
}
