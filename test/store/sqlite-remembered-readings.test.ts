/** What a meter reads is a recount of its moment, whatever a process remembers of what was read, written or undone before. */

import fc from 'fast-check';
import { sql } from 'kysely';
import { expect, test } from 'vitest';

import type { MeterRules } from '../../src/calculation/usage-fold.ts';
import type { Transaction } from '../../src/store/database.ts';
import type { EventAggregation, NewEvent } from '../../src/store/event-store.ts';
import type { Store } from '../../src/store/store.ts';
import { day } from './event-stories.ts';
import { naiveReadings } from './naive-readings.ts';
import { watchStatements } from '../reliability/statements.ts';
import { aggregateOne, eventOf, insertTwoOrganizations, rowsOfReadings, sumOfTokens } from './rows.ts';
import { file, open, useTestFile, withSqlite } from './test-file.ts';

useTestFile();

/** A reading of a whole day keeps totals. */
const leastKept = 1;

/** So many meters that again and again one is read for the first time. */
const question = fc
  .record({
    aggregationType: fc.constantFrom('SUM', 'MAX', 'MIN', 'COUNT'),
    include: fc.subarray(['a', 'b', 'c']),
    groupKeys: fc.subarray(['model']),
    needsEventName: fc.boolean(),
    boundsEpochMs: fc.constantFrom(
      [0, 3 * day],
      [0, day, 3 * day],
      [day / 2, 3 * day],
      [day, 2 * day],
      [0, day / 2, day, 2 * day],
    ),
    isOnce: fc.boolean(),
    isAskedTwice: fc.boolean(),
  })
  .map(({ aggregationType, include, groupKeys, needsEventName, ...asked }) => {
    const rules: MeterRules = {
      aggregationType,
      aggregationKey: aggregationType === 'COUNT' ? null : 'tokens',
      eventTypeFilter: { include, exclude: [] },
      propertyFilters: [],
      groupKeys,
    };
    const dimensions = { needsEventName, propertyKeys: [] };
    return { orgId: 'org-a', customerId: 'customer', isStanding: true, rules, dimensions, ...asked };
  });

const sent = fc
  .record({
    key: fc.nat(40),
    eventName: fc.constantFrom('a', 'b', 'c', 'd'),
    timestampEpochMs: fc.nat(5).map((half) => (half * day) / 2),
    tokens: fc.integer({ min: 1, max: 9 }),
    model: fc.constantFrom('x', 'y'),
  })
  .map(({ key, tokens, model, ...changes }) =>
    eventOf(`k${key}`, { ...changes, propertiesJson: `{"model":"${model}","tokens":${tokens}}` }),
  );

const part = fc.oneof(
  { weight: 4, arbitrary: fc.record({ batch: fc.array(sent, { minLength: 1, maxLength: 6 }) }) },
  { weight: 8, arbitrary: fc.record({ asked: question }) },
  { weight: 3, arbitrary: fc.record({ askedElsewhere: question }) },
  { weight: 1, arbitrary: fc.constant({ isRebuilt: true }) },
);

/** What a write does on its way, and how it ends. */
const change = fc.record({
  parts: fc.array(part, { minLength: 1, maxLength: 4 }),
  end: fc.constantFrom('kept', 'kept', 'undone', 'undone', 'refused'),
});

/** Which of two processes does it. */
const isFirst = fc.boolean();
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ isFirst, asked: fc.array(question, { minLength: 1, maxLength: 3 }) }) },
  { weight: 4, arbitrary: fc.record({ isFirst, changes: fc.tuple(change) }) },
  // These share a transaction.
  { weight: 1, arbitrary: fc.record({ isFirst, changes: fc.array(change, { minLength: 2, maxLength: 3 }) }) },
);

type Question = EventAggregation & { readonly isAskedTwice: boolean };
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;
/** The effective events, by key. */
type Events = ReadonlyMap<string, NewEvent>;

async function ask(tx: Transaction, store: Store, asked: Question): Promise<string[][]> {
  const once = async () => rowsOfReadings(await aggregateOne(store.events, tx, asked));
  const found = await once();
  if (asked.isAskedTwice) expect(await once()).toEqual(found);
  return found;
}

const recount = (events: Events, asked: Question) => naiveReadings([...events.values()], asked);

const withSent = (events: Events, batch: readonly NewEvent[]): Events =>
  new Map([...events, ...batch.map((event) => [event.idempotencyKey, event] as const)]);

/** SQLite refuses the commit, after all has been done. */
async function spoilCommit(tx: Transaction): Promise<void> {
  await sql`PRAGMA defer_foreign_keys = ON`.execute(tx);
  await sql`INSERT INTO "eventTotals" VALUES (-1, -1, 0, '') ON CONFLICT DO NOTHING`.execute(tx);
}

const meantErrors = /^Error: undone$|FOREIGN KEY constraint failed$/;

