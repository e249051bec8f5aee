/** `tally journal`: what was written from here, by whom, when, and with which outcome. */

import type { Command } from 'commander';

import { BillingError } from '../../errors.ts';
import type { View } from '../../operations/operation.ts';
import { didYouMean } from '../did-you-mean.ts';
import { environments } from '../command-line/global-flags.ts';
import { spanOf } from '../command-line/instant-flag.ts';
import type { LoadManifest } from '../command-line/manifest.ts';
import { isOpen } from '../operator/grant-history.ts';
import { createJournalFile } from '../operator/journal-file.ts';
import { readLine, verifyLines } from '../operator/journal-line.ts';
import type { JournalLine } from '../operator/journal-line.ts';
import { journalPath } from '../operator/journal.ts';
import { checkFields, columnPaths, listText, printBody } from '../output/output.ts';
import { counted, safeJson, say } from '../terminal/safe-text.ts';
import type { Session } from '../session/session.ts';
import { tell } from '../session/tell.ts';
import type { Row } from '../wire/rows.ts';
import type { CommandModule } from './command.ts';

interface ListFlags {
  readonly limit: string;
  readonly since?: string;
  readonly until?: string;
  readonly operation?: string;
  readonly operator?: string;
  readonly environment?: string;
  readonly unfinished?: true;
}

/** Lines; a whole journal can be longer than any text. */
const printedAtOnce = 10_000;

const about = [
  'Every write from here is a line of journal/journal.jsonl in the data directory: who, when, profile and environment, operation, SHA-256 of the request, external id, outcome and id of the answer. What moves money is written before it is sent too. Each line carries the hash of the one before it; no line is ever changed. What it says of grants is kept in journal.jsonl.known too, to be read faster; that file can be deleted.',
  'A grant without --external-id gets one, which is in the journal before the grant is sent. When the answer is lost, the same command finishes that grant instead of making another, and tally credits grant --resume finishes all of them.',
].join(' ');

export const declare: CommandModule['declare'] = (command, { runAction, loadManifest }) => {
  command
    .description(about)
    .usage('<verb> [flags]')
    .addHelpText(
      'after',
      `
Examples:
  # The last writes
  tally journal list
  # Whether every line is as it was written
  tally journal verify
`,
    );
  filtered(command.command('list'))
    .summary('List what was written, newest first')
    .description(
      'Lists the journal of this user: every write, and for a write that moves money its beginning too. A call whose last state is begun or unknown may or may not have been done.',
    )
    .option('--limit <number>', 'maximum number of lines', '100')
    .option('--unfinished', 'only calls whose outcome is not known')
    .usage('[flags]')
    .addHelpText(
      'after',
      `
Examples:
  # The last writes
  tally journal list
  # Calls whose outcome is not known
  tally journal list --unfinished
  # What was written to production by one profile
  tally journal list --environment production --profile eu
`,
    )
    .action(
      async (flags: ListFlags) =>
        await runAction(async (session) => await list(await namingOperation(flags, loadManifest), session)),
    );
  command
    .command('verify')
    .summary('Check that no line was changed or taken out')
    .description(
      'Checks that every line is as it was written and follows the one before it. Prints the hash of the last line: note it elsewhere, and --contains says later whether the journal was cut.',
    )
    .option('--contains <hash>', 'hash that was noted before')
    .usage('[flags]')
    .addHelpText(
      'after',
      `
Examples:
  # Whether the journal is whole; exit code 10 when it is not
  tally journal verify
  # The hash to note elsewhere
  tally journal verify --jq .data.head
`,
    )
    .action(async (flags: VerifyFlags) => await runAction(async (session) => await verify(flags, session)));
  filtered(command.command('export'))
    .summary('Print the lines as they were written, oldest first')
    .description('Prints the lines as they were written, one JSON object per line; another format with -o.')
    .usage('[flags]')
    .addHelpText(
      'after',
      `
Examples:
  # All of it, for an archive
  tally journal export > journal.jsonl
  # A month for a spreadsheet
  tally journal export --since 2026-03-01 --until 2026-04-01 -o csv
`,
    )
    .action(
      async (flags: ListFlags) =>
        await runAction(async (session) => await print(await namingOperation(flags, loadManifest), session)),
    );
};

