import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decimalText } from '../../src/calculation/money.ts';
import type { MeteredEvent } from '../../src/calculation/metering.ts';
import { createUsageFold, mergeReadings, type MeterRules, noDimensions } from '../../src/calculation/usage-fold.ts';
import type { UsageReading } from '../../src/calculation/usage-atoms.ts';

const meter: MeterRules = {
  aggregationType: 'SUM',
  aggregationKey: 'tokens',
  eventTypeFilter: { include: [], exclude: [] },
  propertyFilters: [],
  groupKeys: [],
};

function event(properties: MeteredEvent['properties'], eventName = 'call'): MeteredEvent {
  return { eventName, properties };
}

/** Each reading as `group/event/properties: quantity of count`. */
function rowsOf(readings: readonly UsageReading[]): string[] {
  return readings.map(({ groupValues, eventName, properties, quantity, count }) => {
    const dimensions = [Object.values(groupValues).join(','), eventName, Object.entries(properties).join(',')];
    return `${dimensions.join('/')}: ${decimalText(quantity)} of ${count}`;
  });
}

function fold(rules: Partial<MeterRules>, events: readonly MeteredEvent[], dimensions = noDimensions): string[] {
  const usage = createUsageFold({ ...meter, ...rules }, dimensions);
  for (const each of events) usage.add(each, 0);
  return rowsOf(usage.readings(0, 1));
}

describe('a fold of events', () => {
  test('reads nothing where there was nothing', () => {
    expect(fold({}, [])).toEqual([]);
  });

  test.each([
    ['SUM', '//: 6 of 3'],
    ['MAX', '//: 3 of 3'],
    ['MIN', '//: 1 of 3'],
  ] as const)('of %s passes over events without the key, and over values that are no numbers', (type, row) => {
    const events = [
      event({ tokens: 2 }),
      event({}),
      event({ tokens: '3' }),
      event({ tokens: 'many' }),
      event({ tokens: 1 }),
    ];
    expect(fold({ aggregationType: type }, events)).toEqual([row]);
  });

  test('of COUNT counts every event that matches', () => {
    expect(fold({ aggregationType: 'COUNT', aggregationKey: null }, [event({}), event({ tokens: 'x' })])).toEqual([
      '//: 2 of 2',
    ]);
  });

  test('says whether the meter matched', () => {
    const usage = createUsageFold({ ...meter, eventTypeFilter: { include: ['call'], exclude: [] } }, noDimensions);
    expect([usage.add(event({}), 0), usage.add(event({}, 'other'), 0)]).toEqual([true, false]);
  });

  test('makes a group of its own of events that lack a group key, with those whose value is empty', () => {
    const events = [event({ tokens: 1, model: 'large' }), event({ tokens: 2 }), event({ tokens: 4, model: '' })];
    expect(fold({ groupKeys: ['model'] }, events)).toEqual(['large//: 1 of 1', '//: 6 of 2']);
  });

  test('tells apart only what it is asked to', () => {
    const events = [
      event({ tokens: 1, team: 'red' }),
      event({ tokens: 2, team: 'blue' }, 'chat'),
      event({ tokens: 4 }, 'chat'),
    ];
    expect(fold({}, events)).toEqual(['//: 7 of 3']);
    expect(fold({}, events, { needsEventName: true, propertyKeys: [] })).toEqual(['/call/: 1 of 1', '/chat/: 6 of 2']);
    expect(fold({}, events, { needsEventName: false, propertyKeys: ['team'] })).toEqual([
      '//team,red: 1 of 1',
      '//team,blue: 2 of 1',
      '//: 4 of 1',
    ]);
  });

  test('of parts of the events comes together by group, event name and property', () => {
    const events = [
      event({ tokens: 1, model: 'large', team: 'red' }),
      event({ tokens: 2, model: 'small', team: 'red' }),
      event({ tokens: 4, model: 'large', team: 'red' }, 'chat'),
      event({ tokens: 8, model: 'large', team: 'blue' }),
    ];
    const dimensions = { needsEventName: true, propertyKeys: ['team'] };
    const usage = createUsageFold({ ...meter, groupKeys: ['model'] }, dimensions);
    for (const each of events) usage.add(each, 0);
    const readings = usage.readings(0, 1);
    expect(rowsOf(mergeReadings('SUM', [...readings, ...readings.toReversed()]))).toEqual([
      'large/call/team,red: 2 of 2',
      'small/call/team,red: 4 of 2',
      'large/chat/team,red: 8 of 2',
      'large/call/team,blue: 16 of 2',
    ]);
  });

  test('does not take a missing property for an empty one', () => {
    const events = [event({ tokens: 1, team: '' }), event({ tokens: 2 })];
    expect(fold({}, events, { needsEventName: false, propertyKeys: ['team'] })).toEqual([
      '//team,: 1 of 1',
      '//: 2 of 1',
    ]);
  });

  test('compares numbers and booleans by their JSON text', () => {
    const events = [event({ tokens: 1, team: 1 }), event({ tokens: 2, team: '1' }), event({ tokens: 4, team: true })];
    expect(fold({ groupKeys: ['team'] }, events)).toEqual(['1//: 3 of 2', 'true//: 4 of 1']);
  });

  test('joins the segments of a window, its first included and its end not', () => {
    const usage = createUsageFold(meter, noDimensions);
    for (const [segment, tokens] of [1, 2, 4, 8].entries()) usage.add(event({ tokens }), segment * 2);
    expect(rowsOf(usage.readings(2, 6))).toEqual(['//: 6 of 2']);
    expect(rowsOf(usage.readings(0, 9))).toEqual(['//: 15 of 4']);
    expect(rowsOf(usage.readings(9, 12))).toEqual([]);
  });

  test('gives the same whatever the order and the segments of the events', () => {
    const events = fc.array(fc.record({ tokens: fc.integer(), model: fc.constantFrom('a', 'b') }), { maxLength: 20 });
    const types = fc.constantFrom('SUM', 'COUNT', 'MAX', 'MIN');
    fc.assert(
      fc.property(
        events,
        types,
        fc.array(fc.nat(3), { minLength: 20, maxLength: 20 }),
        (list, aggregationType, places) => {
          const rules = { aggregationType, groupKeys: ['model'] };
          const usage = createUsageFold({ ...meter, ...rules }, noDimensions);
          list.toReversed().forEach((properties, index) => usage.add(event(properties), places[index] ?? 0));
          const whole = fold(
            rules,
            list.map((properties) => event(properties)),
          );
          expect(rowsOf(usage.readings(0, 4)).toSorted()).toEqual(whole.toSorted());
        },
      ),
    );
  });
});
