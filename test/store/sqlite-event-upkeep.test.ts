/** What is derived from events is seen to be wrong whichever part of it is, and can always be made again. */

import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';

import { createMaintenance } from '../../src/engine/maintenance.ts';
import type { Transaction } from '../../src/store/database.ts';
import type { EventAggregation, NewEvent } from '../../src/store/event-store.ts';
import { eventDays } from '../../src/store/backends/sqlite/migrations/0011-event-days.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { aggregateOne, eventOf, insertTwoOrganizations, sumOfTokens } from './rows.ts';
import { file, open, useTestFile, withSqlite } from './test-file.ts';

useTestFile();

const day = 86_400_000;
const eventUpkeep = { longestTail: 40, leastKept: 1 };
const request: EventAggregation = {
  orgId: 'org-a',
  customerId: 'customer',
  boundsEpochMs: [0, 10 * day],
  rules: { ...sumOfTokens, groupKeys: ['model'] },
  dimensions: { needsEventName: false, propertyKeys: [] },
  isStanding: true,
};

beforeEach(async () => {
  await using(async (store) => {
    await store.write(insertTwoOrganizations);
    for (let batch = 0; batch < 9; batch += 1) {
      const events = Array.from({ length: 12 }, (_, index) =>
        eventOf(`k${batch}-${index}`, {
          timestampEpochMs: (batch % 4) * day + index,
          propertiesJson: `{"model":"m${index % 3}","note":"${'n'.repeat(900)}${batch}-${index}","tokens":${index}.5}`,
        }),
      );
      await store.write((tx) => store.events.append(tx, 'org-a', events, () => true));
    }
    await store.write((tx) => store.events.append(tx, 'org-a', [eventOf('alone')], () => true));
    await read(store);
  });
});

