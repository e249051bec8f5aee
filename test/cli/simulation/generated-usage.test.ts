import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { generatedCount, generatedUsage } from '../../../src/cli/simulation/generated-usage.ts';

const options = { seed: 1, index: 0, start: '2026-01-01T00:00:00.000Z', until: '2026-02-01T00:00:00.000Z' };
const entry = { customer: 'acme', eventName: 'request' };
const eventsOf = (more: Partial<Parameters<typeof generatedUsage>[0]>, seed = 1) => [
  ...generatedUsage({ ...entry, perDay: '10', ...more }, { ...options, seed }),
];

describe('made-up usage', () => {
  test.each([
    ['10', 310],
    ['0.5', 15],
    ['0.1', 3],
    ['0', 0],
    ['1.9', 58],
  ])('of %s a day is %i events in 31 days', (perDay, count) => {
    expect(eventsOf({ perDay })).toHaveLength(count);
    expect(generatedCount({ ...entry, perDay }, options)).toBe(count);
  });

  test('of a whole rate has that many events on each day, in order of time', () => {
    const days = Map.groupBy(eventsOf({}), ({ timestamp }) => timestamp.slice(0, 10));
    expect([...days.keys()]).toHaveLength(31);
    expect(new Set([...days.values()].map(({ length }) => length))).toEqual(new Set([10]));
    const instants = eventsOf({}).map(({ timestamp }) => timestamp);
    expect(instants).toEqual(instants.toSorted());
  });

  test('lies from its first instant to its last, which is excluded', () => {
    const [from, to] = ['2026-01-10T12:00:00.000Z', '2026-01-12T18:00:00.000Z'];
    const instants = eventsOf({ from, to, perDay: '1000' }).map(({ timestamp }) => timestamp);
    expect(instants.every((at) => at >= from && at < to)).toBe(true);
    // Two whole days, and about a quarter of the third.
    expect(instants.length).toBeGreaterThan(2_200);
    expect(instants.length).toBeLessThan(2_300);
  });

  test('is the same for the same seed, and other usage for another', () => {
    const properties = { tokens: { from: '1', to: '1000' }, model: { oneOf: ['small', 'large'] } };
    expect(eventsOf({ properties })).toEqual(eventsOf({ properties }));
    expect(eventsOf({ properties }, 2)).not.toEqual(eventsOf({ properties }));
    const besides = [...generatedUsage({ ...entry, perDay: '10', properties }, { ...options, index: 1 })];
    const instantsOf = (events: readonly { readonly timestamp: string }[]) => events.map(({ timestamp }) => timestamp);
    expect(instantsOf(besides)).not.toEqual(instantsOf(eventsOf({ properties })));
  });

  test('has no event twice', () => {
    const keys = eventsOf({}).map(({ idempotencyKey }) => idempotencyKey);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('takes texts as often as they weigh', () => {
    const events = eventsOf({ perDay: '1000', properties: { model: { oneOf: { small: 3, large: 1 } } } });
    const large = events.filter(({ properties }) => properties['model'] === 'large').length;
    expect(large / events.length).toBeGreaterThan(0.24);
    expect(large / events.length).toBeLessThan(0.26);
  });

  test('takes decimals from a range, both ends included and every digit kept', () => {
    const properties = { hours: { from: '0.1', to: '0.3', decimals: 1 } };
    const seen = new Set(eventsOf({ properties }).map((event) => JSON.stringify(event.properties['hours'])));
    expect([...seen].toSorted()).toEqual(['0.1', '0.2', '0.3']);
  });

  test('never leaves its range, whatever the range and the seed', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 0, max: 1_000_000 }), fc.nat(), (least, width, seed) => {
        const properties = { value: { from: String(least), to: String(least + width) } };
        const values = eventsOf({ perDay: '1', properties }, seed).map((event) => Number(event.properties['value']));
        expect(values.every((value) => value >= least && value <= least + width)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});
