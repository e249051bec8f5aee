/** What the members of a JSON record mean. */

import { describe, expect, test } from 'vitest';

import type { MappedRow, MappingOptions } from '../../../src/cli/import/mapping.ts';
import { createRecordMapping } from '../../../src/cli/import/record-mapping.ts';

const own = { eventName: 'js', externalCustomerId: 'acme', timestamp: '2026-02-01T00:00:00Z' };
const cloudEvent = { specversion: '1.0', id: '1', source: '/g', type: 'js', subject: 'acme', time: own.timestamp };

function mapped(record: object, options: Partial<MappingOptions> = {}): MappedRow {
  const given = { timeZone: 'UTC', properties: [], ...options };
  return createRecordMapping(given, { isCloudEvents: false })(record);
}

describe('a record with properties is an event of the interface', () => {
  test('which has no members but those', () => {
    const event = { ...own, contractId: 'c', idempotencyKey: 'k', properties: { v: 1 } };
    expect(mapped(event)).toEqual({ event });
    expect(mapped({ ...event, v: 1000 })).toEqual({ reason: 'v: unknown field' });
    expect(mapped({ ...event, Timestamp: own.timestamp })).toEqual({ reason: 'Timestamp: unknown field' });
  });

  test('or what lists of events show of it, which is not sent again', () => {
    const event = { ...own, contractId: 'c', idempotencyKey: 'k', properties: { v: 1 } };
    const listed = { id: 'e', version: 2, isLate: false, receivedAt: own.timestamp };
    expect(mapped({ ...event, ...listed })).toEqual({ event });
    const { contractId: _, ...ofNone } = event;
    expect(mapped({ ...event, ...listed, contractId: null })).toEqual({ event: ofNone });
    expect(mapped({ ...own, id: 'e' })).toMatchObject({ event: { properties: { id: 'e' } } });
  });

  test('also where flags say whose it is', () => {
    const { externalCustomerId: _, ...nobody } = own;
    const whose = { customer: 'acme' };
    expect(mapped({ ...nobody, properties: {}, v: 1 }, whose)).toEqual({ reason: 'v: unknown field' });
    expect(mapped({ ...nobody, properties: {} }, whose)).toMatchObject({ event: { externalCustomerId: 'acme' } });
  });
});

describe('a record without properties that names its event and its customer is flat', () => {
  test('its other members are properties', () => {
    expect(mapped({ ...own, v: 1000, region: 'eu' })).toMatchObject({
      event: { ...own, properties: { v: 1000, region: 'eu' } },
    });
    expect(mapped({ ...own, contractId: 'c', idempotencyKey: 'k' })).toEqual({
      event: { ...own, contractId: 'c', idempotencyKey: 'k', properties: {} },
    });
  });

  test('an object among them is left for the service to refuse, as one in a plain record is', () => {
    expect(mapped({ ...own, propertees: { v: 100 } })).toMatchObject({
      event: { properties: { propertees: { v: 100 } } },
    });
  });

  test('all of its members count as columns for flags', () => {
    const record = { ...own, account: 'globex', at: '2026-02-02T00:00:00Z', usage: { tokens: 5 } };
    const flags = { customerColumn: 'account', timestampColumn: 'at' };
    const found = { externalCustomerId: 'globex', timestamp: record.at };
    expect(mapped({ ...record, usage: 5 }, flags)).toMatchObject({ event: { ...found, properties: { usage: 5 } } });
    expect(mapped(record, { ...flags, properties: ['tokens=usage.tokens', 'name=eventName'] })).toMatchObject({
      event: { ...found, properties: { tokens: 5, name: 'js' } },
    });
    const usual = {
      eventNameColumn: 'eventName',
      customerColumn: 'externalCustomerId',
      timestampColumn: 'timestamp',
    };
    expect(mapped({ ...own, v: 1 }, usual)).toMatchObject({ event: { ...own, properties: { v: 1 } } });
  });

  test('whichever of the two customers it names', () => {
    const { externalCustomerId: _, ...nobody } = own;
    expect(mapped({ ...nobody, customerId: 'c', v: 1 })).toMatchObject({
      event: { customerId: 'c', properties: { v: 1 } },
    });
  });

  test('its timestamp may be written in any case, and the other one is a property', () => {
    const { timestamp, ...rest } = own;
    expect(mapped({ ...rest, TimeStamp: timestamp })).toMatchObject({ event: { ...own, properties: {} } });
    expect(mapped({ TimeStamp: 'soon', ...own })).toMatchObject({
      event: { ...own, properties: { TimeStamp: 'soon' } },
    });
  });

  test('its key is that of its whole content', () => {
    const keyOf = (record: object) => {
      const row = mapped(record);
      return 'event' in row ? row.event.idempotencyKey : row.reason;
    };
    expect(keyOf({ ...own, v: 1 })).not.toBe(keyOf({ ...own, v: 2 }));
    expect(keyOf({ ...own, v: 1 })).toBe(keyOf({ v: 1, ...own }));
  });
});

