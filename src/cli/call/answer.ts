/** Sends a request and prints the answer with its notes. */

import type { KnownEvents } from '../../answer-facts.ts';
import { BillingError } from '../../errors.ts';
import type { Answer, Billing, OperationName, ResponseBody } from '../../operations/index.ts';
import type { CallInput } from '../../operations/operation.ts';
import type { ChartStyle } from '../charts/bars.ts';
import type { Chart } from '../charts/chart.ts';
import type { CommandSpec } from '../command-line/manifest.ts';
import { onSameTarget } from '../command-line/same-target.ts';
import { grantOperation } from '../operator/grant-history.ts';
import { checkReplay } from '../operator/replay.ts';
import { listText, render } from '../output/output.ts';
import { ifTold } from '../session/if-told.ts';
import type { Session } from '../session/session.ts';
import { tell } from '../session/tell.ts';
import { warnOfUnbilled } from '../session/unbilled-events.ts';
import { counted, say } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import { moreFollow, rowsOf, valueAt, wireText } from '../wire/rows.ts';
import { namingWhatIsMissing } from './missing-name.ts';

/** What is drawn in place of a table. */
export interface Picture {
  readonly chart: Chart;
  readonly style: ChartStyle;
}

/** A request, and how its answer is shown. */
export interface OperationRequest {
  readonly command: CommandSpec;
  readonly input: CallInput;
  /** The ids as they were typed. */
  readonly ids: readonly string[];
  /** `--all`. */
  readonly isAll: boolean;
  readonly picture: Picture | undefined;
  /** The last note, printed before the findings. */
  readonly end: SafeText | undefined;
  /** Called once the answer is on standard output. */
  readonly onShown: () => Promise<void>;
}

/** Throws if the request is refused, and throws the findings of a check once they are printed. */
export async function printAnswer(asked: OperationRequest, billing: Billing, session: Session): Promise<void> {
  const request = { ...asked, command: withIncluded(asked.command, asked.input) };
  const { command, input, ids, isAll, picture, end } = request;
  const { view, fields } = command;
  const text = isAll && picture === undefined ? await listText(view, { choice: session.output, fields }) : undefined;
  if (text !== undefined) {
    const { printEveryPage } = await import('./every-page.ts');
    const print = async () => await printEveryPage(command, input, { billing, session, text });
    const count = await namingWhatIsMissing({ ids, input, billing }, print);
    return count > 0 ? undefined : await tellUnknownFilters(command, input, { billing, session });
  }
  const question = picture?.chart.question?.(input) ?? input;
  const answer = await namingWhatIsMissing({ ids, input, billing }, async () =>
    isAll
      ? await (await import('./every-page.ts')).everyPage(command, input, { billing, session })
      : await billing.call(command.operation as OperationName, question),
  );
  await checkReplay(command, input, answer);
  const shown = await shownAnswer(request, answer, { billing, session });
  session.terminal.out(shown);
  await request.onShown();
  if (command.isSecret) noteSecret(command, answer, { session, shown });
  note(request, answer, session);
  if (command.isBulk) await tellOfValues(command, input, { billing, session });
  if (isEmptyList(command, answer)) await tellUnknownFilters(command, input, { billing, session });
  if (command.operation === grantOperation) {
    const { printReceipt } = await import('./grant-receipt.ts');
    await printReceipt(answer, input, { billing, session });
  }
  if (command.operation === 'contracts.create') {
    await (await import('./new-contract.ts')).warnOfNewContract(answer, billing, session);
  }
  if (command.operation === 'usage.cost') (await import('./usage-unit.ts')).tellOfUnit(input, answer.body, session);
  if (end !== undefined) tell(session, end);
  checkFindings(command, answer);
}

/** Adds a column for what `--include` asked for, which would otherwise be read for nothing. */
function withIncluded(command: CommandSpec, { query }: CallInput): CommandSpec {
  const { view } = command;
  const { included } = view;
  if (included === undefined || query?.['include'] === undefined) return command;
  const more = [...new Set(query['include'].split(','))].flatMap((name) => included[name] ?? []);
  const asked = more.map((column) => ({ ...column, isAsked: true }));
  return { ...command, view: { ...view, columns: [...view.columns, ...asked] } };
}

/** The answer as a picture, or in the chosen format. */
async function shownAnswer(
  { command: { view, fields }, input, picture }: OperationRequest,
  { body }: Answer,
  { billing, session: { flags, output, terminal } }: { readonly billing: Billing; readonly session: Session },
): Promise<SafeText> {
  if (picture !== undefined) {
    const { chart, style } = picture;
    const name = chart.beside;
    const ids = { params: input.params ?? {} };
    const beside = name && (await ifTold(async () => (await billing.call(name, ids)).body));
    return await chart.draw(body, { asked: input, style, beside });
  }
  const isForPerson = output.format === 'table' && view.layout === 'findings';
  const shown = isForPerson ? withSameTarget(body as ResponseBody<'credits.verify'>, flags) : body;
  return await render(shown, view, { choice: output, fields, stdout: terminal.stdout });
}

