/** Plays a scenario from its start to its end, on a service with a simulated clock. */

import { dirname, resolve } from 'node:path';

import { BillingError, InvalidInputError, reworded } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { Billing } from '../../operations/index.ts';
import { readCatalogFile } from '../catalog/file.ts';
import type { CatalogFile } from '../catalog/file.ts';
import { readCatalog } from '../catalog/live.ts';
import { readTextFile } from '../files/files.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { generatedCount, generatedUsage } from './generated-usage.ts';
import { createPassing } from './passing.ts';
import { createPackedEvents } from './packed-events.ts';
import type { PackedEvents } from './packed-events.ts';
import type { PassingOptions } from './passing.ts';
import { createNames, idOf, several } from './references.ts';
import type { Names, Playing } from './references.ts';
import { contractName } from './scenario.ts';
import type { Path, Scenario } from './scenario.ts';
import { placed, stepsOf, take } from './steps.ts';
import type { Step } from './steps.ts';
import { applyTo } from './throw-away.ts';
import type { UsageEvent } from './usage-event.ts';
import { usageOfFile } from './usage-files.ts';

/** A check on the way. */
export interface Look {
  readonly at: string;
  /** Called when the clock stands at `at`, after everything that is done at that instant. */
  readonly look: (names: Names) => Promise<void>;
}

export interface Played {
  readonly names: Names;
  readonly steps: readonly Step[];
  /** Also what was not played. */
  readonly usage: PackedEvents<UsageEvent>;
  /** How many were played: the first. */
  readonly eventCount: number;
  /** Events from the end on, which were not played. */
  readonly laterEventCount: number;
}

export interface PlayOptions {
  readonly billing: Billing;
  readonly looks: readonly Look[];
  readonly terminal: Terminal;
  /** Called as time passes. */
  readonly onProgress: PassingOptions['onProgress'];
}

/** Throws with the line of the file for anything refused. */
export async function play(scenario: Scenario, { billing, looks, terminal, onProgress }: PlayOptions): Promise<Played> {
  const { file } = scenario;
  const names = createNames();
  await makeCatalog(scenario, { billing, names, terminal });
  const usage = await usageOf(scenario);
  const steps = stepsOf(scenario);
  const passing = createPassing(billing, {
    events: usage.inOrder().map((event) => ({
      at: event.timestamp,
      toBody: () => bodyOf(event, names, scenario),
      place: () => placeOf(event, scenario),
    })),
    resolution: file.resolution ?? 'P1D',
    start: file.start,
    onProgress,
  });
  const instants = [...new Set([file.start, ...steps.map(({ at }) => at), ...looks.map(({ at }) => at), file.until])];
  for (const instant of instants.toSorted()) {
    if (instant > file.start) await passing.until(instant);
    for (const step of steps) if (step.at === instant) await take(step, scenario, { billing, names });
    for (const { at, look } of looks) if (at === instant) await look(names);
  }
  const eventCount = passing.sent();
  return { names, steps, usage, eventCount, laterEventCount: usage.length - eventCount };
}

async function makeCatalog(
  scenario: Scenario,
  { billing, names, terminal }: Playing & Pick<PlayOptions, 'terminal'>,
): Promise<void> {
  const file = scenario.catalog ?? (await catalogBeside(scenario, terminal));
  if (file !== undefined) await applyTo(billing, file);
  const live = await readCatalog(billing);
  for (const { id, definition } of live.products) names.products.set(definition.name, id);
  for (const { id, definition } of live.meters) names.meters.set(definition.code, id);
  for (const { id, definition } of live.pricing) names.pricing.set(`${definition.product}/${definition.name}`, id);
  for (const { id, definition } of live.plans) {
    names.plans.set(definition.name, names.plans.has(definition.name) ? several : id);
  }
  // An externalId identifies its plan, even if other plans have that name.
  for (const { id, definition } of live.plans) {
    if (definition.externalId !== undefined) names.plans.set(definition.externalId, id);
  }
}

async function catalogBeside(scenario: Scenario, terminal: Terminal): Promise<CatalogFile | undefined> {
  const { catalog } = scenario.file;
  if (typeof catalog !== 'string') return undefined;
  const path = besides(scenario, catalog);
  const text = await placed(scenario, ['catalog'], 'catalog', async () => await readTextFile(path, terminal));
  return readCatalogFile(text, path);
}

function besides({ fileName }: Scenario, path: string): string {
  return resolve(dirname(fileName), path);
}

/** All usage; at one instant in the order of the file. */
async function usageOf(scenario: Scenario): Promise<PackedEvents<UsageEvent>> {
  const { usage = [], seed, start, until } = scenario.file;
  const customers = new Set(scenario.file.customers?.map(({ id }) => id));
  const contracts = new Set(scenario.file.contracts?.map(contractName));
  const events = createPackedEvents<UsageEvent>();
  for (const [index, entry] of usage.entries()) {
    const options = { seed, index, start, until };
    const path: Path = ['usage', index];
    if (entry.file === undefined) {
      refuseTooMany(scenario, path, events.length + generatedCount(entry, options));
      for (const event of generatedUsage(entry, options)) events.add(event);
      continue;
    }
    const file = { path: besides(scenario, entry.file), index, customers, contracts };
    await placed(scenario, path, 'usage', async () => {
      for await (const event of usageOfFile(entry, file)) events.add(event);
    });
    refuseTooMany(scenario, path, events.length);
  }
  return events;
}

function refuseTooMany({ issueAt }: Scenario, path: Path, count: number): void {
  if (count <= limits.simulatedEvents) return;
  throw new InvalidInputError([issueAt(path, `makes ${count} events of at most ${limits.simulatedEvents}`)]);
}

/** File and line of an event. */
export function placeOf({ index, line }: UsageEvent, scenario: Scenario): string {
  const { file = '' } = scenario.file.usage?.[index] ?? {};
  return line === undefined
    ? `${scenario.fileName}:${scenario.lineOf(['usage', index])}`
    : `${besides(scenario, file)}:${line}`;
}

function bodyOf(used: UsageEvent, names: Names, scenario: Scenario) {
  const { customer, contract, index: _index, line: _line, ...event } = used;
  try {
    return {
      ...event,
      customerId: idOf(names, 'customers', customer),
      // The service takes an event without an undefined member by its quicker check.
      ...(contract === undefined ? {} : { contractId: idOf(names, 'contracts', contract) }),
    };
  } catch (error) {
    throw error instanceof BillingError ? reworded(error, `${placeOf(used, scenario)}: ${error.message}`) : error;
  }
}
