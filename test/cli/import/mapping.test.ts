import { describe, expect, test } from 'vitest';

import { createMapping } from '../../../src/cli/import/mapping.ts';
import type { ImportedEvent, MappingOptions } from '../../../src/cli/import/mapping.ts';

const header = ['TIMESTAMP', 'Customer', 'Tokens', 'Region'];
const base: MappingOptions = { eventName: 'llm.request', customerColumn: 'Customer', timeZone: 'UTC', properties: [] };

const ofAcme = { customerColumn: undefined, customer: 'acme' };

function eventOf(row: readonly string[], options: Partial<MappingOptions> = {}): ImportedEvent {
  const mapped = createMapping(header, { ...base, ...options }).toEvent(row);
  if ('reason' in mapped) throw new Error(mapped.reason);
  return mapped.event;
}

describe('a timestamp is read with its offset, or in the zone that was said', () => {
  test.each([
    ['2023-11-16 18:15:46.6805900', 'UTC', '2023-11-16T18:15:46.6805900Z'],
    ['2023-11-16T18:15:46Z', 'UTC', '2023-11-16T18:15:46Z'],
    ['2023-11-16 18:15:46 +0200', 'UTC', '2023-11-16T18:15:46+02:00'],
    ['2023-11-16 18:15:46+02', 'UTC', '2023-11-16T18:15:46+02:00'],
    ['2023-11-16 18:15:46', 'Europe/Berlin', '2023-11-16T17:15:46Z'],
    ['2023-07-16 18:15:46', 'Europe/Berlin', '2023-07-16T16:15:46Z'],
    ['2023-11-16T18:15:46.000Z', 'Europe/Berlin', '2023-11-16T18:15:46.000Z'],
  ])('%s in %s is %s', (cell, timeZone, expected) => {
    expect(eventOf([cell, 'acme', '1', 'eu'], { timeZone }).timestamp).toBe(expected);
  });

  test.each([
    ['yesterday', 'UTC', 'is not a timestamp'],
    ['16.11.2023 18:15', 'UTC', 'is not a timestamp'],
    ['', 'UTC', 'is not a timestamp'],
    ['x2023-11-16 18:15:46', 'UTC', 'is not a timestamp'],
    ['2023-11-16 18:15:46 UTC', 'UTC', 'is not a timestamp'],
    ['x2023-11-16T18:15:46.000Z', 'UTC', 'is not a timestamp'],
    ['2023-11-16T18:15:46.000Zx', 'UTC', 'is not a timestamp'],
    ['2026-03-29 02:30:00', 'Europe/Berlin', 'is not a definite time in Europe/Berlin: '],
    ['2026-10-25 02:30:00', 'Europe/Berlin', 'is not a definite time in Europe/Berlin: '],
    ['2026-03-10 23:59:60', 'Europe/Berlin', 'is not a definite time in Europe/Berlin: no such day or time'],
    ['2026-03-10T23:60:00', 'Europe/Berlin', 'is not a definite time in Europe/Berlin: no such day or time'],
  ])('"%s" in %s is refused: it is no time, or not one time', (cell, timeZone, words) => {
    const { toEvent } = createMapping(header, { ...base, timeZone });
    expect(toEvent([cell, 'acme', '1', 'eu'])).toEqual({
      reason: expect.stringContaining(`TIMESTAMP: "${cell}" ${words}`),
    });
  });
});

