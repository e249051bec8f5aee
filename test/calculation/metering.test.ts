import { describe, expect, test } from 'vitest';
import {
  createEventMatcher,
  type EventRules,
  groupValuesOf,
  hasProperty,
  type PropertyFilter,
  type PropertyValue,
} from '../../src/calculation/metering.ts';
import { exactNumber } from '../../src/exact-json.ts';

function isCounted(rules: Partial<EventRules>, properties: Record<string, PropertyValue>, eventName = 'call'): boolean {
  const matches = createEventMatcher({ eventTypeFilter: { include: [], exclude: [] }, propertyFilters: [], ...rules });
  return matches({ eventName, properties });
}
const filtered = (...propertyFilters: PropertyFilter[]) => ({ propertyFilters });

describe('event names', () => {
  test.each([
    [[], [], true],
    [['call'], [], true],
    [['other'], [], false],
    [[], ['call'], false],
    [['call'], ['call'], false],
  ])('included %j and excluded %j: counted is %s', (include, exclude, counted) => {
    expect(isCounted({ eventTypeFilter: { include, exclude } }, {})).toBe(counted);
  });

  test('are compared in NFC', () => {
    expect(isCounted({ eventTypeFilter: { include: ['caf\u00e9'], exclude: [] } }, {}, 'cafe\u0301')).toBe(true);
  });
});

describe('property filters', () => {
  test.each<[PropertyFilter, Record<string, PropertyValue>, boolean]>([
    [{ name: 'a', exists: true }, { a: null }, true],
    [{ name: 'a', exists: true }, {}, false],
    [{ name: 'a', exists: false }, {}, true],
    [{ name: 'a', exists: false }, { a: '' }, false],
    [{ name: 'a', include: ['true'] }, { a: true }, true],
    [{ name: 'a', include: ['1'] }, { a: 1 }, true],
    [{ name: 'a', include: ['1'] }, { a: '1' }, true],
    [{ name: 'a', include: ['1.10'] }, { a: exactNumber('1.10') }, true],
    [{ name: 'a', include: ['x', 'y'] }, { a: 'y' }, true],
    [{ name: 'a', include: ['x'] }, {}, false],
    [{ name: 'a', exclude: ['x'] }, {}, true],
    [{ name: 'a', exclude: ['x'] }, { a: 'x' }, false],
    [{ name: 'a', include: ['x'], exclude: ['x'] }, { a: 'x' }, false],
    [{ name: 'a', include: ['caf\u00e9'] }, { a: 'cafe\u0301' }, true],
    [{ name: 'toString', exists: true }, {}, false],
  ])('%j on %j: counted is %s', (filter, properties, counted) => {
    expect(isCounted(filtered(filter), properties)).toBe(counted);
  });

  // Normalized for each filter, a text such as an older book may have would take hours.
  test('look at a text of too many combining marks as it stands', () => {
    const text = `${'\u0301'.repeat(1_000_000)}${'\u0323'.repeat(1_000_000)}`;
    const filters = Array.from({ length: 50 }, () => ({ name: 'a', exclude: ['x'] }));
    expect(isCounted(filtered(...filters), { a: text })).toBe(true);
    expect(isCounted(filtered({ name: 'a', include: [text] }), { a: text })).toBe(true);
  });

  test('all filters must hold', () => {
    const rules = filtered({ name: 'a', include: ['1'] }, { name: 'b', exists: true });
    expect(isCounted(rules, { a: 1, b: 2 })).toBe(true);
    expect(isCounted(rules, { a: 1 })).toBe(false);
  });

  test('a key and value of a usage cost request compare in the same way', () => {
    expect(hasProperty({ tenant: 7 }, { key: 'tenant', value: '7' })).toBe(true);
    expect(hasProperty({}, { key: 'tenant', value: '' })).toBe(false);
  });
});

test('group values follow the keys, and a missing key is an empty value', () => {
  const values = groupValuesOf({ model: 'a', size: exactNumber('2.0'), beta: false }, [
    'size',
    'region',
    'beta',
    'model',
  ]);
  expect(Object.entries(values)).toEqual([
    ['size', '2.0'],
    ['region', ''],
    ['beta', 'false'],
    ['model', 'a'],
  ]);
});