/** Makes changes at the same time; gives the events that there are then. */
async function make(store: Store, changes: readonly Change[], { other, before }: Surroundings): Promise<Events> {
  const isAlone = changes.length === 1;
  const ended = await Promise.allSettled(
    changes.map(({ parts, end }) =>
      store.write(async (tx) => {
        let events = before;
        for (const each of parts) {
          if ('asked' in each) {
            const found = await ask(tx, store, each.asked);
            // Otherwise what another has just written may count as well.
            if (isAlone) expect(found).toEqual(recount(events, each.asked));
          } else if ('askedElsewhere' in each) {
            const found = await other.read((elsewhere) => ask(elsewhere, other, each.askedElsewhere));
            expect(found).toEqual(recount(before, each.askedElsewhere));
          } else if ('batch' in each) {
            await store.events.append(tx, 'org-a', each.batch, () => true);
            events = withSent(events, each.batch);
          } else await store.events.upkeep?.rebuild(tx);
        }
        if (end === 'undone') throw new Error('undone');
        if (end === 'refused') await spoilCommit(tx);
      }),
    ),
  );
  for (const outcome of ended) {
    if (outcome.status === 'rejected') expect(String(outcome.reason)).toMatch(meantErrors);
  }
  return changes
    .filter((_change, place) => ended[place]?.status === 'fulfilled')
    .flatMap(({ parts }) => parts)
    .reduce((events, each) => ('batch' in each ? withSent(events, each.batch) : events), before);
}

interface Surroundings {
  /** The same database, in another process. */
  readonly other: Store;
  readonly before: Events;
}

test.each([
  { longestTail: 8, held: 'segments soon absorb what is sent' },
  { longestTail: 256, held: 'what is sent stays in a long tail' },
])(
  'a meter reads what the events of its moment come to, while two processes write, read and take back: $held',
  async ({ longestTail }) => {
    const eventUpkeep = { longestTail, leastKept };
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40, size: 'max' }), async (steps) => {
        run += 1;
        const [one, two] = [
          await open(`${file}.${run}`, { eventUpkeep }),
          await open(`${file}.${run}`, { eventUpkeep }),
        ];
        await one.write(insertTwoOrganizations);
        let events: Events = new Map();
        for (const done of steps) {
          const [store, other] = done.isFirst ? [one, two] : [two, one];
          if ('changes' in done) events = await make(store, done.changes, { other, before: events });
          else {
            for (const asked of done.asked)
              expect(await store.read((tx) => ask(tx, store, asked))).toEqual(recount(events, asked));
          }
        }
        await Promise.all([one.close(), two.close()]);
      }),
      { numRuns: 20 },
    );
  },
  120_000,
);

/** Meters of a customer whose tail has many events, in two days, that count them one by one. */
async function openLongTail() {
  const store = await open(file, { eventUpkeep: { longestTail: 320, leastKept } });
  await store.write(insertTwoOrganizations);
  let sent = 0;
  const send = async (tx: Transaction, days: readonly number[]) => {
    const events = days.map((each) =>
      eventOf(`k${(sent += 1)}`, { timestampEpochMs: each * day, propertiesJson: '{"tokens":1}' }),
    );
    await store.events.append(tx, 'org-a', events, () => true);
  };
  const dimensions = { needsEventName: false, propertyKeys: [] };
  const of = { orgId: 'org-a', customerId: 'customer', boundsEpochMs: [0, day, 2 * day], isStanding: true };
  const sums = async (tx: Transaction) => {
    let hasReadTail = false;
    const stop = watchStatements((sql) => (hasReadTail ||= sql.includes('"eventTail"')));
    const days = await aggregateOne(store.events, tx, { ...of, rules: sumOfTokens, dimensions });
    stop();
    return [...days.map(([reading]) => Number(reading?.quantity ?? 0)), hasReadTail ? 'tail' : 'since'];
  };
  return { store, send, sums };
}

const nine = [0, 0, 0, 0, 0, 1, 1, 1, 1];

test('a long tail is read when a second reader asks, and then only what has come since', async () => {
  const { store, send, sums } = await openLongTail();
  const shown: unknown[] = [];
  const show = async () => shown.push(await store.read(sums));
  await store.write((tx) => send(tx, nine));
  for (const _time of ['once', 'twice']) await show();
  await store.write((tx) => send(tx, [0]));
  for (const _time of ['once', 'twice', 'thrice']) await show();
  expect(shown).toEqual([
    [5, 4, 'tail'],
    [5, 4, 'tail'],
    [6, 4, 'tail'],
    [6, 4, 'tail'],
    [6, 4, 'since'],
  ]);
});

test('what a write has sent is read, and kept once it is committed, in whatever order of time it comes', async () => {
  const { store, send, sums } = await openLongTail();
  await store.write((tx) => send(tx, [...nine, 0]));
  for (const _time of ['once', 'twice']) await store.read(sums);
  const sentAndSummed = async (days: readonly number[]) =>
    await store.write(async (tx) => {
      await send(tx, days);
      return await sums(tx);
    });
  expect(await sentAndSummed([1, 0])).toEqual([7, 5, 'since']);
  expect(await sentAndSummed([1, 0])).toEqual([8, 6, 'since']);
  expect(await sentAndSummed([...nine, ...nine])).toEqual([18, 14, 'since']);
  expect(await sentAndSummed([0])).toEqual([19, 14, 'since']);
});

