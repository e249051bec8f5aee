/** Events at 1 or 10 million: rates of ingestion and reading, exactness and size, beside bare SQLite in the same run. */

import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';

import { measureBillingOfEvents } from './event-billing.ts';
import { measureCrash } from './event-crash.ts';
import { sentEventAt } from './event-data.ts';
import { measureExactFold, measureRecount } from './event-exactness.ts';
import {
  arrayRates,
  bareImportRate,
  bareIngestRate,
  fillBare,
  keyReadMicroseconds,
  openBare,
  type Range,
  raggedRange,
  rawScanMilliseconds,
  removeDatabase,
  rollUpMilliseconds,
  syncRate,
} from './event-limits.ts';
import { costOf, type EventService, ingestRate, openService } from './event-service.ts';
import { measureCostOverHttp } from './http-cost.ts';
import type { InstalledPackage } from './installed-package.ts';
import { inTurns, median } from './measure.ts';
import type { Result } from './report.ts';

const slice = 20_000;
const slices = 6;

/** Bytes of disk that the largest files of a run take. */
export const eventDiskBytes = (count: number): number => count * 1_000;

export async function measureEvents(installed: InstalledPackage, count: number): Promise<Result[]> {
  const { folder, run } = installed;
  const place = { folder, count };
  const imported = await measureImportOfLines(place, run);
  const first = await measureEmpty(place);
  const tenth = await openTenth(place);
  const bare = fillBare(join(folder, 'large.db'), count - slices * slice);
  const file = join(folder, 'service.db');
  const service = await openService(file);
  try {
    await ingestRate(service, { first: slices * slice, last: count - slices * slice, count, batch: 10_000 });
    const full = { service, bare, ...place };
    return [
      ...first,
      ...imported,
      ...(await measureFull(full)),
      ...(await measureReading(full, tenth)),
      ...(await measureCostOverHttp(service, place)),
      ...(await measureRecount(service, count)),
      ...(await measureExactFold(file)),
      ...(await measureSize(service, place)),
      ...(await measureCrash(place)),
      ...(await measureBillingOfEvents(installed, { service, file, count })),
    ];
  } finally {
    await service.close();
    await tenth.close();
    bare.close();
    for (const name of ['large.db', 'service.db', 'tenth.db']) removeDatabase(join(folder, name));
  }
}

interface Place {
  readonly folder: string;
  readonly count: number;
}

interface Slices {
  /** The first event of the first slice. */
  readonly first: number;
  readonly count: number;
}

/** The events of one turn, in batches of 1,000. */
function sliceOf({ first, count }: Slices, turn: number): Range {
  return { first: first + turn * slice, last: first + (turn + 1) * slice, count, batch: 1_000 };
}

/** Leaves `service.db` with the first events. */
async function measureEmpty({ folder, count }: Place): Promise<Result[]> {
  const compared = async (service: EventService, warming: number) =>
    await inTurns(
      {
        bare: (turn) => bareIngestRate(bare, sliceOf({ first: 0, count }, turn)),
        service: async (turn) => await ingestRate(service, sliceOf({ first: 0, count }, turn)),
      },
      { turns: slices, warming },
    );
  const three = await openService(join(folder, 'three.db'), { meters: 3 });
  let bare = openBare(join(folder, 'bare.db'));
  const withThree = await compared(three, 1);
  await three.close();
  bare.close();
  const service = await openService(join(folder, 'service.db'), { meters: 1 });
  bare = openBare(join(folder, 'bare.db'));
  const one = await compared(service, 0);
  await service.close();
  const large = bareIngestRate(bare, { first: slices * slice, last: slices * slice + 100_000, count, batch: 10_000 });
  const single = bareIngestRate(bare, { first: count - 500, last: count, count, batch: 1 });
  const keyRead = keyReadMicroseconds(bare, count);
  bare.close();
  for (const name of ['three.db', 'bare.db']) removeDatabase(join(folder, name));
  const { grouped, parsed } = arrayRates();
  return [
    { name: 'L1: bare ingest, batches of 1,000', measured: one.bare, unit: 'events/s' },
    { name: 'L1: bare ingest, batches of 10,000', measured: large, unit: 'events/s' },
    { name: 'L1: bare ingest, one by one', measured: single, unit: 'events/s' },
    { name: 'L2: 4 KiB made durable', measured: syncRate(join(folder, 'sync')), unit: 'commits/s' },
    { name: 'L5: sums by group over arrays', measured: grouped, unit: 'rows/s' },
    { name: 'L5: events of JSON parsed', measured: parsed, unit: 'rows/s' },
    { name: 'L6: read by key', measured: keyRead, unit: 'us' },
    {
      name: 'goal 1: ingest, one meter of two group keys',
      measured: one.service,
      unit: 'events/s',
      ratio: one.service / one.bare,
      ratioTo: 'L1',
      lowestRatio: 0.6,
    },
    {
      name: 'goal 1: ingest, three meters',
      measured: withThree.service,
      unit: 'events/s',
      ratio: withThree.service / withThree.bare,
      ratioTo: 'L1',
      lowestRatio: 0.4,
    },
  ];
}

