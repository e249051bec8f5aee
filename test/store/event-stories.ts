/** Any events that come in, and any questions of meters about them. */

import fc from 'fast-check';

import type { MeterRules } from '../../src/calculation/usage-fold.ts';
import { eventOf } from './rows.ts';

export const day = 86_400_000;

const valueText = fc.constantFrom(
  '1',
  '2',
  '0.1',
  '1.10',
  '12345.678',
  '"3"',
  '"x"',
  'null',
  '-7',
  '999999999999999',
  '1e-20',
);
const properties = fc
  .record(
    {
      model: fc.constantFrom('"a"', '"b"', '""', '1.0', 'true'),
      region: fc.constantFrom('"eu"', '"us"'),
      tokens: valueText,
    },
    { requiredKeys: [] },
  )
  .map(
    (members) =>
      `{${Object.entries(members)
        .map(([name, text]) => `"${name}":${text}`)
        .join(',')}}`,
  );

const instant = fc.oneof(
  fc.integer({ min: 0, max: 4 * day }),
  fc.integer({ min: 0, max: 20 * day }),
  fc.constantFrom(0, 1, day - 1, day, day + 1, 2 * day, 3 * day - 1, 3 * day, 8 * day - 1, 8 * day, 9 * day),
);

const newEvent = fc
  .record({
    key: fc.integer({ min: 0, max: 25 }),
    customerId: fc.constantFrom('own', 'own', 'own', 'another'),
    eventName: fc.constantFrom('a', 'b', 'c'),
    timestampEpochMs: instant,
    propertiesJson: properties,
    isLate: fc.integer({ min: 0, max: 9 }).map((chance) => chance === 0),
  })
  .map(({ key, ...changes }) => eventOf(`k${key}`, changes));

const meterRules = fc
  .record({
    aggregationType: fc.constantFrom('SUM', 'COUNT', 'MAX', 'MIN'),
    groupKeys: fc.subarray(['model', 'region']),
    include: fc.subarray(['a', 'b']),
    exclude: fc.subarray(['b', 'c']),
    propertyFilters: fc.subarray([
      { name: 'model', include: ['a', '1.0'] },
      { name: 'region', exclude: ['eu'] },
      { name: 'tokens', exists: true },
    ]),
  })
  .map(({ include, exclude, ...rules }): MeterRules => ({
    ...rules,
    aggregationKey: rules.aggregationType === 'COUNT' ? null : 'tokens',
    eventTypeFilter: { include, exclude },
  }));

const request = fc
  .record({
    bounds: fc.uniqueArray(instant, { minLength: 2, maxLength: 4 }),
    meters: fc.array(meterRules, { minLength: 1, maxLength: 3 }),
    needsEventName: fc.boolean(),
    propertyKeys: fc.subarray(['model', 'region']),
    isStanding: fc.boolean(),
    isOnce: fc.boolean(),
    contractId: fc.constantFrom(undefined, 'contract', 'other'),
    outside: fc.array(fc.tuple(instant, instant), { maxLength: 1 }),
  })
  .map(({ bounds, needsEventName, propertyKeys, contractId, outside, ...asked }) => ({
    ...asked,
    contract: contractId && {
      contractId,
      unassignedOutside: outside.map(([one, other]) => ({
        fromEpochMs: Math.min(one, other),
        toEpochMs: Math.max(one, other),
      })),
    },
    boundsEpochMs: bounds.toSorted((a, b) => a - b),
    dimensions: { needsEventName, propertyKeys },
  }));

/** The contracts that events of a story name in turn. */
export const named = fc.constantFrom([null], ['contract'], [null, null, 'contract'], [null, 'contract', 'other']);

export const story = fc.array(
  fc.record({ events: fc.array(newEvent, { maxLength: 12 }), request, repeats: fc.integer({ min: 0, max: 2 }) }),
  { minLength: 1, maxLength: 6 },
);
