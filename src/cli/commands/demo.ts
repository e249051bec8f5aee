/** `tally demo`: the main job on a new database, with each command shown before its output. */

import { existsSync, mkdtempSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

import { refuseUrl } from '../../database-url.ts';
import { BillingError, errorFacts, isFailureOfDisk, reasonOfFile, reworded } from '../../errors.ts';
import type { ErrorKind } from '../../errors.ts';
import { limits } from '../../limits.ts';
import { makeDirectory } from '../../make-directory.ts';
import { exampleIds } from '../../operations/example-ids.ts';
import { shellWord } from '../command-line/shell-word.ts';
import { countedIds } from '../counted-ids.ts';
import { generateEvents } from '../demo/generated-events.ts';
import { furnish } from '../demo/furnishing.ts';
import { tellStory } from '../demo/story.ts';
import type { StoryInput, Tally } from '../demo/story.ts';
import { checkReadable } from '../files/files.ts';
import { unwritable, writeOutputFile } from '../files/output-file.ts';
import { readFileBatches } from '../import/batches.ts';
import { allowFormats } from '../output/output.ts';
import { seedOfFlag } from '../seeded-random.ts';
import { say, vouch } from '../terminal/safe-text.ts';
import type { Dependencies, Session } from '../session/session.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { CommandModule, Declaring } from './command.ts';

interface DemoFlags {
  readonly events?: string;
  readonly seed: string;
  readonly into?: string;
}

const columnsOfEvents = 'TIMESTAMP, ContextTokens and GeneratedTokens';

type RunLine = Declaring['runLine'];

export const declare: CommandModule['declare'] = (command, { runAction, runLine }) => {
  command
    .usage('[flags]')
    .option('--events <file>', `use the events of this CSV file, with the columns ${columnsOfEvents}`)
    .option('--seed <number>', 'seed of the generated events', '1')
    .option('--into <directory>', 'directory for the database and the files (a temporary one when not given)')
    .addHelpText(
      'after',
      `
Examples:
  # On generated events
  tally demo
  # Without the story: a database and files to try the examples of help on
  tally demo --into ./playground --quiet
  # On a file of your own
  tally demo --events trace.csv
`,
    )
    .action(async (flags: DemoFlags) => await runAction(async (session) => await demo(flags, session, runLine)));
};

async function demo(flags: DemoFlags, session: Session, runLine: RunLine): Promise<void> {
  allowFormats(session.flags, []);
  const seed = seedOfFlag(flags.seed);
  if (session.flags.database !== undefined || session.flags.profile !== undefined)
    throw new BillingError('usage', 'tally demo makes a database of its own', {
      hint: 'say where with --into <directory>',
    });
  const directory = directoryFor(flags.into);
  session.dependencies.atInterrupt(say`tally: interrupted: ${directory} has a part of the demo; remove it\n`);
  try {
    await tellIn(directory, flags, { seed, session, runLine });
  } catch (error) {
    // The directory was empty, and is again: the command can be repeated.
    for (const name of readdirSync(directory)) rmSync(join(directory, name), { recursive: true });
    if (flags.into === undefined) rmdirSync(directory);
    throw error;
  } finally {
    session.dependencies.atInterrupt(undefined);
  }
}

interface Telling {
  readonly seed: number;
  readonly session: Session;
  readonly runLine: RunLine;
}

async function tellIn(directory: string, flags: DemoFlags, { seed, session, runLine }: Telling): Promise<void> {
  const database = join(directory, 'demo.db');
  const plot = flags.events === undefined ? generatedPlot(seed, directory) : await plotOfFile(flags.events);
  // A day after the month of the story, so that its invoices can be finalized.
  const today = Temporal.PlainDate.from(plot.endDate).add({ days: 1 });
  const terminal = session.flags.quiet === true ? silent(session.terminal) : session.terminal;
  terminal.out(say`The database of this demo is ${database}; its clock stands at ${today.toString()}.\n`);
  const ids: string[] = [exampleIds.organization];
  const now = today.toZonedDateTime('UTC').toInstant();
  const stage = { terminal, ids, dependencies: onStage(session.dependencies, { database, now, ids }), runLine };
  await tellStory({
    ...plot,
    // Far away, so that the credits do not lapse while somebody looks at them.
    grantExpiresAt: '2099-12-31T00:00:00Z',
    grantCents: 2_500,
    say: (sentence) => terminal.out(say`\n# ${sentence}\n`),
    tally: async (words, ids = []) => await perform(words, ids, stage),
  });
  if (flags.events === undefined) {
    const unseen = { ...stage, terminal: silent(terminal) };
    const tally: Tally = async (words, ids = []) => await perform(words, ids, unseen);
    await furnish(tally, { directory, today: today.toString() });
  }
  terminal.out(say`\n# Look further; examples of --help that name no service of their own run here as they are.\n`);
  session.terminal.out(say`cd ${shellWord(directory)} && export TALLY_DATABASE=${shellWord(database)}\n`);
}

/** The directory of the demo, created if needed. Throws a refusal if it is not empty. */
function directoryFor(into: string | undefined): string {
  if (into === undefined) return mkdtempSync(join(tmpdir(), 'tallybook-demo-'));
  if (into === '') throw new BillingError('usage', '--into is empty: it must name a directory');
  refuseUrl(into, { what: '--into takes a directory', hint: 'name a new directory: its database is a file in there' });
  const directory = resolve(into);
  let isEmpty: boolean;
  try {
    makeDirectory(directory);
    isEmpty = readdirSync(directory).length === 0;
  } catch (cause) {
    if (isFailureOfDisk(cause)) throw unwritable(into, cause);
    const { code } = cause as NodeJS.ErrnoException;
    const hint = code === 'ENOTDIR' ? 'name a new directory' : 'name a directory that you may write to';
    const words =
      code === 'ENOTDIR' && existsSync(directory) ? 'is not a directory' : `cannot be used (${reasonOfFile(cause)})`;
    throw new BillingError('usage', `${into} ${words}: nothing was written`, { cause, hint });
  }
  if (isEmpty) return directory;
  throw new BillingError('refused', `${into} is not empty: nothing was written`, { hint: 'name a new directory' });
}

/** The terminal, but it prints nothing. */
function silent(terminal: Terminal): Terminal {
  return { ...terminal, out: () => undefined, err: () => undefined };
}

type Plot = Omit<StoryInput, 'say' | 'tally' | 'grantExpiresAt' | 'grantCents'>;

const generatedRows = 6_000;

function generatedPlot(seed: number, directory: string): Plot {
  const customers = [
    { externalId: 'acme', name: 'Acme Inc' },
    { externalId: 'globex', name: 'Globex Corporation' },
    { externalId: 'initech', name: 'Initech' },
  ];
  const [startDate, endDate] = ['2026-03-01', '2026-04-01'];
  const file = join(directory, 'requests.csv');
  const usage = {
    seed,
    rows: generatedRows,
    from: Temporal.Instant.from(`${startDate}T00:00:00Z`),
    to: Temporal.Instant.from(`${endDate}T00:00:00Z`),
    customers: customers.map((customer) => customer.externalId),
  };
  writeOutputFile(file, generateEvents(usage));
  return {
    file,
    customers,
    startDate,
    endDate,
    mapping: ['--customer-column', 'Customer'],
    freeRequests: 1_000,
    budget: { model: 'large', maxCreditsCents: 500 },
  };
}

/** One customer sent all requests of the file, to one model. */
async function plotOfFile(file: string): Promise<Plot> {
  checkReadable(file);
  const { first, last } = await spanOf(file);
  const startDate = first.toZonedDateTimeISO('UTC').toPlainDate().with({ day: 1 });
  const lastDate = last.toZonedDateTimeISO('UTC').toPlainDate();
  if (Temporal.PlainDate.compare(lastDate, startDate.add({ months: 1 })) >= 0) {
    throw new BillingError('usage', `${file} spans more than one month, and the demo bills one`);
  }
  return {
    file,
    customers: [{ externalId: 'acme', name: 'Acme Inc' }],
    startDate: startDate.toString(),
    endDate: startDate.add({ months: 1 }).toString(),
    mapping: ['--customer', 'acme', '--set', 'Model=conversation'],
    freeRequests: 20_000,
    budget: { model: 'conversation', maxCreditsCents: 1_000 },
  };
}

/** The first and the last instant in a file. */
async function spanOf(file: string): Promise<{ readonly first: Temporal.Instant; readonly last: Temporal.Instant }> {
  const mapping = { eventName: 'llm.request', customer: 'acme', timeZone: 'UTC', properties: [] };
  const options = { delimiter: ',', batchSize: limits.eventsPerBatch, mapping };
  const instants: Temporal.Instant[] = [];
  try {
    for await (const { events } of readFileBatches(file, options)) {
      for (const { timestamp } of events) instants.push(Temporal.Instant.from(timestamp));
    }
  } catch (error) {
    // The hints of an import name flags that the demo does not have.
    if (!(error instanceof BillingError) || error.kind !== 'usage') throw error;
    throw reworded(error, `${file}: ${error.message}`, `the demo takes CSV with the columns ${columnsOfEvents}`);
  }
  instants.sort((a, b) => Temporal.Instant.compare(a, b));
  const [first, last] = [instants[0], instants.at(-1)];
  if (first === undefined || last === undefined) throw new BillingError('usage', `${file} has no rows`);
  return { first, last };
}

/** Dependencies for a command line on the demo's database and clock, with the same ids in every run. */
function onStage(
  dependencies: Dependencies,
  options: { readonly database: string; readonly now: Temporal.Instant; readonly ids: string[] },
): Dependencies {
  const { database, now, ids } = options;
  // After the ids that examples name.
  const countedId = countedIds(0xff);
  const newId = () => ids.shift() ?? countedId();
  return {
    ...dependencies,
    env: { TALLY_DATABASE: database },
    // What was sent by one of its commands is not what the person who watches asks about.
    atInterrupt: () => undefined,
    // Not the journal and policy of the person who watches.
    directories: () => Promise.resolve({ config: dirname(database), data: dirname(database) }),
    openBilling: async (target) => {
      if (target.kind !== 'embedded') throw new TypeError('the demo works on its own database');
      const opened = await dependencies.openEngine(target, { now: () => now, newId });
      const owner = await opened.engine.owner(target.organization);
      const { engine } = opened;
      return {
        billing: engine.as(owner),
        rehearsal: engine.rehearsal(owner),
        close: async () => await opened.close(),
      };
    },
  };
}

interface DemoStage {
  readonly terminal: Terminal;
  readonly dependencies: Dependencies;
  readonly runLine: RunLine;
  /** The next ids that will be given out. */
  readonly ids: string[];
}

async function perform(words: readonly string[], ids: readonly string[], stage: DemoStage): Promise<string> {
  const { terminal, dependencies, runLine } = stage;
  stage.ids.push(...ids);
  terminal.out(vouch(`\n$ tally ${words.map((word) => shellWord(word)).join(' ')}\n`));
  let output = '';
  let talk = '';
  const recorder: Terminal = {
    ...terminal,
    // As a person would see it, even if a program reads the demo's output.
    stdout: { ...terminal.stdout, isTerminal: true, columns: terminal.stdout.columns ?? 120 },
    stderr: { ...terminal.stderr, isTerminal: false },
    stdin: { isTerminal: false },
    out: (text) => {
      output += text;
      terminal.out(text);
    },
    err: (text) => {
      talk += text;
      terminal.out(text);
    },
  };
  const exitCode = await runLine(words, { ...dependencies, terminal: recorder });
  if (exitCode === 0) return output;
  // Everything was shown already; the failure comes last.
  const said = talk.split('\n').findLast((line) => line.startsWith('tally: '));
  const why = said?.slice('tally: '.length) ?? 'it failed';
  const kind = (Object.keys(errorFacts) as ErrorKind[]).find((each) => errorFacts[each].exitCode === exitCode);
  throw new BillingError(kind ?? 'internal', `the story ends at tally ${words[0]} ${words[1]}: ${why}`);
}