describe('cells become properties', () => {
  test.each(['12e4567', '1e99', '1'.repeat(41), '1e-41'])(
    'a number that no event may carry stays a text: %s',
    (cell) => {
      const { toEvent } = createMapping(['timestamp', 'customer', 'id'], {
        eventName: 'request',
        customerColumn: 'customer',
        timeZone: 'UTC',
        properties: [],
      });
      expect(toEvent(['2026-02-01 00:00:00', 'acme', cell])).toMatchObject({ event: { properties: { id: cell } } });
    },
  );

  test('every other column does, numbers with the digits of the file, and an empty cell is none', () => {
    expect(JSON.stringify(eventOf(['2026-03-01 00:00:00', 'acme', '1.10', '']).properties)).toBe('{"Tokens":1.10}');
    expect(eventOf(['2026-03-01 00:00:00', 'acme', '007', 'eu']).properties).toEqual({ Tokens: '007', Region: 'eu' });
  });

  test('or those that are named, under the names that they are given', () => {
    expect(eventOf(['2026-03-01 00:00:00', 'acme', '5', 'eu'], { properties: ['tokens=Tokens'] }).properties).toEqual({
      tokens: 5,
    });
  });

  test('but for those of the event name and of the key', () => {
    const { properties } = eventOf(['2026-03-01 00:00:00', 'acme', '5', 'eu'], {
      eventName: undefined,
      eventNameColumn: 'Region',
      keyColumn: 'Tokens',
    });
    expect(properties).toEqual({});
  });

  test('whatever the column is called, or where it has no name', () => {
    const { toEvent } = createMapping(['timestamp', 'a=b', ''], { ...base, ...ofAcme, properties: ['x=a=b', 'y='] });
    expect(toEvent(['2026-03-01 00:00:00', '1', '2'])).toMatchObject({ event: { properties: { x: 1, y: 2 } } });
  });

  test('and constants join them', () => {
    const { properties } = eventOf(['2026-03-01 00:00:00', 'acme', '5', 'eu'], {
      constants: ['Model=large', 'Scale=2', 's=a=b'],
    });
    expect(properties).toEqual({ Tokens: 5, Region: 'eu', Model: 'large', Scale: 2, s: 'a=b' });
  });
});

describe('the content of a row is its identity', () => {
  const rows = [
    ['2026-03-01 00:00:00', 'acme', '1', 'eu'],
    ['2026-03-01 00:00:00', 'acme', '2', 'eu'],
    ['2026-03-01 00:00:00', 'acme', '1', 'eu'],
  ];
  const keysOf = (given: readonly (readonly string[])[], options: Partial<MappingOptions> = {}) => {
    const { toEvent } = createMapping(header, { ...base, ...options });
    return given.map((row) => {
      const mapped = toEvent(row);
      return 'event' in mapped ? mapped.event.idempotencyKey : mapped.reason;
    });
  };

  test('equal rows are different events, and keep their keys in a second import', () => {
    const keys = keysOf(rows);
    expect(new Set(keys).size).toBe(3);
    expect(keysOf(rows)).toEqual(keys);
  });

  test('a file that has grown at its beginning gives the old rows their old keys', () => {
    const grown = keysOf([['2026-02-28 00:00:00', 'acme', '9', 'eu'], ...rows]);
    expect(grown.slice(1)).toEqual(keysOf(rows));
  });

  test('another mapping of the properties gives the same keys, so that it replaces what was imported', () => {
    expect(keysOf(rows, { properties: ['Tokens'] })).toEqual(keysOf(rows));
  });

  test.each<[string, Partial<MappingOptions>]>([
    ['source', { source: 'second' }],
    ['event name', { eventName: 'other' }],
    ['customer', { ...ofAcme, customer: 'globex' }],
  ])('another %s gives other keys', (_what, options) => {
    const keys = keysOf(rows, { ...ofAcme, ...options });
    expect(keys.filter((key) => keysOf(rows, ofAcme).includes(key))).toEqual([]);
  });

  test('which is the same in every version: another one would bill an old file again', () => {
    expect(keysOf(rows)).toEqual([
      'row:cRkFshgzIvspS3BiFEVPsNj5CBE',
      'row:bzZNyOIQuQtOsDlvB1EDXxHZk28',
      'row:cRkFshgzIvspS3BiFEVPsNj5CBE:2',
    ]);
  });

  test('unless a column has the key', () => {
    expect(keysOf(rows.slice(0, 2), { keyColumn: 'Tokens' })).toEqual(['1', '2']);
    expect(keysOf([['2026-03-01 00:00:00', 'acme', '', 'eu']], { keyColumn: 'Tokens' })).toEqual(['Tokens: is empty']);
  });
});

