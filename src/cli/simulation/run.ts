/** `tally simulate run`: plays a scenario, prints the result, and checks the scenario's expectations. */

import { assert } from '../../assert.ts';
import { BillingError, reworded } from '../../errors.ts';
import type { Billing } from '../../operations/index.ts';
import type { View } from '../../operations/operation.ts';
import { printedBy } from '../command-line/global-flags.ts';
import { nameOfFile, readTextFile } from '../files/files.ts';
import { checkEarlierOutput, replaceEarlierOutput } from '../files/output-file.ts';
import { tellSkipped, watchValues } from '../import/skipped.ts';
import { checkFields, columnPaths, printBody } from '../output/output.ts';
import { seedOfFlag } from '../seeded-random.ts';
import { createProgress } from '../session/progress.ts';
import { counted, say } from '../terminal/safe-text.ts';
import type { Session } from '../session/session.ts';
import { tell } from '../session/tell.ts';
import { examine } from './expectations.ts';
import type { Outcome } from './expectations.ts';
import { junitHeader, junitXml } from './junit.ts';
import { millisecondsOf } from './passing.ts';
import { placeOf, play } from './play.ts';
import type { Look, Played } from './play.ts';
import { reportPartNames, reportParts } from './report-parts.ts';
import type { ReportPart } from './report-parts.ts';
import { reportOf } from './report.ts';
import type { Report } from './report.ts';
import { readScenario } from './scenario.ts';
import type { Scenario } from './scenario.ts';
import { openThrowAway } from './throw-away.ts';
import type { UsageEvent } from './usage-event.ts';

export interface RunFlags {
  readonly seed?: string;
  readonly show?: ReportPart;
  readonly junit?: string;
}

/** Throws BillingError `checkFailed` if an expectation is not met; everything has been printed by then. */
export async function runScenario(path: string, flags: RunFlags, session: Session): Promise<void> {
  const shown = shownPart(flags, session);
  const { view, fields } = viewOf(shown);
  checkFields(session.output, fields, view);
  if (flags.junit !== undefined) checkEarlierOutput(flags.junit, { header: junitHeader, what: 'JUnit report' });
  const read = readScenario(await readTextFile(path, session.terminal), nameOfFile(path));
  const scenario = flags.seed === undefined ? read : { ...read, file: { ...read.file, seed: seedOfFlag(flags.seed) } };
  const outcomes: Outcome[] = [];
  const report = await reporting(
    scenario,
    flags.junit,
    outcomes,
    async () => await simulate(scenario, outcomes, session),
  );
  await printBody({ data: shown === undefined ? report : report[shown] }, { view, fields }, session);
  tellOutcomes(scenario, report, session);
}

async function simulate(scenario: Scenario, outcomes: Outcome[], session: Session): Promise<Report> {
  const { start, until, expect = [] } = scenario.file;
  const opened = await openThrowAway(session.dependencies, start, { isListening: true });
  const { billing } = opened;
  const begin = millisecondsOf(start);
  const progress = await createProgress(session, millisecondsOf(until) - begin);
  try {
    const looks = expect.map(({ at }, index): Look => ({
      at: at ?? until,
      look: async (names) => void outcomes.push(await examine(scenario, index, { billing, names })),
    }));
    const played = await play(scenario, {
      billing,
      looks,
      terminal: session.terminal,
      onProgress: ({ events, at }) => progress.update({ rows: events, done: millisecondsOf(at) - begin }),
    });
    tellLater(played.laterEventCount, until, session);
    await tellSkippedIn(scenario, played, { billing, session });
    return await reportOf(scenario, { billing, played, outcomes: inOrder(outcomes) });
  } finally {
    progress.stop();
    await opened.close();
  }
}

/** A file with the dates of another year would otherwise only look like little usage. */
function tellLater(count: number, until: string, session: Session): void {
  if (count === 0) return;
  tell(
    session,
    say`warning: ${counted(count, 'event')} ${count === 1 ? 'is' : 'are'} not before the end, ${until}: not played`,
  );
}

