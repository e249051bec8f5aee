/** Events at 1 or 10 million: how fast they come in and are read, exactness and size, beside bare SQLite in the same run. */

import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';

import { measureBillingOfEvents } from './event-billing.ts';
import { measureCrash } from './event-crash.ts';
import { lineAt } from './event-data.ts';
import { measureExactFold, measureRecount } from './event-exactness.ts';
import {
  arrayRates,
  bareImportRate,
  bareIngestRate,
  fillBare,
  keyReadMicroseconds,
  openBare,
  raggedRange,
  rawScanMilliseconds,
  removeDatabase,
  rollUpMilliseconds,
  syncRate,
} from './event-limits.ts';
import { costOf, type EventService, ingestRate, openService } from './event-service.ts';
import type { InstalledPackage } from './installed-package.ts';
import { median } from './measure.ts';
import type { Result } from './report.ts';

const slice = 20_000;
const slices = 6;

/** Bytes of disk that the largest files of a run come to. */
export const eventDiskBytes = (count: number): number => count * 1_000;

export async function measureEvents(installed: InstalledPackage, count: number): Promise<Result[]> {
  const { folder, run } = installed;
  const place = { folder, count };
  const imported = await measureImportOfLines(place, run);
  const small = await filledCost(place);
  const first = await measureEmpty(place);
  const bare = fillBare(join(folder, 'large.db'), count - slices * slice);
  const file = join(folder, 'service.db');
  const service = await openService(file);
  try {
    await ingestRate(service, { first: slices * slice, last: count - slices * slice, count, batch: 10_000 });
    const last = await measureFull({ service, bare, count });
    return [
      ...first.results,
      ...imported,
      ...fullResults(count, first, last),
      ...(await measureReading({ service, bare, count, small, folder })),
      ...(await measureRecount(service, count)),
      ...measureExactFold(file),
      ...(await measureSize(service, place)),
      ...(await measureCrash(place)),
      ...(await measureBillingOfEvents(installed, { service, file, count })),
    ];
  } finally {
    await service.close();
    bare.close();
    for (const name of ['large.db', 'service.db']) removeDatabase(join(folder, name));
  }
}

interface Place {
  readonly folder: string;
  readonly count: number;
}

interface Rates {
  readonly bare: number;
  readonly service: number;
}

/** Turn about, so that what else the machine does falls on both; the first slice of each only warms the code. */
async function alternating(
  bare: DatabaseSync,
  service: EventService,
  range: { readonly first: number; readonly count: number; readonly warm: boolean },
): Promise<Rates> {
  const rates: { bare: number; service: number }[] = [];
  for (let turn = 0; turn < slices; turn += 1) {
    const own = {
      first: range.first + turn * slice,
      last: range.first + (turn + 1) * slice,
      count: range.count,
      batch: 1_000,
    };
    const rate = { bare: bareIngestRate(bare, own), service: await ingestRate(service, own) };
    if (turn > 0 || range.warm) rates.push(rate);
  }
  return { bare: median(rates.map((rate) => rate.bare)), service: median(rates.map((rate) => rate.service)) };
}

/** Leaves `service.db` with the first events. */
async function measureEmpty({ folder, count }: Place): Promise<Rates & { readonly results: Result[] }> {
  const three = await openService(join(folder, 'three.db'), { meters: 3 });
  let bare = openBare(join(folder, 'bare.db'));
  const withThree = await alternating(bare, three, { first: 0, count, warm: false });
  await three.close();
  bare.close();
  const service = await openService(join(folder, 'service.db'), { meters: 1 });
  bare = openBare(join(folder, 'bare.db'));
  const one = await alternating(bare, service, { first: 0, count, warm: true });
  await service.close();
  const large = bareIngestRate(bare, { first: slices * slice, last: slices * slice + 100_000, count, batch: 10_000 });
  const single = bareIngestRate(bare, { first: count - 500, last: count, count, batch: 1 });
  const keyRead = keyReadMicroseconds(bare, count);
  bare.close();
  for (const name of ['three.db', 'bare.db']) removeDatabase(join(folder, name));
  const { grouped, parsed } = arrayRates();
  const results: Result[] = [
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
  return { ...one, results };
}

interface Full {
  readonly service: EventService;
  readonly bare: DatabaseSync;
  readonly count: number;
}

async function measureFull({ service, bare, count }: Full): Promise<Rates> {
  return await alternating(bare, service, { first: count - slices * slice, count, warm: true });
}

function fullResults(count: number, first: Rates, last: Rates): Result[] {
  const at = `at ${count / 1e6} million`;
  const same = { measured: last.service, unit: 'events/s' as const };
  return [
    { name: `bare ingest ${at}, one unique index of random keys`, measured: last.bare, unit: 'events/s' },
    { name: `goal 2: ingest ${at}`, ...same, ratio: last.service / first.service, ratioTo: 'empty', lowestRatio: 0.7 },
    {
      name: `goal 2: ingest ${at}`,
      ...same,
      ratio: last.service / last.bare,
      ...wantedWhenFull(count, 2, 'one unique index'),
    },
  ];
}

const importedLines = 200_000;

/** The command reads the file, against a loop that parses and inserts: the best of two rounds each. */
async function measureImportOfLines({ folder, count }: Place, run: InstalledPackage['run']): Promise<Result[]> {
  const [file, database, bare] = ['lines.ndjson', 'imported.db', 'lines.db'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(file, `${Array.from({ length: importedLines }, (_, i) => lineAt(i, count)).join('\n')}\n`);
  const rates: Rates[] = [];
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

/** What usage costs to read at a tenth of the events. */
async function filledCost({ folder, count }: Place): Promise<number> {
  const file = join(folder, 'tenth.db');
  const service = await openService(file, { meters: 1 });
  await ingestRate(service, { first: 0, last: count / 10, count: count / 10, batch: 10_000 });
  const milliseconds = await medianCost(service);
  await service.close();
  removeDatabase(file);
  return milliseconds;
}

type Filters = Parameters<typeof costOf>[2];

/** Readings before those that count: a server answers many, with code that has run. */
const warmRounds = 20;
const countedRounds = 30;

/** Over ranges that are all different. */
async function medianCost(service: EventService, filters: Filters = []): Promise<number> {
  const milliseconds: number[] = [];
  for (let round = 0; round < warmRounds + countedRounds; round += 1) {
    const cost = await costOf(service, raggedRange(round), filters);
    if (round >= warmRounds) milliseconds.push(cost.milliseconds);
  }
  return median(milliseconds);
}

/** A ratio that grows with the number of events, and is wanted at 10 million. */
function wantedWhenFull(count: number, lowestRatio: number, ratioTo: string): Pick<Result, 'ratioTo' | 'lowestRatio'> {
  if (count >= 10_000_000) return { ratioTo, lowestRatio };
  return { ratioTo: `${ratioTo} (${lowestRatio} at 10 million)` };
}

async function measureReading({
  service,
  bare,
  count,
  small,
  folder,
}: Full & Omit<Place, 'count'> & { readonly small: number }) {
  const at = `at ${count / 1e6} million`;
  const roll = rollUpMilliseconds(join(folder, 'days.db'));
  const raw = median([rawScanMilliseconds(bare, raggedRange()), rawScanMilliseconds(bare, raggedRange(1))]);
  const cost = await medianCost(service);
  const filtered = await medianCost(service, [{ key: 'cache', value: 'hit' }]);
  const unheard = await medianCost(service, [{ key: 'unheard', value: 'x' }]);
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
  for (let i = 0; i < sample; i += 1) characters += lineAt(Math.floor((i / sample) * count), count).length + 1;
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