/** The findings with fixes whose commands work on the same database. */
function withSameTarget(
  { data }: ResponseBody<'credits.verify'>,
  flags: Session['flags'],
): ResponseBody<'credits.verify'> {
  const findings = data.findings.map((each) => ({ ...each, fix: onSameTarget(each.fix, flags) }));
  return { data: { ...data, findings } };
}

/** A script is spared another request for each event: it would take longer, and of these a service answers fewer in a minute. */
async function tellOfValues(
  { operation }: CommandSpec,
  input: CallInput,
  { billing, session }: { readonly billing: Billing; readonly session: Session },
): Promise<void> {
  if (session.flags.quiet === true || !session.terminal.stderr.isTerminal) return;
  const { unreadValues } = await import('./unread-values.ts');
  const tellUnread = await unreadValues(operation, input, { billing, session, isRehearsal: false });
  tellUnread();
}

async function tellUnknownFilters(
  command: CommandSpec,
  input: CallInput,
  { billing, session }: { readonly billing: Billing; readonly session: Session },
): Promise<void> {
  if (Object.keys(input.query ?? {}).length === 0) return;
  const { emptySpans, unknownFilters } = await import('./unknown-filter.ts');
  const sentences = [...(await emptySpans(command, input)), ...(await unknownFilters(command, input, billing))];
  for (const sentence of sentences) tell(session, sentence);
}

/** Reports work done only in part, or a check's findings, by the exit code; the rest has been printed. */
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

interface Page {
  readonly data: readonly unknown[];
  readonly total: number;
  readonly hasMore: boolean;
}

function isEmptyList({ view }: CommandSpec, { body }: Answer): boolean {
  const { isList, rows } = rowsOf(body, view);
  return isList && rows.length === 0;
}

/** The secret is the first cell in the table of such a command. */
function noteSecret(
  { group, view }: CommandSpec,
  { body }: Answer,
  { session, shown }: { readonly session: Session; readonly shown: SafeText },
): void {
  const [row] = rowsOf(body, view).rows;
  if (shown.includes(wireText(valueAt(row, view.columns[0]?.path ?? '')))) {
    return tell(session, say`keep it: this secret is not shown again`);
  }
  const rotate = say`tally ${group} rotate ${wireText(valueAt(row, 'id'))}`;
  tell(session, say`the secret was not printed, and is not shown again; make a new one with: ${rotate}`);
}

function tellOfNone(
  { findingsPath, view }: CommandSpec,
  { offset, total = 0 }: { readonly offset: number; readonly total: number | undefined },
  session: Session,
): void {
  // The list is not empty: the page begins behind its end.
  const isBehindEnd = total > 0 && offset >= total;
  if (isBehindEnd) tell(session, say`none from row ${offset + 1} on: the list has ${counted(total, 'row')}`);
  else if (findingsPath === undefined) tell(session, say`there are none`);
  else if (findingsPath === view.rows) tell(session, say`nothing wrong was found`);
}

function noteKnown({ unchanged, replaced }: KnownEvents, session: Session): void {
  if (unchanged > 0) tell(session, say`${counted(unchanged, 'event')} unchanged: sent before`);
  if (replaced > 0)
    tell(
      session,
      say`${counted(replaced, 'event')} replaced: what came earlier under the same key is no longer billed`,
    );
}

function note({ command, input }: OperationRequest, answer: Answer, session: Session): void {
  if (answer.isReplay === true) {
    const isEntry = command.idempotencyMember !== undefined;
    const words = isEntry
      ? say`this entry already exists: nothing was created`
      : say`this was done before: nothing was changed`;
    tell(session, words);
  }
  if (answer.knownEvents !== undefined) noteKnown(answer.knownEvents, session);
  warnOfUnbilled(session, answer);
  if (command.isVersioned && answer.etag !== undefined && session.terminal.stderr.isTerminal) {
    tell(session, say`version ${answer.etag}: give --if-match to change only this version`);
  }
  const page = answer.body as unknown as Partial<Page>;
  const offset = Number(input.query?.['offset'] ?? 0);
  const { isList, rows } = rowsOf(answer.body, command.view);
  // Of a ledger, which has no pages unless it is asked for them.
  const entryCount = valueAt(page.data, 'totalCount') as number | undefined;
  if (session.output.format === 'table') {
    if (isList && rows.length === 0) tellOfNone(command, { offset, total: page.total ?? entryCount }, session);
    if ((page.data as unknown) === null) tell(session, say`there is none`);
  }
  if (entryCount !== undefined && rows.length > 0 && offset + rows.length < entryCount) {
    tell(session, say`${rows.length} of ${entryCount}: there are more; without --limit all of them are printed`);
  }
  if (Array.isArray(page.data) && moreFollow(page, offset + page.data.length)) {
    tell(session, say`${page.data.length} of ${page.total ?? '?'}: there are more; --all prints all of them`);
  }
}