interface Full extends Place {
  readonly service: EventService;
  readonly bare: DatabaseSync;
}

/** Ingests the last events into the full store and a full bare one, and as many into an empty store, in turns. */
async function measureFull({ service, bare, folder, count }: Full): Promise<Result[]> {
  const file = join(folder, 'empty.db');
  const empty = await openService(file, { meters: 1 });
  const last = { first: count - slices * slice, count };
  const rates = await inTurns(
    {
      bare: (turn) => bareIngestRate(bare, sliceOf(last, turn)),
      full: async (turn) => await ingestRate(service, sliceOf(last, turn)),
      empty: async (turn) => await ingestRate(empty, sliceOf({ first: 0, count }, turn)),
    },
    { turns: slices },
  );
  await empty.close();
  removeDatabase(file);
  return fullResults(count, rates);
}

function fullResults(
  count: number,
  { bare, full, empty }: { readonly bare: number; readonly full: number; readonly empty: number },
): Result[] {
  const at = `at ${count / 1e6} million`;
  const same = { measured: full, unit: 'events/s' as const };
  return [
    { name: `bare ingest ${at}, one unique index of random keys`, measured: bare, unit: 'events/s' },
    { name: 'ingest into an empty store, in turns with it', measured: empty, unit: 'events/s' },
    { name: `goal 2: ingest ${at}`, ...same, ratio: full / empty, ratioTo: 'empty', lowestRatio: 0.7 },
    { name: `goal 2: ingest ${at}`, ...same, ratio: full / bare, ...wantedWhenFull(count, 2, 'one unique index') },
  ];
}

const importedLines = 200_000;

/** The line of an event in a file. */
const lineAt = (i: number, count: number): string => `${JSON.stringify(sentEventAt(i, count))}\n`;