async function using<T>(work: (store: Store) => Promise<T>, thresholds = eventUpkeep): Promise<T> {
  const store = await openStore(file, { eventUpkeep: thresholds });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

const read = (store: Store, changes: Partial<EventAggregation> = {}) =>
  store.read((tx) => aggregateOne(store.events, tx, { ...request, ...changes }));

const faults = () =>
  using((store) =>
    store.read(async (tx) => (await store.events.upkeep?.listFaults(tx, 'org-a'))?.map(({ fault }) => fault)),
  );

function damage(sql: string): void {
  const { changes } = withSqlite((database) => database.prepare(sql).run());
  expect(Number(changes)).toBeGreaterThan(0);
}

test('years of days are read by a hundred meters at once, and some of their totals kept', async () => {
  const years = Array.from({ length: 1_300 }, (_, index) =>
    eventOf(`day${index}`, { timestampEpochMs: (100 + index) * day, propertiesJson: '{"tokens":1}' }),
  );
  const meters = Array.from({ length: 100 }, (_, index) => ({
    ...request.rules,
    eventTypeFilter: { include: [], exclude: [`other${index}`] },
  }));
  const of = { ...request, boundsEpochMs: [100 * day, 1_400 * day] };
  await using(
    async (store) => {
      await store.write((tx) => store.events.append(tx, 'org-a', years, () => true));
      const found = await store.read((tx) => store.events.aggregate(tx, of, meters));
      expect(new Set(found.map(([readings]) => readings?.[0]?.count))).toEqual(new Set([1_300]));
    },
    { longestTail: 1, leastKept: 1 },
  );
  expect(await faults()).toEqual([]);
});

test.each([
  ['what totals are of', `UPDATE eventRules SET rules = '['`, 'rollUp'],
  ['totals', `UPDATE eventTotals SET cells = replace(cells, '5', '6') WHERE rowid = 1`, 'rollUp'],
  ['a segment', 'UPDATE eventSegments SET data = (SELECT data FROM eventSegments WHERE id = 2) WHERE id = 1', 'rollUp'],
  ['bytes of a segment', `UPDATE eventSegments SET data = x'00' WHERE id = 1`, 'rollUp'],
  ['the day of a segment', 'UPDATE eventSegments SET day = 9 WHERE id = 1', 'rollUp'],
  ['how many days a segment is of', 'UPDATE eventSegments SET days = 9 WHERE id = 1', 'rollUp'],
  ['a segment that is gone', 'DELETE FROM eventSegments WHERE id = 1', 'rollUp'],
  [
    'a tail that lacks an event',
    'DELETE FROM eventTail WHERE eventSeq = (SELECT max(eventSeq) FROM eventTail)',
    'rollUp',
  ],
  ['a run of the tail that lacks an event', 'DELETE FROM eventTailPieces', 'rollUp'],
  ['bytes of a run of the tail', `UPDATE eventTailPieces SET data = x'00'`, 'rollUp'],
  ['the length of a run of the tail', 'UPDATE eventTailPieces SET rowCount = rowCount - 1', 'rollUp'],
  [
    'an event in tail and segment',
    'INSERT INTO eventTail SELECT customerSeq, timestampEpochMs, seq FROM events WHERE seq = 1',
    'rollUp',
  ],
  [
    'an event changed behind them',
    `UPDATE events SET version = 2, propertiesJson = '{"tokens":7}' WHERE seq = 1`,
    'rollUp',
  ],
  ['keys of a run', 'DELETE FROM eventKeyPieces WHERE id = 1', 'key'],
  ['where the keys of a piece begin', 'UPDATE eventKeyPieces SET firstHash = firstHash + 1', 'key'],
  ['bytes of a piece of keys', `UPDATE eventKeyPieces SET data = x'00' WHERE id = 1`, 'key'],
  ['the run of a piece', 'UPDATE eventKeyPieces SET runId = (SELECT max(runId) FROM eventKeyPieces)', 'key'],
  ['keys of new events', 'DELETE FROM eventKeyTail', 'key'],
])('%s: the fault is seen, and what is made anew is right', async (_, sql, fault) => {
  const before = await using((store) => read(store));
  expect(await faults()).toEqual([]);
  damage(sql);
  expect(new Set(await faults())).toEqual(new Set([fault]));
  expect(await createMaintenance({ now: Temporal.Now.instant }).rebuild(file)).toMatchObject({ isRebuilt: true });
  expect(await faults()).toEqual([]);
  if (!sql.startsWith('UPDATE events ')) expect(await using((store) => read(store))).toEqual(before);
});

test('a reader that cannot write answers the same, and keeps nothing', async () => {
  const changes = { rules: { ...request.rules, groupKeys: [] } };
  const readOnly = await openStore(file, { readOnly: true, eventUpkeep });
  const found = await read(readOnly, changes);
  await readOnly.close();
  const kept = () => countOf('eventTotals');
  const before = kept();
  expect(await using((store) => read(store, changes))).toEqual(found);
  expect(kept()).toBeGreaterThan(before);
});

test('what is read once keeps no totals where there are none, and answers the same', async () => {
  damage('DELETE FROM eventTotals');
  const once = await using(
    async (store) =>
      await store.write(async (tx) => await aggregateOne(store.events, tx, { ...request, isOnce: true })),
  );
  expect(countOf('eventTotals')).toBe(0);
  const again = await using(
    async (store) => await store.write(async (tx) => await aggregateOne(store.events, tx, request)),
  );
  expect(again).toEqual(once);
  expect(countOf('eventTotals')).toBeGreaterThan(0);
});

function countOf(table: string): number {
  const found = withSqlite((database) => database.prepare(`SELECT count(*) AS count FROM ${table}`).get());
  return Number(found?.['count']);
}

test('a property with a text of its own in every event has no column, and is read all the same', async () => {
  const note = `${'n'.repeat(900)}2-3`;
  const propertyFilters = [{ name: 'note', include: [note] }];
  const [readings] = await using((store) => read(store, { rules: { ...request.rules, propertyFilters } }));
  expect(readings?.map(({ count }) => count)).toEqual([1]);
  expect(countOf('eventSegments')).toBeGreaterThan(3);
});

test('keys that came at once are found in their batch, by a process that did not send them, and when they are absorbed', async () => {
  const keys = Array.from({ length: 20 }, (_, index) => `once-${index % 15}`);
  for (let round = 0; round < 6; round += 1) {
    const events = keys.map((key) => eventOf(`${key}-${round}`));
    const first = await using((store) => store.write((tx) => store.events.append(tx, 'org-a', events, () => true)));
    expect(first).toEqual(keys.map((_, index) => (index < 15 ? 'new' : 'same')));
    const again = await using((store) =>
      store.write(async (tx) => {
        const outcomes = [];
        for (const event of events) outcomes.push(...(await store.events.append(tx, 'org-a', [event], () => true)));
        return outcomes;
      }),
    );
    expect(new Set(again)).toEqual(new Set(['same']));
  }
  expect(await faults()).toEqual([]);
});

test('an event that is new and replaced at once is read where it went', async () => {
  const versions = [0, 1, 2].map((tokens) =>
    eventOf('moved', { timestampEpochMs: 5 * day + tokens, propertiesJson: `{"model":"moved","tokens":${tokens}}` }),
  );
  const outcomes = await using((store) => store.write((tx) => store.events.append(tx, 'org-a', versions, () => true)));
  expect(outcomes).toEqual(['new', 'replaced', 'replaced']);
  const [readings] = await using((store) => read(store));
  expect(readings?.find(({ groupValues }) => groupValues['model'] === 'moved')).toMatchObject({ count: 1 });
  expect(await faults()).toEqual([]);
});

test('what is absorbed is what the rows say, whoever has written, replaced or undone them', async () => {
  const stores = [await open(file, { eventUpkeep }), await open(file, { eventUpkeep })] as const;
  let written = 0;
  const oneStep = fc.record({
    store: fc.constantFrom(...stores),
    kind: fc.constantFrom('new', 'new', 'replaced', 'undone'),
    count: fc.constantFrom(1, 5, 15),
    tokens: fc.nat(99),
  });
  const steps = fc.asyncProperty(fc.array(oneStep, { minLength: 5, maxLength: 20 }), async (all) => {
    for (const { store, kind, count, tokens } of all) {
      const begin = kind === 'replaced' ? Math.max(0, written - count) : written;
      const events = Array.from({ length: count }, (_, index) =>
        eventOf(`step-${begin + index}`, { propertiesJson: `{"model":"m","tokens":${tokens}}` }),
      );
      await store
        .write(async (tx) => {
          await store.events.append(tx, 'org-a', events, () => true);
          if (kind === 'undone') throw new Error('undone');
        })
        .catch((error: unknown) => {
          if (kind !== 'undone') throw error;
        });
      if (kind !== 'undone') written = Math.max(written, begin + count);
    }
    expect(await faults()).toEqual([]);
  });
  await fc.assert(steps, { numRuns: 25 });
});

test('a write that is undone leaves nothing that another process could trip over', async () => {
  const [one, other] = [await open(file, { eventUpkeep }), await open(file, { eventUpkeep })];
  const events = (name: string) => Array.from({ length: 45 }, (_, index) => eventOf(`${name}-${index}`));
  for (const round of ['a', 'b', 'c']) {
    const undone = one.write(async (tx) => {
      await one.events.append(tx, 'org-a', events(`undone-${round}`), () => true);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    const kept = await other.write((tx) => other.events.append(tx, 'org-a', events(`kept-${round}`), () => true));
    expect(new Set(kept)).toEqual(new Set(['new']));
    const again = await one.write((tx) => one.events.append(tx, 'org-a', events(`kept-${round}`), () => true));
    expect(new Set(again)).toEqual(new Set(['same']));
  }
  expect(await faults()).toEqual([]);
});

test('what a write reads of its own events is not taken for committed when they are undone', async () => {
  await using(async (store) => {
    const append = async (tx: Transaction, key: string, tokens: number): Promise<void> => {
      const propertiesJson = `{"model":"own","tokens":${tokens}}`;
      const events = Array.from({ length: 41 }, (_, index) => eventOf(`${key}-${index}`, { propertiesJson }));
      await store.events.append(tx, 'org-a', events, () => true);
    };
    const sumIn = async (tx: Transaction): Promise<string | undefined> => {
      const [readings = []] = await aggregateOne(store.events, tx, request);
      return readings.find(({ groupValues }) => groupValues['model'] === 'own')?.quantity.toString();
    };
    const sums: (string | undefined)[] = [];
    const writes = [2, 3].map((tokens) =>
      store.write(async (tx) => {
        sums.push(await sumIn(tx));
        await append(tx, `key-${tokens}`, tokens);
        sums.push(await sumIn(tx));
        if (tokens === 2) throw new Error('undone');
      }),
    );
    expect((await Promise.allSettled(writes)).map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    sums.push(await store.read(sumIn));
    // The one that fails is run twice: with its group, and again in a savepoint.
    expect(sums).toEqual([undefined, '82', undefined, '82', undefined, '123', '123']);
  });
});

test('a name that is undone with its event is not taken for the one that gets its number', async () => {
  await using(async (store) => {
    const namesIn = async (tx: Transaction): Promise<string[]> => {
      const dimensions = { needsEventName: true, propertyKeys: [] };
      const [readings = []] = await aggregateOne(store.events, tx, { ...request, dimensions });
      return [...new Set(readings.map(({ eventName }) => eventName))];
    };
    const send = async (tx: Transaction, eventName: string): Promise<void> => {
      const event = eventOf(eventName, { eventName, propertiesJson: '{"tokens":1}' });
      await store.events.append(tx, 'org-a', [event], () => true);
    };
    const before = await store.read(namesIn);
    const undone = store.write(async (tx) => {
      await send(tx, 'undone');
      expect(await namesIn(tx)).toEqual([...before, 'undone'].toSorted());
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    await store.write(async (tx) => await send(tx, 'kept'));
    expect(await store.read(namesIn)).toEqual([...before, 'kept'].toSorted());
  });
});

describe('days of few events', () => {
  // 150 events, and of no day enough to stand alone.
  const sharing = { ...eventUpkeep, leastKept: 100 };
  const daily = { ...request, boundsEpochMs: Array.from({ length: 60 }, (_, index) => index * day) };
  const send = async (events: readonly NewEvent[], thresholds = sharing) =>
    await using(
      async (store) => await store.write((tx) => store.events.append(tx, 'org-a', events, () => true)),
      thresholds,
    );
  const onDays = (name: string, days: readonly number[]) =>
    days.flatMap((each) =>
      Array.from({ length: 5 }, (_, index) =>
        eventOf(`${name}-${each}-${index}`, {
          timestampEpochMs: each * day + index,
          propertiesJson: `{"model":"shared","tokens":${each}}`,
        }),
      ),
    );
  const countsByDay = async () => {
    const readings = await using(async (store) => await read(store, daily), sharing);
    return readings.map((each) => each.find(({ groupValues }) => groupValues['model'] === 'shared')?.count ?? 0);
  };
  const spans = () => {
    const rows = withSqlite((database) =>
      database.prepare('SELECT day, days FROM eventSegments ORDER BY day, part').all(),
    );
    return rows.map((row) => [Number(row['day']), Number(row['days'])]);
  };

  test('share a segment of eight days at most, which never reaches into the next', async () => {
    await send(onDays('later', [40]));
    await send(onDays('first', [20, 21, 22, 23, 24, 25, 26, 27, 28]));
    expect(spans().filter(([first = 0]) => first >= 20)).toEqual([
      [20, 8],
      [28, 1],
      [40, 1],
    ]);
    await send(onDays('between', [38, 39, 40, 41]));
    await send(onDays('rest', [30, 31, 42, 43]));
    expect(spans().filter(([first = 0]) => first >= 20)).toEqual([
      [20, 8],
      [28, 4],
      [38, 2],
      [40, 4],
    ]);
    const expected = Array.from({ length: 59 }, (_, each) => {
      if (each === 40) return 10;
      return (each >= 20 && each <= 28) || [30, 31, 38, 39, 41, 42, 43].includes(each) ? 5 : 0;
    });
    expect(await countsByDay()).toEqual(expected);
    expect(await faults()).toEqual([]);
  });

  test('give up what is replaced, on whichever days of a segment it was', async () => {
    const days = [20, 21, 22, 23, 24, 25, 26, 27];
    await send(onDays('moved', days));
    await send(onDays('more', days));
    const moved = onDays('moved', days).map((event) => ({ ...event, timestampEpochMs: 35 * day }));
    expect(new Set(await send(moved))).toEqual(new Set(['replaced']));
    expect(await countsByDay()).toEqual(
      Array.from({ length: 59 }, (_, each) => (each === 35 ? 40 : days.includes(each) ? 5 : 0)),
    );
    expect(await faults()).toEqual([]);
  });

  test('make a segment that can be seen to lack one of its days', async () => {
    await send(onDays('first', [20, 21, 22, 23, 24, 25, 26, 27]));
    damage('UPDATE eventSegments SET days = 7 WHERE day = 20');
    expect(await faults()).toEqual(['rollUp']);
  });

  test('share a segment that an older version made of one day', async () => {
    await send(onDays('old', [20, 21, 22, 23, 24, 25, 26, 27]), { ...sharing, leastKept: 1 });
    withSqlite((old) => {
      old.exec('ALTER TABLE eventSegments DROP COLUMN days');
      for (const statement of eventDays.statements) old.exec(statement);
    });
    const before = await countsByDay();
    expect(before.slice(20, 28)).toEqual([5, 5, 5, 5, 5, 5, 5, 5]);
    await send(onDays('new', [22, 27, 28, 29, 30, 31, 32, 33]));
    expect(spans().filter(([first = 0]) => first >= 26)).toEqual([
      [26, 1],
      [27, 7],
    ]);
    expect((await countsByDay()).slice(20, 34)).toEqual([5, 5, 10, 5, 5, 5, 5, 10, 5, 5, 5, 5, 5, 5]);
    expect(await faults()).toEqual([]);
  });
});
