/** A cut segment is read by totals of its hours, and by rows before and after them: always a recount of its events. */

import fc from 'fast-check';
import { expect, test } from 'vitest';

import type { MeterRules } from '../../src/calculation/usage-fold.ts';
import { decodeSegment, encodeSegment } from '../../src/store/backends/sqlite/events/segment-bytes.ts';
import { createSegmentQuery } from '../../src/store/backends/sqlite/events/segment-fold.ts';
import { appendEvents, emptySegment } from '../../src/store/backends/sqlite/events/segment.ts';
import { computeHourlyTotals } from '../../src/store/backends/sqlite/events/totals.ts';
import { sortedByHour } from '../../src/store/backends/sqlite/events/segment-hours.ts';
import type { NewEvent } from '../../src/store/event-store.ts';
import { day } from './event-stories.ts';
import { naiveReadings } from './naive-readings.ts';
import { eventOf, insertTwoOrganizations, rowsOfReadings, sumOfTokens } from './rows.ts';
import { file, open, useTestFile } from './test-file.ts';

useTestFile();

const hour = 3_600_000;
/** Every event is soon part of a segment, and totals are kept of each, so twenty events are enough for those of hours. */
const eventUpkeep = { longestTail: 1, leastKept: 1 };

/** At, just before, just after and between few hours of two days, so that an hour has many events. */
const instant = fc
  .tuple(fc.constantFrom(1, 2, 4, 23, 24, 30), fc.constantFrom(-1, 0, 1, hour / 3))
  .map(([hours, milliseconds]) => hours * hour + milliseconds);

const newEvent = fc
  .record({
    key: fc.nat(2_000),
    timestampEpochMs: instant,
    eventName: fc.constantFrom('a', 'a', 'b'),
    contractId: fc.constantFrom(null, null, null, 'contract'),
    model: fc.constantFrom('x', 'y'),
    tokens: fc.constantFrom('1', '2.5', '0.125', '-3', '9007199254740991', '"7"', '"none"'),
  })
  .map(({ key, model, tokens, ...changes }) =>
    eventOf(`k${key}`, {
      ...changes,
      isLate: key % 10 === 0,
      propertiesJson: `{"model":"${model}","tokens":${tokens}}`,
    }),
  );
const batch = fc.array(newEvent, { minLength: 200, maxLength: 300, size: 'max' });
const correction = fc.array(newEvent, { maxLength: 4 });

const meter = fc
  .record({
    aggregationType: fc.constantFrom('SUM', 'COUNT', 'MAX', 'MIN'),
    include: fc.constantFrom([], ['a']),
    groupKeys: fc.constantFrom([], [], ['model']),
  })
  .map(({ aggregationType, include, groupKeys }): MeterRules => ({
    aggregationType,
    aggregationKey: aggregationType === 'COUNT' ? null : 'tokens',
    eventTypeFilter: { include, exclude: [] },
    propertyFilters: [],
    groupKeys,
  }));

const question = fc
  .record({
    bounds: fc.uniqueArray(instant, { minLength: 2, maxLength: 4 }),
    contractId: fc.constantFrom(undefined, undefined, 'contract'),
    /** Where events that name no contract are another's. */
    elsewhere: fc.constantFrom([], [[0, day]], [[0, 2 * hour]]),
  })
  .map(({ bounds, contractId, elsewhere }) => ({
    boundsEpochMs: bounds.toSorted((a, b) => a - b),
    contract: contractId && {
      contractId,
      unassignedOutside: elsewhere.map(([fromEpochMs, toEpochMs]) => ({ fromEpochMs, toEpochMs })),
    },
  }));

test('a range that cuts days reads what their events in it come to, also after corrections, undone or not', async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      batch,
      fc.array(meter, { minLength: 1, maxLength: 3 }),
      fc.array(fc.tuple(question, correction, correction), { minLength: 2, maxLength: 6 }),
      async (first, meters, steps) => {
        run += 1;
        const store = await open(`${file}.${run}`, { eventUpkeep });
        await store.write(insertTwoOrganizations);
        const effective = new Map<string, NewEvent>();
        const send = async (events: readonly NewEvent[]) => {
          await store.write((tx) => store.events.append(tx, 'org-a', events, () => true));
          for (const each of events) effective.set(each.idempotencyKey, each);
        };
        const of = {
          orgId: 'org-a',
          customerId: 'customer',
          dimensions: { needsEventName: false, propertyKeys: [] },
          isStanding: true,
        };
        await send(first);
        // Totals of hours are looked for once totals of days are kept for the same rules, which the next write does.
        await store.read((tx) => store.events.aggregate(tx, { ...of, boundsEpochMs: [0, 3 * day] }, meters));
        for (const [asked, events, undone] of steps) {
          const takenBack = store.write(async (tx) => {
            await store.events.append(tx, 'org-a', undone, () => true);
            await store.events.aggregate(tx, { ...of, ...asked }, meters);
            throw new Error('undone');
          });
          await expect(takenBack).rejects.toThrow('undone');
          await send(events);
          const counted = meters.map((rules) => naiveReadings([...effective.values()], { ...of, ...asked, rules }));
          for (const _time of ['computed', 'remembered']) {
            const found = await store.read((tx) => store.events.aggregate(tx, { ...of, ...asked }, meters));
            expect(found.map(rowsOfReadings)).toEqual(counted);
          }
        }
        await store.close();
      },
    ),
    { numRuns: 60 },
  );
});

test('rows are sorted by hour, in the order of their arrival; an hour may have none', () => {
  const rowsOf = sortedByHour(Float64Array.of(5 * hour, 0, 2 * hour - 1, 5 * hour - 1, 2 * hour, hour, 1));
  expect([0, 1, 2, 3, 4, 5, 6].map((each) => [...rowsOf(each)])).toEqual([[1, 6], [2, 5], [4], [], [3], [0], []]);
});

test.each([
  { models: 2, worth: 24, why: 'a twentieth of the rows' },
  { models: 40, worth: 0, why: 'nearly as many as rows' },
])('totals of hours are kept where they are fewer than rows: $why', async ({ models, worth }) => {
  const events = Array.from({ length: 960 }, (_, place) => ({
    eventSeq: place,
    millisecond: (place * day) / 960,
    nameId: 1,
    contractSeq: 0,
    isLate: false,
    propertiesJson: `{"model":"m${place % models}","tokens":1}`,
  }));
  const segment = decodeSegment(encodeSegment(appendEvents(emptySegment, events)));
  const rules = { ...sumOfTokens, groupKeys: ['model'] };
  const query = createSegmentQuery({ rules, dimensions: { needsEventName: false, propertyKeys: [] } }, String);
  expect(computeHourlyTotals(segment, query, 24)).toHaveLength(worth);
});
