import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { AggregationType } from '../../src/operations/wire-values.ts';
import type { PropertyValue } from '../../src/calculation/metering.ts';
import { decimalText } from '../../src/calculation/money.ts';
import { createUsageFold, type MeterRules, noDimensions } from '../../src/calculation/usage-fold.ts';
import { createUsageTracer, type TraceableEvent } from '../../src/calculation/usage-trace.ts';

const everything = { eventTypeFilter: { include: [], exclude: [] }, propertyFilters: [], groupKeys: [] };

function meter(aggregationType: AggregationType, rules: Partial<MeterRules> = {}): MeterRules {
  return { ...everything, aggregationType, aggregationKey: 'tokens', ...rules };
}

function traced(rules: MeterRules, events: readonly Partial<TraceableEvent>[]) {
  const tracer = createUsageTracer(rules);
  for (const [index, event] of events.entries()) {
    tracer.add({
      idempotencyKey: `e${index + 1}`,
      eventName: 'call',
      timestampEpochMs: index,
      properties: {},
      ...event,
    });
  }
  return tracer.read();
}

const tokens = (...values: readonly PropertyValue[]) => values.map((value) => ({ properties: { tokens: value } }));

describe('the event that decides', () => {
  test.each<[AggregationType, PropertyValue[], string | undefined]>([
    ['MAX', [3, 9, 4], 'e2'],
    ['MIN', [3, 9, 4], 'e1'],
    ['MAX', [7, '7.0', 7], 'e1'],
    ['MIN', ['7.0', 7, 7], 'e1'],
    ['MIN', [-1, 'x', -2], 'e3'],
    ['MAX', ['x'], undefined],
    ['SUM', [3, 9], undefined],
    ['COUNT', [3, 9], undefined],
  ])('of a %s of %j is %s: the first with that value', (type, values, expected) => {
    expect(traced(meter(type), tokens(...values)).groups[0]?.decidedBy?.idempotencyKey).toBe(expected);
  });
});

test('an event is counted, skipped, without the key or not matched, and is one of these alone', () => {
  const trace = traced(meter('SUM', { eventTypeFilter: { include: ['call'], exclude: [] } }), [
    ...tokens(5, 'many', true, '1e40', 0.5),
    { properties: {} },
    { properties: { model: 'large' } },
    { eventName: 'other', properties: { tokens: 1 } },
    { eventName: 'other', properties: {} },
  ]);
  expect(trace.matchedCount).toBe(7);
  expect(trace.unmatchedCount).toBe(2);
  expect(
    trace.groups.map(({ count, skippedCount, withoutKeyCount }) => [count, skippedCount, withoutKeyCount]),
  ).toEqual([[2, 3, 2]]);
  expect(trace.groups.map(({ quantity }) => decimalText(quantity))).toEqual(['5.5']);
});

test('groups are in one order, whatever that of the events', () => {
  const events = ['small', 'large', 'small', ''].map((model) => ({ properties: { tokens: 1, model } }));
  const modelsOf = (list: readonly Partial<TraceableEvent>[]) =>
    traced(meter('SUM', { groupKeys: ['model'] }), list).groups.map(({ groupValues }) => groupValues['model']);
  for (const list of [events, events.toReversed()]) expect(modelsOf(list)).toEqual(['', 'large', 'small']);
});

test('a skipped event says why', () => {
  const { skipped } = traced(meter('SUM'), tokens('many', null, '1e40', `0.${'0'.repeat(40)}1`, '12'));
  expect(skipped.map(({ idempotencyKey, reason }) => `${idempotencyKey} ${reason}`)).toEqual([
    'e1 is not a number',
    'e2 is not a number',
    'e3 is out of range: 1e40 or more, or more than 40 decimals',
    'e4 is out of range: 1e40 or more, or more than 40 decimals',
  ]);
});

test('COUNT takes every event, whatever its properties', () => {
  const { groups } = traced(meter('COUNT'), [...tokens('many'), { properties: {} }]);
  expect(groups.map(({ count, skippedCount, withoutKeyCount }) => [count, skippedCount, withoutKeyCount])).toEqual([
    [2, 0, 0],
  ]);
});

test('samples hold the first five; the first and the last event are those that were counted', () => {
  const trace = traced(meter('SUM'), tokens('x', 1, 2, 3, 4, 5, 6, 'x', 'x', 'x', 'x', 'x'));
  const [group] = trace.groups;
  expect(group?.sample.map(({ idempotencyKey }) => idempotencyKey)).toEqual(['e2', 'e3', 'e4', 'e5', 'e6']);
  expect([group?.first?.idempotencyKey, group?.last?.idempotencyKey]).toEqual(['e2', 'e7']);
  expect(trace.skipped).toHaveLength(5);
});

test('groups and quantities are those that metering reads from the same events', () => {
  const value = fc.oneof(
    fc.integer({ min: -50, max: 50 }),
    fc.constantFrom<PropertyValue>('7', '0.25', 'many', true, null, '1e20'),
  );
  const event = fc.record({
    eventName: fc.constantFrom('call', 'other'),
    properties: fc.record({ tokens: value, model: fc.constantFrom('large', 'small', '') }, { requiredKeys: [] }),
  });
  fc.assert(
    fc.property(
      fc.constantFrom<AggregationType>('SUM', 'COUNT', 'MAX', 'MIN'),
      fc.array(event, { maxLength: 30 }),
      (type, events) => {
        const rules = meter(type, { groupKeys: ['model'], eventTypeFilter: { include: [], exclude: ['other'] } });
        const fold = createUsageFold(rules, noDimensions);
        for (const each of events) fold.add(each, 0);
        const figures = (groups: readonly { groupValues: unknown; quantity: { toFixed(): string }; count: number }[]) =>
          groups.map((group) => JSON.stringify([group.groupValues, group.quantity.toFixed(), group.count])).toSorted();
        const trace = traced(rules, events);
        expect(figures(trace.groups)).toEqual(figures(fold.readings(0, 1)));
      },
    ),
    { numRuns: 100 },
  );
});