describe('a key that is made of a record', () => {
  test.each([
    ['its content', { ...own, v: 1 }, 'row:qWLCMnh1X3lUc4AJpYWaVxHx43u'],
    ['the source and the id of a CloudEvent', cloudEvent, 'ce:zP5wsMjQFstEqsB2NWyTQby3MUQ'],
  ])('of %s is the same in every version: another one would bill an old file again', (_what, record, key) => {
    expect(mapped(record)).toMatchObject({ event: { idempotencyKey: key } });
  });

  test.each<[string, Partial<MappingOptions>]>([
    ['source', { source: 'second' }],
    ['event name', { eventName: 'other' }],
    ['customer', { customer: 'globex' }],
  ])('is another one for another %s', (_what, options) => {
    const [one, other] = [mapped({ ...own, v: 1 }), mapped({ ...own, v: 1 }, options)];
    if ('reason' in one || 'reason' in other) throw new Error('it is no event');
    expect(other.event.idempotencyKey).not.toBe(one.event.idempotencyKey);
  });
});

test('of a plain record the names of the interface are columns like any other', () => {
  const flags = { eventName: 'e', customer: 'globex' };
  const { externalCustomerId: _, ...plain } = own;
  expect(mapped({ ...plain, v: 1 }, flags)).toMatchObject({
    event: { eventName: 'e', externalCustomerId: 'globex', properties: { eventName: 'js', v: 1 } },
  });
  expect(mapped(plain, { ...flags, timestampColumn: 'timestamp' })).toMatchObject({
    event: { timestamp: own.timestamp },
  });
  const created = '2026-02-02T00:00:00Z';
  expect(mapped({ ...plain, created }, { ...flags, timestampColumn: 'created' })).toMatchObject({
    event: { timestamp: created, properties: { eventName: 'js', timestamp: own.timestamp } },
  });
});

test('nor do they say anything of one that names no event', () => {
  const { eventName: _, ...plain } = own;
  const properties = { externalCustomerId: 'acme', v: 1 };
  expect(mapped({ ...plain, v: 1 }, { eventName: 'e', customer: 'globex' })).toMatchObject({
    event: { externalCustomerId: 'globex', properties },
  });
  expect(mapped({ ...plain, v: 1 }, { eventName: 'e' })).toEqual({ reason: 'has no customer' });
  expect(mapped({ ...plain, properties }, { eventName: 'e', customer: 'globex' })).toMatchObject({
    event: { properties: { externalCustomerId: 'acme', properties } },
  });
});

describe('a record is refused', () => {
  const event = { ...own, properties: {} };

  test.each<[string, object, Partial<MappingOptions>, string]>([
    ['whose properties are no object', { ...own, properties: 5 }, {}, 'has no event name'],
    ['whose event name is empty', { ...event, eventName: '' }, {}, 'has no event name'],
    ['whose event name is no text', { ...own, kind: 5 }, { eventNameColumn: 'kind' }, 'has no event name'],
    [
      'whose timestamp is none',
      { ...event, timestamp: 'soon' },
      {},
      '"soon" is not a timestamp such as 2026-03-01T09:30:00Z',
    ],
    [
      'whose timestamp is no time where it is read',
      { ...event, timestamp: '2026-03-29 02:30:00' },
      { timeZone: 'Europe/Berlin' },
      '"2026-03-29 02:30:00" is not a definite time in Europe/Berlin: no such day or time, or clocks skip it or show it twice; give it an offset',
    ],
    ['that has no timestamp', { ...event, timestamp: undefined }, {}, 'has no timestamp'],
    [
      'whose timestamp is null',
      { ...event, timestamp: null },
      {},
      'null is not a timestamp such as 2026-03-01T09:30:00Z',
    ],
    ['whose customer is empty', { ...event, externalCustomerId: '' }, {}, 'has no customer'],
    ['whose customer is no text', { ...event, externalCustomerId: 5 }, {}, 'has no customer'],
    ['whose own customer is empty', { ...event, externalCustomerId: undefined, customerId: '' }, {}, 'has no customer'],
    ['that lacks the key', event, { keyColumn: 'id' }, 'id: is not text'],
    ['whose key is empty', { ...own, id: '' }, { keyColumn: 'id' }, 'id: is not text'],
    ['whose key is no text', { ...own, id: 5 }, { keyColumn: 'id' }, 'id: is not text'],
    ['that is a CloudEvent without a source', { ...cloudEvent, source: '' }, {}, 'source: is required in a CloudEvent'],
    [
      'that is a CloudEvent without a type',
      { ...cloudEvent, type: undefined },
      {},
      'type: is required in a CloudEvent',
    ],
    ['that is a CloudEvent without an id', { ...cloudEvent, id: 5 }, {}, 'id: is required in a CloudEvent'],
  ])('%s', (_what, record, options, reason) => {
    expect(mapped(record, options)).toEqual({ reason });
  });
});

