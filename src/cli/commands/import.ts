/** `tally import events`: turns a file into events, with progress and a report of refused rows. */

import { BillingError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { View } from '../../operations/operation.ts';
import type { SkippedValues } from '../../operations/skipped-values.ts';
import { sourceOf } from '../command-line/source-flag.ts';
import { delimiterOf } from '../files/csv-file.ts';
import { checkReadable } from '../files/files.ts';
import { readBatches, readFileBatches } from '../import/batches.ts';
import type { OnStart } from '../import/batches.ts';
import { importEvents } from '../import/events.ts';
import type { ImportReport } from '../import/events.ts';
import { formatOf, importFormats } from '../import/input.ts';
import type { ImportFormat } from '../import/input.ts';
import type { MappingOptions } from '../import/mapping.ts';
import type { Reading } from '../import/read-in-thread.ts';
import { openRehearsal } from '../import/rehearsal.ts';
import type { ImportRehearsal } from '../import/rehearsal.ts';
import { tellSkipped, watchValues, watching } from '../import/skipped.ts';
import { openForWriting } from '../session/open-billing.ts';
import type { OpenForWriting } from '../session/open-billing.ts';
import { isElsewhere } from '../target/target.ts';
import { checkEarlierOutput, doneWithout, replaceEarlierOutput } from '../files/output-file.ts';
import { checkFields, columnPaths, printBody, spreadsheetCell } from '../output/output.ts';
import { createWaitingNote } from '../session/patiently.ts';
import { createProgress } from '../session/progress.ts';
import type { Progress } from '../session/progress.ts';
import { confirmWrite } from '../session/prompts.ts';
import { counted, say } from '../terminal/safe-text.ts';
import { stopSignal } from '../session/stop-signal.ts';
import type { Session } from '../session/session.ts';
import { type CommandModule, repeated } from './command.ts';
import { tell } from '../session/tell.ts';
import { warnOfUnbilled } from '../session/unbilled-events.ts';

interface ImportFlags {
  readonly eventName?: string;
  readonly eventNameColumn?: string;
  readonly customer?: string;
  readonly customerId?: string;
  readonly customerColumn?: string;
  readonly contractId?: string;
  readonly timestamp?: string;
  readonly timeZone: string;
  readonly property?: readonly string[];
  readonly set?: readonly string[];
  readonly keyColumn?: string;
  readonly source?: string;
  readonly format?: ImportFormat;
  readonly delimiter: string;
  readonly batchSize?: string;
  readonly refused?: string;
}

const usualBatchSize = 5_000;
const refusedHeader = 'line,reason';
const shownRefusals = 10;
/** A smaller file is read in about the time that a thread takes to start. */
const largeBytes = 2 * 1024 * 1024;
/** Events in the first batch of a large file: storing begins while a whole batch would still be being read. */
const firstOfLarge = 250;

export const declare: CommandModule['declare'] = (command, { runAction }) => {
  command.usage('<verb> <file> [flags]').addHelpText(
    'after',
    `
Examples:
  # What would be imported
  tally import events requests.csv --event-name llm.request --customer-column Customer --dry-run
  # Import it
  tally import events requests.csv --event-name llm.request --customer-column Customer
`,
  );
  command
    .command('events')
    .summary('Events from CSV, JSON lines or CloudEvents')
    .description(
      'Makes an event of every row of a CSV file with a header line, or of every record of JSON lines or a JSON array: events as the interface takes them, CloudEvents (type, subject as customer, time, data), or plain records, whose members count as columns (data.bytes names one inside another). Compressed with gzip or not. A row keeps its identity: importing a file again, or one that has grown, counts nothing twice. Values that a meter skips because they are not numbers are named at the end, and so are events that no meter reads or that come too late to be billed.',
    )
    .usage('<file> [flags]')
    .argument('<file>', 'path of the file, or - for standard input')
    .option('--event-name <name>', 'name of every event')
    .option('--event-name-column <column>', 'column with the name of the event')
    .option('--customer <external-id>', 'customer of every event, by your own id')
    .option('--customer-id <id>', 'customer of every event, by id')
    .option('--customer-column <column>', 'column with your own id of the customer')
    .option('--contract-id <id>', 'contract to bill; found automatically when not given')
    .option('--timestamp <column>', 'column with the time of the event (the one called timestamp when not given)')
    .option('--time-zone <zone>', 'zone of timestamps that carry no offset', 'UTC')
    .option(
      '--property <name=column>',
      'property from a column, repeatable (all remaining columns when not given)',
      repeated,
    )
    .option('--set <name=value>', 'property with the same value on every event, repeatable', repeated)
    .option('--key-column <column>', 'column that identifies a row (its content when not given)')
    .option('--source <name>', 'a name for this file; equal rows under another name are different events')
    .addOption(
      command
        .createOption(
          '--format <format>',
          'format of the file; recognized by its name or first character when not given',
        )
        .choices([...importFormats]),
    )
    .option('--delimiter <character>', 'character between the columns of CSV', ',')
    .option(
      '--batch-size <number>',
      `events sent at a time (${usualBatchSize} when not given, and fewer at the beginning of a large file)`,
    )
    .option(
      '--refused <path>',
      'write refused rows to this CSV file, with line and reason; replaces the file of an earlier run',
    )
    .addHelpText(
      'after',
      `
Examples:
  # Every row is a request of one customer; all other columns become properties
  tally import events trace.csv --event-name llm.request --customer acme
  # Customers in a column, two properties, times of Berlin
  tally import events usage.csv --event-name api.call --customer-column account --property bytes=size --property region --time-zone Europe/Berlin
  # CloudEvents, compressed, from another program
  zcat events.jsonl.gz | tally import events - --format cloudevents
  # What would be imported
  tally import events trace.csv --event-name llm.request --customer acme --dry-run
`,
    )
    .action(
      async (file: string, flags: ImportFlags) => await runAction(async (session) => await run(file, flags, session)),
    );
};

async function run(file: string, flags: ImportFlags, session: Session): Promise<void> {
  checkBatchSize(flags.batchSize);
  const delimiter = delimiterOf(flags.delimiter);
  checkFields(session.output, fields, view);
  if (flags.refused !== undefined)
    checkEarlierOutput(flags.refused, { header: refusedHeader, what: 'list of refused rows' });
  const size = file === '-' ? undefined : checkReadable(file);
  const target = await session.target();
  const isRehearsal = session.flags.dryRun === true;
  if (!isRehearsal) await confirmWrite(session, target, say`Import events from ${file}`);
  // Starts reading before the database is opened.
  const { batches, close } = await openReading(file, size, { flags, session, delimiter });
  let opened: OpenForWriting | ImportRehearsal | undefined;
  let progress: Progress | undefined;
  try {
    opened = await (isRehearsal ? openRehearsal(session, target) : openForWriting(session, target));
    const watched = await watchValues(session, opened.plain);
    const signal = stopSignal(session);
    progress = await createProgress(session, size);
    const report = await importEvents(batches, {
      billing: opened.billing,
      isRehearsal,
      onAccepted: watched === undefined ? undefined : watching(watched),
      onProgress: ({ rows, bytes }) => progress?.update({ rows, done: bytes }),
      signal,
      onWait: isElsewhere(target) ? createWaitingNote(session) : undefined,
    });
    progress.stop();
    await tellReport(session, report, { flags, isRehearsal, watched });
  } finally {
    progress?.stop();
    close();
    await opened?.close();
  }
}

async function openReading(
  file: string,
  size: number | undefined,
  { flags, session, delimiter }: { readonly flags: ImportFlags; readonly session: Session; readonly delimiter: string },
): Promise<Reading> {
  const { terminal, dependencies } = session;
  const format = formatOf(file, flags.format);
  const isLarge = size !== undefined && size >= largeBytes;
  const task = {
    format,
    delimiter,
    batchSize: Number(flags.batchSize ?? usualBatchSize),
    firstBatchSize: isLarge && flags.batchSize === undefined ? firstOfLarge : undefined,
    mapping: mappingOf(flags),
  };
  const onStart: OnStart = (mapping) => tellPlan(session, mapping, flags);
  if (isLarge && dependencies.readingThread !== undefined) {
    const { readInThread } = await import('../import/read-in-thread.ts');
    return readInThread(dependencies.readingThread, { ...task, path: file }, onStart);
  }
  if (size !== undefined) {
    const batches = readFileBatches(file, task, onStart);
    return { batches, close: () => void batches.return(undefined) };
  }
  const input = terminal.openInput();
  return { batches: readBatches(input, task, onStart), close: () => void input.destroy() };
}

function mappingOf(flags: ImportFlags): MappingOptions {
  return {
    eventName: flags.eventName,
    eventNameColumn: flags.eventNameColumn,
    customerId: flags.customerId,
    customer: flags.customer,
    customerColumn: flags.customerColumn,
    contractId: flags.contractId,
    timestampColumn: flags.timestamp,
    timeZone: flags.timeZone,
    properties: flags.property ?? [],
    constants: flags.set ?? [],
    keyColumn: flags.keyColumn,
    source: sourceOf(flags.source),
  };
}

function checkBatchSize(text: string | undefined): void {
  if (text === undefined) return;
  const value = Number(text);
  if (/^\d{1,5}$/.test(text) && value >= 1 && value <= limits.eventsPerBatch) return;
  throw new BillingError('usage', `--batch-size takes 1 to ${limits.eventsPerBatch}, not ${text}`);
}

function tellPlan(session: Session, mapping: Parameters<OnStart>[0], flags: ImportFlags): void {
  if (session.flags.quiet === true) return;
  const properties = Object.entries(mapping.properties).map(([name, column]) =>
    name === column ? name : `${name} (${column})`,
  );
  session.terminal.err(
    say`times from ${mapping.timestampColumn}, read as ${flags.timeZone} where they carry no offset; properties: ${properties.join(', ')}\n`,
  );
}

const view: View = {
  rows: 'data',
  columns: [
    { header: 'ROWS', path: 'rows', format: 'number' },
    { header: 'ACCEPTED', path: 'accepted', format: 'number' },
    { header: 'REFUSED', path: 'refused', format: 'number' },
    { header: 'UNCHANGED', path: 'unchanged', format: 'number' },
    { header: 'REPLACED', path: 'replaced', format: 'number' },
  ],
};

const fields = [...columnPaths(view), 'refusals'];

interface Circumstances {
  readonly flags: ImportFlags;
  readonly isRehearsal: boolean;
  readonly watched: SkippedValues | undefined;
}

async function tellReport(
  session: Session,
  report: ImportReport,
  { flags, isRehearsal, watched }: Circumstances,
): Promise<void> {
  const { terminal, output } = session;
  const { refused, unit } = report;
  const unwritten = flags.refused === undefined ? undefined : writeRefused(flags.refused, report, terminal);
  if (refused.length > 0) {
    for (const { line, reason } of refused.slice(0, shownRefusals)) terminal.err(say`${unit} ${line}: ${reason}\n`);
    if (refused.length > shownRefusals) {
      const where =
        flags.refused === undefined || unwritten !== undefined
          ? 'all of them with --refused FILE or -o json'
          : `all of them are in ${flags.refused}`;
      terminal.err(say`and ${counted(refused.length - shownRefusals, 'more refused row')}: ${where}\n`);
    }
  }
  if (watched !== undefined) {
    const remedy = isRehearsal
      ? 'correct them before they are imported'
      : 'import corrected rows under the same keys (--key-column), since under others they count as additional events; see the keys with: tally usage events';
    tellSkipped(session, watched, { placeOf: (line) => `${unit} ${line}`, remedy, meters: 'with: tally meters list' });
  }
  const { rows, accepted, known, isComplete } = report;
  // An export that found nothing; as a job of every night it would bill nobody, and nobody would see it.
  if (rows === 0 && isComplete) tell(session, say`warning: there is no row: nothing is imported`);
  if (known !== undefined && known.replaced > 0) tellReplaced(session, known.replaced, isRehearsal);
  warnOfUnbilled(session, report, isRehearsal);
  // A person has read the first ones by then, and all of a large file's would push everything else off the screen.
  const refusals = refused.length === 0 || output.format === 'table' ? {} : { refusals: refused };
  const data = { rows, accepted, refused: refused.length, ...known, ...refusals };
  const body = isRehearsal ? { dryRun: data } : { data };
  const shown = isRehearsal ? { ...view, rows: 'dryRun' } : view;
  await printBody(body, { view: shown, fields }, session);
  if (isRehearsal) tell(session, say`dry run: nothing was sent`);
  const beside = unwritten === undefined ? '' : `; ${unwritten.message}`;
  if (!isComplete) {
    const next = isRehearsal ? 'what follows was not checked' : 'repeat the import to go on';
    const words = `stopped after ${unit} ${report.lastLine}; ${next}`;
    throw new BillingError('interrupted', `${words}${beside}`);
  }
  if (refused.length > 0) {
    const others = isRehearsal ? 'the others would be imported' : 'the others were imported';
    const message =
      accepted === 0
        ? `every row was refused: nothing ${isRehearsal ? 'would be' : 'was'} imported`
        : `${refused.length} of ${counted(rows, 'row')} ${refused.length === 1 ? 'was' : 'were'} refused; ${others}`;
    throw new BillingError('checkFailed', `${message}${beside}`);
  }
  if (unwritten === undefined) return;
  if (isRehearsal) throw unwritten;
  throw doneWithout(unwritten, 'repeat the import to write it: no row counts twice');
}

/** Warns of replaced events: another version of an imported file, or a key that several rows share. */
function tellReplaced(session: Session, replaced: number, isRehearsal: boolean): void {
  const [verb, end] = isRehearsal ? ['would replace', 'would no longer be'] : ['replaced', 'is no longer'];
  const events = counted(replaced, 'event');
  tell(session, say`warning: ${events} ${verb} what came earlier under the same key, which ${end} billed`);
  tell(
    session,
    say`  hint: the last version counts: import the newest file last; give each row a key of its own (--key-column)`,
  );
}

/**
 * Writes lines and reasons, so that the rows can be corrected and imported again. Whether the file may be replaced was checked
 * before; returns what keeps it from being written. A reason repeats names from the imported file, which somebody else may have
 * written.
 */
function writeRefused(path: string, report: ImportReport, terminal: Session['terminal']): BillingError | undefined {
  const column = { header: 'REASON', path: 'reason' };
  const cell = (text: string) => `"${String(spreadsheetCell(text, column)).replaceAll('"', '""')}"`;
  const lines = report.refused.map(({ line, reason }) => `${line},${cell(reason)}\n`);
  return replaceEarlierOutput(path, terminal.withoutSecrets(`${refusedHeader}\n${lines.join('')}`));
}