describe('the customer', () => {
  const row = ['2026-03-01 00:00:00', 'globex', '5', 'eu'];

  test.each<[string, Partial<MappingOptions>, object]>([
    ['by id', { customerColumn: undefined, customerId: 'c1' }, { customerId: 'c1' }],
    ["by the caller's own id", ofAcme, { externalCustomerId: 'acme' }],
    ['by a column', {}, { externalCustomerId: 'globex' }],
  ])('is named %s', (_how, options, named) => {
    const { customerId, externalCustomerId } = eventOf(row, options);
    expect({ customerId, externalCustomerId }).toEqual({
      customerId: undefined,
      externalCustomerId: undefined,
      ...named,
    });
  });
});

describe('a mapping that cannot be is a usage error', () => {
  test.each<[string, Partial<MappingOptions>, readonly string[]]>([
    ['--timestamp: there is no column "When"', { timestampColumn: 'When' }, header],
    ['--event-name-column: there is no column "E"', { eventName: undefined, eventNameColumn: 'E' }, header],
    ['--customer-column: there is no column "C"', { customerColumn: 'C' }, header],
    ['--key-column: there is no column "K"', { keyColumn: 'K' }, header],
    ['no column has the time of the event', {}, ['Customer', 'Tokens']],
    ['two columns called "Customer"', {}, ['TIMESTAMP', 'Customer', 'Customer']],
    ['--customer, --customer-id and --customer-column cannot be given together', { customer: 'acme' }, header],
    ['--customer, --customer-id and --customer-column cannot be given together', { customerId: 'c1' }, header],
    ['exactly one of --customer, --customer-id and --customer-column', { customerColumn: undefined }, header],
    ['--event-name or --event-name-column is required', { eventName: undefined }, header],
    ['--event-name and --event-name-column cannot be given together', { eventNameColumn: 'Region' }, header],
    ['--property: there is no column "Price"', { properties: ['price=Price'] }, header],
    ['"a" is given twice', { properties: ['a=Tokens', 'a=Region'] }, header],
    ['"Tokens" has a value already', { constants: ['Tokens=1'] }, header],
    ['"a" has a value already', { constants: ['a=1', 'a=2'] }, header],
    ['--property takes name=column or a column, not "=Tokens"', { properties: ['=Tokens'] }, header],
    ['--property takes name=column or a column, not ""', { properties: [''] }, header],
    ['--set takes name=value', { constants: ['Tokens'] }, header],
    ['--set takes name=value', { constants: ['=1'] }, header],
    ['"__proto__" cannot be the name of a property', {}, [...header, '__proto__']],
    ['"__proto__" cannot be the name of a property', { properties: ['__proto__=Tokens'] }, header],
    ['"__proto__" cannot be the name of a property', { constants: ['__proto__=1.50'] }, header],
    ['"constructor" cannot be the name of a property', { constants: ['constructor=1'] }, header],
    ['"Mars/Olympus" is not a time zone', { timeZone: 'Mars/Olympus' }, header],
  ])('%s', (words, options, columns) => {
    expect(() => createMapping(columns, { ...base, ...options })).toThrow(
      expect.objectContaining({ kind: 'usage', message: expect.stringContaining(words) }),
    );
  });
});

test.each<[readonly string[], Partial<MappingOptions>, string]>([
  [['Customer', 'Tokens'], {}, 'name it with --timestamp; the columns are Customer, Tokens'],
  [header, { timestampColumn: 'When' }, 'the columns are TIMESTAMP, Customer, Tokens, Region'],
  [['TIMESTAMP;Customer'], { timestampColumn: 'When' }, "if that is several columns, give --delimiter ';'"],
])('where a column is missing from %j, it is said what there is', (columns, options, hint) => {
  expect(() => createMapping(columns, { ...base, ...options })).toThrow(expect.objectContaining({ hint }));
});

test('a row that names no event is refused', () => {
  const options = { ...base, eventName: undefined, eventNameColumn: 'Region' };
  expect(createMapping(header, options).toEvent(['2026-03-01 00:00:00', 'acme', '5', ''])).toEqual({
    reason: 'has no event name',
  });
});

test('a row with too many or too few columns is refused', () => {
  expect(createMapping(header, base).toEvent(['2026-03-01 00:00:00', 'acme'])).toEqual({
    reason: 'has 2 columns where the header has 4',
  });
});
