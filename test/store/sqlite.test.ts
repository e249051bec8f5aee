import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { describeDatabase } from './database-suite.ts';
import { describePrepared } from './prepared-suite.ts';
import { describeLongLists } from './long-lists-suite.ts';
import { describeEventAggregation } from './event-aggregation-suite.ts';
import { describeEventStore } from './event-store-suite.ts';
import { describePages } from './page-suite.ts';
import { describeRules } from './rules-suite.ts';

let directory: string;
let files = 0;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tallybook-store-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const openFile = () => openStore(join(directory, `${(files += 1)}.db`));
const openTwo = async () => {
  const store = await openFile();
  return [store, await openStore(store.location)] as const;
};
const openMemory = () => openStore(':memory:');

describeDatabase('SQLite in a file', openFile);
describePrepared('SQLite in a file', openFile);

describeRules('SQLite', openMemory);
describeLongLists('SQLite in a file', openFile);
describePages('SQLite in a file', openTwo, { runs: 30 });
describeDatabase('SQLite in memory', openMemory);
describePrepared('SQLite in memory', openMemory);
describeEventStore('SQLite in a file', openFile);
describeEventStore('SQLite in memory', openMemory);
describeEventAggregation('SQLite in a file', openFile);
describeEventAggregation('SQLite in memory', openMemory);

// With thresholds this small every story has segments, totals and runs of keys that grow, merge and are left.
const eventUpkeep = { longestTail: 3, leastKept: 1 };
const openBusy = () => openStore(':memory:', { eventUpkeep });
describeEventStore('SQLite with tiny segments', openBusy);
describeEventAggregation('SQLite with tiny segments', openBusy, { tidy: expectUpkeep, runs: 60 });
// Never enough of a day for totals: days share segments, and segments are read as one.
const openSparse = () => openStore(':memory:', { eventUpkeep: { ...eventUpkeep, leastKept: 1_000 } });
describeEventAggregation('SQLite with small segments', openSparse, { tidy: expectUpkeep, runs: 60 });
// Some days share a segment, and some segments of several days have totals.
const openMixed = () => openStore(':memory:', { eventUpkeep: { ...eventUpkeep, leastKept: 4 } });
describeEventStore('SQLite with segments of a few days', openMixed);
describeEventAggregation('SQLite with segments of a few days', openMixed, { tidy: expectUpkeep, runs: 60 });
describeEventAggregation('SQLite rebuilt at every step', openMemory, {
  tidy: (store) => store.write(async (tx) => await store.events.upkeep?.rebuild(tx)),
});

test('events cannot be touched outside a transaction', async () => {
  const store = await openMemory();
  const tx = undefined as never;
  const listed = store.events.list(tx, { orgId: 'org-a', limit: 1, offset: 0 });
  await expect(listed).rejects.toThrow('inside read() or write()');
  await store.close();
});

let writes = 0;

/** Reads every event that there is, so not after every write. */
async function expectUpkeep(store: Store): Promise<void> {
  writes += 1;
  if (writes % 8 > 0) return;
  expect(await store.read(async (tx) => await store.events.upkeep?.listFaults(tx, 'org-a'))).toEqual([]);
}
