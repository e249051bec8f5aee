/** What a process that answers many questions keeps in memory of what it has read. */

import { renameSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';

import { openConnection, type SqliteConnection } from '../../src/store/backends/sqlite/connection.ts';
import { createReadingCache } from '../../src/store/backends/sqlite/events/cache.ts';
import { createSqliteEventStore } from '../../src/store/backends/sqlite/events/events.ts';
import type { Totals } from '../../src/store/backends/sqlite/events/totals.ts';
import type { Transaction } from '../../src/store/database.ts';
import type { EventStore } from '../../src/store/event-store.ts';
import { openStore } from '../../src/store/open.ts';
import { listCustomers } from '../../src/store/records/customers.ts';
import { watchStatements } from '../reliability/statements.ts';
import { aggregateOne, eventOf, insertTwoOrganizations, sumOfTokens } from './rows.ts';
import { addCustomer, directory, file, open, useTestFile } from './test-file.ts';

useTestFile();

let connection: SqliteConnection;

beforeEach(async () => {
  await (await open()).close();
  connection = await openConnection(file, {});
  await connection.begin('write');
  connection.prepare(`INSERT INTO "eventRules" VALUES (1, '[]')`).run();
});
afterEach(() => {
  connection.rollback();
  connection.close();
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

test('totals of the same combinations share one list of them, and keep the amount of each', () => {
  const cache = createReadingCache(connection);
  const read = (id: number) => cache.totals({ id, revision: 1 }, 1n)?.[0] ?? expect.fail('no totals are kept');
  keep(1, [[0, [0, 1, 2], ['"b"', '"c"', '"a"'], [20, 30, '10'], [2, 3, 1]]]);
  keep(2, [[7, [2, 2, 0], ['"a"', '"b"', '"c"'], [100, 200, 300], [4, 5, 6]]]);
  keep(3, [[0, [0, 0], ['"a"', '"b"'], [1, 2], [1, 1]]]);
  expect(read(1)).toEqual([0, [2, 0, 1], ['"a"', '"b"', '"c"'], ['10', 20, 30], [1, 2, 3]]);
  expect(read(2)).toEqual([7, [2, 2, 0], ['"a"', '"b"', '"c"'], [100, 200, 300], [4, 5, 6]]);
  expect([read(1)[2] === read(2)[2], read(1)[2] === read(3)[2]]).toEqual([true, false]);
});

const hour = 3_600_000;
const eventUpkeep = { longestTail: 1, leastKept: 1 };

const sumTo =
  (toEpochMs: number, include: readonly string[] = []) =>
  async (events: EventStore): Promise<string> => {
    const [[reading] = []] = await aggregateOne(events, {} as Transaction, {
      orgId: 'org-a',
      customerId: 'customer',
      boundsEpochMs: [0, toEpochMs],
      dimensions: { needsEventName: false, propertyKeys: [] },
      isStanding: true,
      rules: { ...sumOfTokens, eventTypeFilter: { include: [...include], exclude: [] } },
    });
    return reading?.quantity.toString() ?? 'none';
  };
const sumOfDay = sumTo(24 * hour);

// Windows moves no file that is open.
describe.skipIf(process.platform === 'win32')('of one file is not kept in the next one:', () => {
  /** How to use the event store of a file that another has taken the place of once it was used. */
  async function openMoved(isRead: boolean) {
    const [first, next] = [await fill('first', { tokens: 1, isRead }), await fill('next', { tokens: 2, isRead })];
    const own = await openConnection(first, {});
    onTestFinished(() => own.close());
    const events = createSqliteEventStore(own, eventUpkeep);
    const use = async <T>(access: 'read' | 'write', work: (events: EventStore) => T) => {
      await own.begin(access);
      const done = await work(events);
      own.commit();
      return done;
    };
    const move = (): void => {
      renameSync(next, first);
      own.noteFailure(Object.assign(new Error('disk I/O error'), { errcode: 778 }));
    };
    return { events, use, move };
  }

  test.each([
    ['the totals of a day', sumOfDay, ['60', '120']],
    ['the totals of hours', sumTo(2.5 * hour), ['60', '120']],
    ['a name of events', sumTo(24 * hour, ['next']), ['none', '120']],
    [
      'how long a list is',
      async (events: EventStore) => {
        const query = { orgId: 'org-a', eventName: 'next', limit: 1, offset: 0 };
        return String((await events.list({} as Transaction, query)).total);
      },
      ['0', '60'],
    ],
  ])('%s', async (_what, read, expected) => {
    const { use, move } = await openMoved(true);
    const before = await use('read', read);
    move();
    expect([before, await use('read', read)]).toEqual(expected);
  });

  test('which keys there are, and what was sent last', async () => {
    const [first, next] = [
      await fill('first', { tokens: 1, isRead: false }),
      await fill('next', { tokens: 2, isRead: false }),
    ];
    const thresholds = { longestTail: 4, leastKept: 1 };
    const send = async (events: EventStore, keys: readonly string[], tokens: number) =>
      await events.append(
        {} as Transaction,
        'org-a',
        keys.map((key) => eventWith(key, tokens)),
        () => true,
      );
    const other = await openStore(next, { eventUpkeep: thresholds });
    await other.write(async () => await send(other.events, ['n1', 'n2'], 50));
    await other.close();
    const own = await openConnection(first, {});
    onTestFinished(() => own.close());
    const events = createSqliteEventStore(own, thresholds);
    const write = async <T>(work: () => Promise<T>): Promise<T> => {
      await own.begin('write');
      const done = await work();
      own.commit();
      return done;
    };
    await write(async () => await send(events, ['f1', 'f2', 'f3'], 7));
    // Or its log would be taken for that of the next file.
    own.execute('PRAGMA wal_checkpoint(TRUNCATE)');
    renameSync(next, first);
    own.noteFailure(Object.assign(new Error('disk I/O error'), { errcode: 778 }));
    const outcomes = await write(async () => await send(events, ['n1', 'f1', 'f2'], 50));
    expect(outcomes).toEqual(['same', 'new', 'new']);
    expect(await write(async () => await sumOfDay(events))).toBe('320');
    expect(await write(async () => await events.upkeep?.listFaults({} as Transaction, 'org-a'))).toEqual([]);
  });

  test('where a page of the books ended', async () => {
    const [first, next] = [join(directory, 'first.db'), join(directory, 'next.db')];
    for (const [file, ids] of [
      [first, ['a']],
      [next, ['b', 'c']],
    ] as const) {
      const store = await openStore(file);
      await store.write(insertTwoOrganizations);
      for (const id of ids) await addCustomer(store, id);
      await store.close();
    }
    const store = await openStore(first);
    onTestFinished(async () => await store.close());
    const pageAt = async (offset: number) => {
      const { rows, total } = await store.read((tx) => listCustomers(tx, 'org-a', { limit: 1, offset }));
      return [rows[0]?.id, total];
    };
    expect(await pageAt(0)).toEqual(['a', 3]);
    renameSync(next, first);
    const stop = watchStatements(() => {
      throw Object.assign(new Error('disk I/O error'), { errcode: 266 });
    });
    await expect(pageAt(1)).rejects.toThrow('the disk failed');
    stop();
    expect(await pageAt(1)).toEqual(['b', 4]);
  });

  test('totals that were found, and not stored yet', async () => {
    const { events, use, move } = await openMoved(false);
    expect(await use('read', sumOfDay)).toBe('60');
    move();
    await use('write', () => events.keepFoundTotals());
    expect(await use('read', sumOfDay)).toBe('120');
    expect(events.hasFoundTotals()).toBe(true);
    await use('write', () => events.keepFoundTotals());
    expect(events.hasFoundTotals()).toBe(false);
  });
});

const eventWith = (key: string, tokens: number) => eventOf(key, { propertiesJson: `{"tokens":${tokens}}` });

/** A file with sixty events of so many tokens in three hours, which a segment has absorbed; read once, it has totals of them. */
async function fill(
  eventName: string,
  { tokens, isRead }: { readonly tokens: number; readonly isRead: boolean },
): Promise<string> {
  const path = join(directory, `${eventName}.db`);
  const store = await openStore(path, { eventUpkeep });
  await store.write(insertTwoOrganizations);
  const events = Array.from({ length: 60 }, (_, index) =>
    eventOf(`k${index}`, {
      eventName,
      timestampEpochMs: (index % 3) * hour,
      propertiesJson: `{"tokens":${tokens}}`,
    }),
  );
  await store.write(async (tx) => await store.events.append(tx, 'org-a', events, () => true));
  if (isRead) await store.read(async () => await sumOfDay(store.events));
  await store.close();
  return path;
}

/** Keeps totals of a segment, written in about that many characters. */
function write(segmentId: number, characters: number): void {
  keep(segmentId, [[0, [0], ['x'.repeat(characters)], [1], [1]]]);
}

function keep(segmentId: number, totals: Totals): void {
  const cells = JSON.stringify(totals);
  connection.prepare('INSERT INTO "eventTotals" VALUES (?, 1, 1, ?)').run(segmentId, cells);
}