test('what a write has sent in several steps, and read, is not kept where it is undone', async () => {
  const { store, send, sums } = await openLongTail();
  await store.write((tx) => send(tx, [...nine, 0]));
  for (const _time of ['once', 'twice']) await store.read(sums);
  const writing = store.write(async (tx) => {
    for (const each of [0, 1, 1]) await send(tx, [each]);
    expect(await sums(tx)).toEqual([7, 6, 'since']);
    throw new Error('undone');
  });
  await expect(writing).rejects.toThrow('undone');
  expect(await store.read(sums)).toEqual([6, 4, 'since']);
});

test('a tail is read anew after a rebuild, even if all that tells a change has begun again', async () => {
  const { store, send, sums } = await openLongTail();
  const rebuild = async () => await store.write(async (tx) => await store.events.upkeep?.rebuild(tx));
  await rebuild();
  await store.write((tx) => send(tx, [...nine, 0]));
  for (const _time of ['once', 'twice']) await store.read(sums);
  withSqlite((database) => database.exec('DELETE FROM "eventUpkeep"'));
  await rebuild();
  // As many new ones as replacements: they count as many changes as there were before.
  const again = [...nine, 0].map((each, place) =>
    eventOf(`again${place}`, { timestampEpochMs: each * day, propertiesJson: '{"tokens":1}' }),
  );
  const replaced = again.map((each) => ({ ...each, propertiesJson: '{"tokens":2}' }));
  await store.write((tx) => store.events.append(tx, 'org-a', [...again, ...replaced], () => true));
  expect((await store.read(sums)).slice(0, 2)).toEqual([6 + 12, 4 + 8]);
});

/** Five events an hour of a customer, for a day, which a segment absorbs at once, and what meters read of it. */
async function openAbsorbed() {
  const eventUpkeep = { longestTail: 1, leastKept };
  const [one, two] = [await open(file, { eventUpkeep }), await open(file, { eventUpkeep })];
  await one.write(insertTwoOrganizations);
  const send = async (tokens: number, name = 'k') => {
    const events = Array.from({ length: 120 }, (_, place) =>
      eventOf(`${name}${place}`, { timestampEpochMs: (place * day) / 120, propertiesJson: `{"tokens":${tokens}}` }),
    );
    await one.write((tx) => one.events.append(tx, 'org-a', events, () => true));
  };
  /** A whole day, whole hours of it, and a part of one: of totals, of those of hours, and of columns. */
  const sumsIn = async (tx: Transaction, { events }: Store) => {
    const sums = [];
    for (const to of [day, day / 2, day / 50]) {
      const of = { orgId: 'org-a', customerId: 'customer', boundsEpochMs: [0, to], isStanding: true };
      const dimensions = { needsEventName: false, propertyKeys: [] };
      const [[reading] = []] = await aggregateOne(events, tx, { ...of, rules: sumOfTokens, dimensions });
      sums.push(Number(reading?.quantity ?? 0));
    }
    return sums;
  };
  const sums = async (store: Store) => await store.read((tx) => sumsIn(tx, store));
  await send(1);
  // Totals of hours are looked for once totals of days are kept for the same rules, which the next write does.
  await sums(one);
  await one.write(async () => await Promise.resolve());
  return { one, two, send, sumsIn, sums };
}

test('totals and columns of days are read anew after a rebuild that had to number their revisions anew', async () => {
  const { one, two, send, sums } = await openAbsorbed();
  for (const store of [one, two, one, two]) expect(await sums(store)).toEqual([120, 60, 3]);
  await send(2);
  withSqlite((database) => database.exec('DELETE FROM "eventUpkeep"'));
  await one.write(async (tx) => await one.events.upkeep?.rebuild(tx));
  for (const store of [one, two]) expect(await sums(store)).toEqual([240, 120, 6]);
});

test.each([
  ['a rebuild', async (tx: Transaction, { events }: Store) => await events.upkeep?.rebuild(tx)],
  [
    'a replacement',
    async (tx: Transaction, { events }: Store) =>
      await events.append(tx, 'org-a', [eventOf('k1', { propertiesJson: '{"tokens":9}' })], () => true),
  ],
])('what was read behind %s that is undone is not taken for what is there then', async (_what, change) => {
  const { one, two, send, sumsIn, sums } = await openAbsorbed();
  const undone = one.write(async (tx) => {
    await change(tx, one);
    for (const _time of ['once', 'twice']) await sumsIn(tx, one);
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  expect(await sums(one)).toEqual([120, 60, 3]);
  // Each raises the revision by one, and so comes to those that were undone.
  for (const times of [2, 3]) {
    await send(1, `other${times}-`);
    for (const store of [one, two]) expect(await sums(store)).toEqual([120 * times, 60 * times, 3 * times]);
  }
});