test('a CloudEvent without data has no properties', () => {
  expect(mapped(cloudEvent)).toMatchObject({ event: { ...own, properties: {} } });
  expect(mapped({ ...cloudEvent, data: null })).toEqual({ reason: 'data: must be a JSON object' });
});

test('a flag names a member whose name has a point before one that stands inside another', () => {
  const record = { ...own, usage: { tokens: 5, bytes: 7 }, 'usage.tokens': 6 };
  expect(mapped(record, { properties: ['tokens=usage.tokens', 'bytes=usage.bytes'] })).toMatchObject({
    event: { properties: { tokens: 6, bytes: 7 } },
  });
});

test('the contract of the flag goes before that of a record', () => {
  const event = { ...own, contractId: 'c1', properties: {} };
  expect(mapped(event, { contractId: 'c2' })).toMatchObject({ event: { contractId: 'c2' } });
});

test.each<[string, Partial<MappingOptions>]>([
  ['--customer, --customer-id and --customer-column', { customer: 'acme', customerColumn: 'account' }],
  ['--customer, --customer-id and --customer-column', { customer: 'acme', customerId: 'c1' }],
  ['--event-name and --event-name-column', { eventName: 'a', eventNameColumn: 'b' }],
])('%s cannot be given together, for records neither: %j', (flags, options) => {
  expect(() => mapped(own, options)).toThrow(`${flags} cannot be given together`);
});

test('one property of two members is refused', () => {
  const properties = ['tokens=in', 'tokens=out'];
  expect(() => mapped(own, { properties })).toThrow('--property: "tokens" is given twice');
});

describe('a record of two customers', () => {
  const both = { ...own, customerId: 'c', v: 1 };

  test.each([
    ['with properties', { ...own, customerId: 'c', properties: {} }],
    ['that is flat', both],
  ])('%s is refused, as by the interface', (_what, record) => {
    expect(mapped(record)).toEqual({ reason: 'exactly one of customerId and externalCustomerId is required' });
  });

  test.each<[Partial<MappingOptions>, object]>([
    [{ customer: 'globex' }, { externalCustomerId: 'globex' }],
    [{ customerId: 'd' }, { customerId: 'd' }],
    [{ customerColumn: 'externalCustomerId' }, { externalCustomerId: 'acme' }],
  ])('is taken where a flag says which: %j', (flags, customer) => {
    expect(mapped(both, flags)).toMatchObject({ event: { ...customer, properties: { v: 1 } } });
  });

  test.each([undefined, null, '', 5])('is of none where the column that a flag names has %j', (account) => {
    const record = { ...both, externalCustomerId: undefined, account };
    expect(mapped(record, { customerColumn: 'account' })).toEqual({ reason: 'has no customer' });
  });

  test.each(['', null])('is none where one of the two is %j', (none) => {
    expect(mapped({ ...both, customerId: none })).toMatchObject({ event: { externalCustomerId: 'acme' } });
    expect(mapped({ ...both, externalCustomerId: none })).toMatchObject({ event: { customerId: 'c' } });
  });
});

test.each([
  ['an event of the interface', { ...own, properties: { model: 'small' } }],
  ['a flat record', { ...own, model: 'small' }],
  [
    'a CloudEvent',
    { specversion: '1.0', id: '1', source: 's', type: 'js', subject: 'acme', time: own.timestamp, data: { model: 1 } },
  ],
])('%s that has the property of --set is refused, as a column of a table is', (_what, record) => {
  const reason = '--set: "model" has a value already';
  expect(mapped(record, { constants: ['region=eu', 'model=large'] })).toEqual({ reason });
  expect(mapped(record, { constants: ['model=large'], properties: ['size=model'] })).toMatchObject({
    event: { properties: { model: 'large' } },
  });
});