/** A value such as '1,000' would otherwise only look like little usage, too. */
async function tellSkippedIn(
  scenario: Scenario,
  { usage, eventCount }: Played,
  { billing, session }: { readonly billing: Billing; readonly session: Session },
): Promise<void> {
  const watched = await watchValues(session, billing);
  if (watched === undefined) return;
  usage
    .inOrder()
    .take(eventCount)
    .forEach((event, index) => watched.add(event, index));
  // Reading them once more takes as long as before, however many meters skip something.
  const firsts = new Set(watched.read().map(({ first }) => first.line));
  const named = new Map<number, UsageEvent>();
  if (firsts.size > 0) usage.inOrder().forEach((event, index) => firsts.has(index) && named.set(index, event));
  tellSkipped(session, watched, {
    placeOf(index) {
      const event = named.get(index);
      assert(event !== undefined, 'an event was watched with its place');
      return placeOf(event, scenario);
    },
    remedy: 'correct them and run it again',
    meters: 'in the catalog',
  });
}

/** Sorted by line of the file, whenever they were checked. */
function inOrder(outcomes: readonly Outcome[]): Outcome[] {
  return outcomes.toSorted((one, other) => one.line - other.line);
}

/** Writes the JUnit file, also for a run that was stopped. */
async function reporting<T>(
  { file, fileName }: Scenario,
  path: string | undefined,
  outcomes: readonly Outcome[],
  work: () => Promise<T>,
): Promise<T> {
  const unwritten = (failure: string | undefined) => {
    const xml = junitXml({ name: file.name, fileName, outcomes: inOrder(outcomes), failure });
    return path === undefined ? undefined : replaceEarlierOutput(path, xml);
  };
  let result: T;
  try {
    result = await work();
  } catch (error) {
    if (!(error instanceof BillingError)) throw error;
    const beside = unwritten(error.message);
    throw beside === undefined ? error : reworded(error, `${error.message}; ${beside.message}`);
  }
  const failure = unwritten(undefined);
  if (failure !== undefined) throw failure;
  return result;
}

/** The part to print as a list, or undefined for the whole as a document; a format of rows takes the timeline. */
function shownPart({ show }: RunFlags, { output }: Session): ReportPart | undefined {
  if (show !== undefined) return show;
  const isWhole = output.format === 'table' || printedBy[output.format] === 'all';
  return isWhole && output.columns === undefined ? undefined : 'timeline';
}

const wholeFields = ['name', 'seed', 'start', 'until', 'eventCount', ...reportPartNames];
const wholeView: View = { rows: 'data', columns: [], parts: reportParts };

function viewOf(shown: ReportPart | undefined): { readonly view: View; readonly fields: readonly string[] } {
  if (shown === undefined) return { view: wholeView, fields: wholeFields };
  const view: View = { rows: 'data', columns: reportParts[shown] };
  return { view, fields: [...new Set(columnPaths(view).map((path) => path.split('.')[0] ?? ''))] };
}

function tellOutcomes({ fileName }: Scenario, { expectations, eventCount, invoices }: Report, session: Session): void {
  const failed = expectations.filter(({ isMet }) => !isMet);
  const held =
    expectations.length === 0
      ? ''
      : `, ${expectations.length - failed.length} of ${expectations.length} expectations met`;
  tell(session, say`${counted(eventCount, 'event')}, ${counted(invoices.length, 'invoice')}${held}`);
  if (failed.length === 0) return;
  const words = failed.map(
    ({ line, what, actual, expected }) => `${fileName}:${line}: ${what} is ${actual}, must be: ${expected}`,
  );
  const hint = 'see all with: --show expectations';
  if (words.length === 1) throw new BillingError('checkFailed', words[0] ?? '', { hint });
  for (const each of words) session.terminal.err(say`${each}\n`);
  const count = `${words.length} of ${expectations.length} expectations are not met`;
  throw new BillingError('checkFailed', count, { hint });
}