function filtered(command: Command): Command {
  return command
    .option('--since <date>', 'from this date or date-time, included')
    .option('--until <date>', 'up to this date or date-time, excluded')
    .option('--operation <name>', "only this operation, such as credits.grant or 'credits grant'")
    .option('--operator <name>', 'only what this user did')
    .addOption(
      command
        .createOption('--environment <environment>', 'only what went there; --profile: only by that profile')
        .choices([...environments]),
    );
}

/** Replaces the given name by the operation's. Refuses a misspelt one: it would look like an operation that nobody ever used. */
async function namingOperation(flags: ListFlags, loadManifest: LoadManifest): Promise<ListFlags> {
  const { operation: given } = flags;
  if (given === undefined) return flags;
  const { commands } = await loadManifest();
  const found = commands.find(({ operation, group, verb }) => given === operation || given === `${group} ${verb}`);
  if (found !== undefined) return { ...flags, operation: found.operation };
  const known = commands.flatMap(({ operation, isWrite }) => (isWrite ? [operation] : []));
  throw new BillingError('usage', `no operation is called ${given}`, {
    hint: didYouMean(given, known, 'see: tally journal list --columns operation'),
  });
}

const view: View = {
  rows: 'data',
  columns: [
    { header: 'AT', path: 'at', format: 'timestamp' },
    { header: 'OPERATOR', path: 'operator' },
    { header: 'ENVIRONMENT', path: 'environment' },
    { header: 'PROFILE', path: 'profile' },
    { header: 'OPERATION', path: 'operation' },
    { header: 'STATE', path: 'state' },
    { header: 'AMOUNT', path: 'amountCents', format: 'money' },
    { header: 'EXTERNAL ID', path: 'externalId' },
    { header: 'ID', path: 'responseId' },
    { header: 'ERROR', path: 'error' },
  ],
};

const fields = (
  'at call state operator environment profile target organization operation params requestHash externalId ' +
  'isGeneratedId amountCents creditAmount body override responseId error previous hash'
).split(' ');

/** Every member of a line: an exported sheet must hold everything. */
const whole: View = {
  rows: 'data',
  columns: fields.map((path) => view.columns.find((column) => column.path === path) ?? { header: path, path }),
};

async function list(flags: ListFlags, session: Session): Promise<void> {
  const { output } = session;
  checkFields(output, fields, view);
  if (!/^[1-9]\d{0,8}$/.test(flags.limit))
    throw new BillingError('usage', `--limit takes a whole number from 1 to 999999999, not ${flags.limit}`);
  const lines = (await readJournal(session)).map(readLine);
  const found = lines.filter((line) => line !== undefined);
  tellDamaged(lines.length - found.length, session);
  const listed = flags.unfinished === true ? unfinished(found) : found;
  const shown = listed.filter(filterOf(flags, session)).toReversed();
  const data = shown.slice(0, Number(flags.limit));
  await printBody({ data }, { view, fields }, session);
  if (data.length === 0 && output.format === 'table') tell(session, say`there are none`);
  if (data.length < shown.length) tell(session, say`${data.length} of ${shown.length}: --limit shows more`);
}

/** Beginnings without an outcome, and unknown outcomes; left out are calls finished later, and repeats of what is there. */
function unfinished(lines: readonly JournalLine[]): JournalLine[] {
  const keyOf = ({ call, target, params, externalId }: JournalLine) =>
    externalId === undefined ? call : JSON.stringify([target, params, externalId]);
  const last = new Map<string, JournalLine>();
  for (const line of lines) {
    const { state } = last.get(keyOf(line)) ?? {};
    if (state !== 'done' && state !== 'repeated') last.set(keyOf(line), line);
  }
  return lines.filter((line) => isOpen(line.state) && last.get(keyOf(line)) === line);
}

