/** What a process that answers many questions keeps in memory of what it has read. */

import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { openConnection, type SqliteConnection } from '../../src/store/backends/sqlite/connection.ts';
import { createReadingCache } from '../../src/store/backends/sqlite/events/cache.ts';
import { createSqliteEventStore } from '../../src/store/backends/sqlite/events/events.ts';
import type { Transaction } from '../../src/store/database.ts';
import type { EventAggregation } from '../../src/store/event-store.ts';
import { openStore } from '../../src/store/open.ts';
import { aggregateOne, eventOf, insertTwoOrganizations, sumOfTokens } from './rows.ts';

let directory: string;
let connection: SqliteConnection;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'tallybook-reading-cache-'));
  const file = join(directory, 'book.db');
  await (await openStore(file)).close();
  connection = await openConnection(file, {});
  await connection.begin('write');
  connection.prepare(`INSERT INTO "eventRules" VALUES (1, '[]')`).run();
});
afterEach(() => {
  connection.rollback();
  connection.close();
  rmSync(directory, { recursive: true });
});

test('totals that were read stay in memory until all of them together are too large for it', () => {
  const cache = createReadingCache(connection);
  const read = (id: number) => cache.totals({ id, revision: 1 }, 1n);
  for (const id of [1, 2, 3, 4]) write(id, 12_000_000);
  const first = read(1);
  for (const id of [2, 3]) read(id);
  expect(read(1) === first).toBe(true);
  const fourth = read(4);
  expect([read(1) === first, read(4) === fourth]).toStrictEqual([false, true]);
});

test('totals that are too large alone are not held, and push out no others', () => {
  const cache = createReadingCache(connection);
  const read = (id: number) => cache.totals({ id, revision: 1 }, 1n);
  write(1, 1_000);
  write(2, 41_000_000);
  const first = read(1);
  const large = read(2);
  expect([read(1) === first, read(2) === large]).toStrictEqual([true, false]);
});

// Windows moves no file that is open.
test.skipIf(process.platform === 'win32')(
  'totals that were read of one file are not kept in the next one',
  async () => {
    const [first, next] = [await fill('first', 1), await fill('next', 2)];
    const own = await openConnection(first, {});
    const events = createSqliteEventStore(own, eventUpkeep);
    const inTransaction = async <T>(access: 'read' | 'write', work: () => T) => {
      await own.begin(access);
      const done = await work();
      own.commit();
      return done;
    };
    const sum = async () =>
      (await aggregateOne(events, {} as Transaction, tokensOfFirstDay))[0]?.[0]?.quantity.toString();
    expect(await inTransaction('read', sum)).toBe('1');
    renameSync(next, first);
    own.noteFailure(Object.assign(new Error('disk I/O error'), { errcode: 778 }));
    await inTransaction('write', () => events.keepFoundTotals());
    expect(await inTransaction('read', sum)).toBe('2');
    own.close();
  },
);

const eventUpkeep = { longestTail: 1, leastKept: 1 };

const tokensOfFirstDay: EventAggregation = {
  orgId: 'org-a',
  customerId: 'customer',
  boundsEpochMs: [0, 86_400_000],
  dimensions: { needsEventName: false, propertyKeys: [] },
  isStanding: true,
  rules: sumOfTokens,
};

/** A file with an event of so many tokens, which a segment has absorbed. */
async function fill(name: string, tokens: number): Promise<string> {
  const path = join(directory, `${name}.db`);
  const store = await openStore(path, { eventUpkeep });
  await store.write(insertTwoOrganizations);
  const event = eventOf('k1', { propertiesJson: `{"tokens":${tokens}}` });
  await store.write(async (tx) => await store.events.append(tx, 'org-a', [event], () => true));
  await store.close();
  return path;
}

/** Keeps totals of a segment, written in about that many characters. */
function write(segmentId: number, characters: number): void {
  const cells = JSON.stringify([[0, [0], ['x'.repeat(characters)], [1], [1]]]);
  connection.prepare('INSERT INTO "eventTotals" VALUES (?, 1, 1, ?)').run(segmentId, cells);
}