/** The command reads the file, beside a loop that parses and inserts: the best of two rounds each. */
async function measureImportOfLines({ folder, count }: Place, run: InstalledPackage['run']): Promise<Result[]> {
  const [file, database, bare] = ['lines.ndjson', 'imported.db', 'lines.db'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(file, Array.from({ length: importedLines }, (_, i) => lineAt(i, count)).join(''));
  const rates: { readonly bare: number; readonly service: number }[] = [];
  for (let round = 0; round < 2; round += 1) {
    const service = await openService(database, { meters: 1 });
    await service.close();
    const { milliseconds } = run('--database', database, 'import', 'events', file, '-o', 'json');
    rates.push({ bare: bareImportRate(file, bare), service: (importedLines / milliseconds) * 1000 });
  }
  for (const each of [database, bare, file]) removeDatabase(each);
  const limit = Math.max(...rates.map((rate) => rate.bare));
  const measured = Math.max(...rates.map((rate) => rate.service));
  return [
    { name: 'L1n: lines of a file parsed and inserted, batches of 10,000', measured: limit, unit: 'events/s' },
    {
      name: `goal 1: \`tally import events\` of ${importedLines.toLocaleString('en-US')} lines, its start included`,
      measured,
      unit: 'events/s',
      ratio: measured / limit,
      ratioTo: 'L1n',
      lowestRatio: 0.5,
    },
  ];
}

/** A store with a tenth of the events. */
async function openTenth({ folder, count }: Place): Promise<EventService> {
  const service = await openService(join(folder, 'tenth.db'), { meters: 1 });
  await ingestRate(service, { first: 0, last: count / 10, count: count / 10, batch: 10_000 });
  return service;
}

type Filters = Parameters<typeof costOf>[2];

/** A server answers many questions, so its code is warm. */
const readings = { turns: 50, warming: 20 };

/** Milliseconds of one reading; the ranges are all different. */
const costIn =
  (service: EventService, filters: Filters = []) =>
  async (turn: number): Promise<number> =>
    (await costOf(service, raggedRange(turn), filters)).milliseconds;

/** A ratio that grows with the number of events, and is a goal only at 10 million. */
function wantedWhenFull(count: number, lowestRatio: number, ratioTo: string): Pick<Result, 'ratioTo' | 'lowestRatio'> {
  if (count >= 10_000_000) return { ratioTo, lowestRatio };
  return { ratioTo: `${ratioTo} (${lowestRatio} at 10 million)` };
}

async function measureReading({ service, bare, folder, count }: Full, tenth: EventService): Promise<Result[]> {
  const at = `at ${count / 1e6} million`;
  const roll = rollUpMilliseconds(join(folder, 'days.db'));
  const raw = median([rawScanMilliseconds(bare, raggedRange()), rawScanMilliseconds(bare, raggedRange(1))]);
  const { cost, small } = await inTurns({ cost: costIn(service), small: costIn(tenth) }, readings);
  const { filtered } = await inTurns({ filtered: costIn(service, [{ key: 'cache', value: 'hit' }]) }, readings);
  const { unheard } = await inTurns({ unheard: costIn(service, [{ key: 'unheard', value: 'x' }]) }, readings);
  const ofCost = { measured: cost, unit: 'ms' as const };
  const name = `goal 3: usage cost of 30 ragged days, 48 groups, ${at}`;
  const results: Result[] = [
    { name: 'L4: 30 daily sums of 48 groups', measured: roll, unit: 'ms' },
    { name: `raw scan of the JSON ${at}`, measured: raw, unit: 'ms' },
    { name, ...ofCost, ratio: cost / roll, ratioTo: 'L4', highestRatio: 5 },
    { name, ...ofCost, ratio: cost / small, ratioTo: 'a tenth of the events', highestRatio: 2 },
    { name, ...ofCost, ratio: raw / cost, ...wantedWhenFull(count, 100, 'faster than the raw scan') },
    {
      name: `goal 4: with a filter outside of the groups, ${at}`,
      measured: filtered,
      unit: 'ms',
      ratio: raw / filtered,
      ...wantedWhenFull(count, 20, 'faster than the raw scan'),
    },
    {
      name: `goal 4: with a key never seen, ${at}`,
      measured: unheard,
      unit: 'ms',
      ratio: raw / unheard,
      ratioTo: 'faster than the raw scan',
      lowestRatio: 1,
    },
  ];
  return results;
}

async function measureSize({ store, billing }: EventService, { folder, count }: Place): Promise<Result[]> {
  const sample = 10_000;
  let characters = 0;
  for (let i = 0; i < sample; i += 1) characters += lineAt(Math.floor((i / sample) * count), count).length;
  await billing.call('usage.events', { query: { limit: '1', customerId: 'nobody' } });
  const bytes = statSync(store.location).size;
  const begin = performance.now();
  const again = await openService(join(folder, 'service.db'));
  await again.billing.call('meters.list', {});
  const reopened = performance.now() - begin;
  await again.close();
  return [
    {
      name: 'goal 10: the whole store',
      measured: bytes / 1024 / 1024,
      unit: 'MiB',
      ratio: bytes / count / (characters / sample),
      ratioTo: 'its events as NDJSON',
      highestRatio: 1.3,
    },
    { name: 'goal 10: open the store and read', measured: reopened, unit: 'ms', highest: 25 },
  ];
}