/** Chooses lines by the flags; a text that is not a line never matches. */
function filterOf(
  { since, until, operation, operator, environment }: ListFlags,
  { flags: { profile } }: Session,
): (line: JournalLine | undefined) => boolean {
  const { from, to } = spanOf({ from: since, to: until }, ['--since', '--until']);
  return (line) => {
    if (line === undefined) return false;
    const at = Temporal.Instant.from(line.at);
    return (
      (from === undefined || Temporal.Instant.compare(at, from) >= 0) &&
      (to === undefined || Temporal.Instant.compare(at, to) < 0) &&
      (operation === undefined || line.operation === operation) &&
      (operator === undefined || line.operator === operator) &&
      (environment === undefined || line.environment === environment) &&
      (profile === undefined || line.profile === profile)
    );
  };
}

interface VerifyFlags {
  readonly contains?: string;
}

const verification: View = {
  rows: 'data',
  columns: [
    { header: 'LINES', path: 'lines', format: 'number' },
    { header: 'HEAD', path: 'head' },
    { header: 'FINDINGS', path: 'findings.length', format: 'number' },
  ],
  parts: {
    findings: [
      { header: 'LINE', path: 'line', format: 'number' },
      { header: 'PROBLEM', path: 'problem' },
    ],
  },
};

async function verify({ contains }: VerifyFlags, session: Session): Promise<void> {
  const texts = await readJournal(session);
  const data = verifyLines(texts);
  await printBody({ data }, { view: verification, fields: [...columnPaths(verification), 'findings'] }, session);
  if (contains !== undefined && !texts.some((text) => readLine(text)?.hash === contains)) {
    throw new BillingError('checkFailed', `no line has the hash ${contains}: the journal was cut or replaced`);
  }
  const [first] = data.findings;
  if (first === undefined) return;
  throw new BillingError(
    'checkFailed',
    `not as written: ${counted(data.findings.length, 'line')}; line ${first.line} ${first.problem}`,
    {
      hint: 'see all of them with: -o json',
    },
  );
}

async function print(flags: ListFlags, session: Session): Promise<void> {
  const { output } = session;
  checkFields(output, fields, view);
  const filter = filterOf(flags, session);
  const texts = await readJournal(session);
  const { output: format, json, jq, columns, profile } = session.flags;
  const isAsWritten = (format ?? json ?? jq ?? columns) === undefined;
  if (isAsWritten && Object.values({ ...flags, profile }).every((value) => value === undefined)) {
    return printTexts(texts, session);
  }
  let damaged = 0;
  const chosen = texts.filter((text) => {
    const line = readLine(text);
    if (line === undefined) damaged += 1;
    return filter(line);
  });
  tellDamaged(damaged, session);
  if (isAsWritten) return printTexts(chosen, session);
  const list = await listText(whole, { choice: output, fields });
  if (list === undefined) return await printBody({ data: linesOf(chosen) }, { view, fields }, session);
  session.terminal.out(list.begin);
  for (let first = 0; first < chosen.length; first += printedAtOnce) {
    session.terminal.out(list.rows(linesOf(chosen.slice(first, first + printedAtOnce)), first === 0));
  }
  session.terminal.out(list.end({ count: chosen.length, beside: {} }));
}

function linesOf(texts: readonly string[]): Row[] {
  return texts.flatMap((text) => readLine(text) ?? []) as unknown as Row[];
}

function printTexts(texts: readonly string[], { terminal }: Session): void {
  for (let first = 0; first < texts.length; first += printedAtOnce) {
    const lines = texts.slice(first, first + printedAtOnce).map((text) => `${text}\n`);
    terminal.out(safeJson(lines.join('')));
  }
}

function tellDamaged(count: number, { terminal }: Session): void {
  if (count === 0) return;
  terminal.err(say`damaged and not shown: ${counted(count, 'line')}; see them with: tally journal verify\n`);
}

async function readJournal({ dependencies }: Session): Promise<readonly string[]> {
  const { data } = await dependencies.directories();
  return createJournalFile(journalPath(data), dependencies.machine).read();
}
