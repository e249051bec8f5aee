/** What SQL meters read, and which queries may become one (semantics 8, `sql`). */

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';

import { InvalidInputError } from '../../src/errors.ts';
import { sqliteTextOf } from '../../src/store/backends/sqlite/meter-sql/text.ts';
import { createMeterSql } from '../../src/store/open-meter-sql.ts';
import { MeterSqlError } from '../../src/store/meter-sql.ts';
import { canFillDisk } from '../support/full-disk.ts';
import { eventsOf, numberedEvents, outcomeOf, readingOf } from '../support/meter-sql.ts';

const meterSql = createMeterSql({ checkMilliseconds: 20_000 });
afterAll(() => meterSql.close());

const read = async (sql: string, events = eventsOf()) => await readingOf(meterSql, { sql, events });

describe('the value of a query', () => {
  test.each([
    ['a count is a whole number', 'SELECT count(*) AS value FROM events', '3'],
    ['a sum reads numbers and numeric texts', `SELECT sum(properties['n']) AS value FROM events`, '7.5'],
    ['a whole number is exact to its last digit', 'SELECT 999999999999999 AS value', '999999999999999'],
    ['a negative value is given as it is', 'SELECT -12 AS value', '-12'],
    ['NULL is no value', 'SELECT NULL AS value', null],
    ['a small fraction is written in plain digits', 'SELECT 1.5e-7 AS value', '0.00000015'],
    ['a fraction has the digits that tell it apart', 'SELECT 0.1 + 0.2 AS value', '0.30000000000000004'],
    ['minus zero is zero', 'SELECT -0.0 AS value', '0'],
    ['a trailing semicolon and spaces are allowed', ' SELECT 1 AS value;\n', '1'],
    ['comments inside are allowed', 'SELECT /* one */ 1 AS value -- done', '1'],
    ['the column may be named in any manner', 'SELECT 4 "value"', '4'],
    [
      'a table of its own for each day is allowed',
      'WITH days AS (SELECT date(timestamp) AS day FROM events GROUP BY 1) SELECT count(*) AS value FROM days',
      '1',
    ],
    [
      'the time of an event is UTC, to the millisecond',
      `SELECT count(*) AS value FROM events WHERE timestamp >= '2026-03-01T00:01:00.000Z'`,
      '2',
    ],
    ['functions of time take the column', `SELECT unixepoch(max(timestamp)) AS value FROM events`, '1772323320'],
    ['the name of an event is a column', `SELECT count(*) AS value FROM events WHERE event_name = 'llm.request'`, '3'],
    [
      'window functions see events in the order of time',
      `SELECT max(gap) AS value FROM (
         SELECT unixepoch(timestamp) - lag(unixepoch(timestamp)) OVER (ORDER BY timestamp) AS gap FROM events)`,
      '60',
    ],
    [
      'a distinct count ignores events without the key',
      `SELECT count(DISTINCT properties['user']) AS value FROM events`,
      '1',
    ],
  ])('%s', async (_rule, sql, expected) => {
    expect(await read(sql, eventsOf({ n: 1 }, { n: '4', user: 'a' }, { n: 2.5, user: 'a' }))).toBe(expected);
  });

  test('whole numbers are summed exactly', async () => {
    const values = [999_999_999_999_999, -1, -999_999_999_999_990];
    expect(
      await read(`SELECT sum(properties['n']) AS value FROM events`, eventsOf(...values.map((n) => ({ n })))),
    ).toBe('8');
  });

  test('ten thousand tenths are a thousand', async () => {
    const events = eventsOf(...Array.from({ length: 10_000 }, () => ({ n: 0.1 })));
    expect(await read(`SELECT sum(properties['n']) AS value FROM events`, events)).toBe('1000');
  });

  test('readings that keep their events go on from the reading before', async () => {
    const [first, second] = [numberedEvents(3), eventsOf({ n: 10 })];
    const values = await meterSql.run({
      scope: 'test',
      sql: `SELECT sum(properties['n']) AS value FROM events`,
      readings: [
        { keepsEvents: false, events: first },
        { keepsEvents: true, events: second },
        { keepsEvents: true, events: [] },
        { keepsEvents: false, events: second },
        { keepsEvents: false, events: [] },
      ],
      deadlineMilliseconds: 20_000,
    });
    expect(values).toEqual(['6', '16', '16', '10', null]);
  });

  test('the order in which queries run does not matter to any of them', async () => {
    const sums = [1, 2, 3, 4, 5].map(
      async (count) => await read(`SELECT sum(properties['n']) AS value FROM events`, numberedEvents(count)),
    );
    expect(await Promise.all(sums)).toEqual(['1', '3', '6', '10', '15']);
  });

  test('what is more than a pipe holds arrives whole', async () => {
    expect(await read('SELECT count(*) AS value FROM events', numberedEvents(20_000))).toBe('20000');
  });
});

describe(`the idiom properties['k']`, () => {
  test.each([
    [`SELECT properties['k']`, `SELECT (properties->>'$."k"')`],
    [`SELECT e.properties [ 'k' ]`, `SELECT (e.properties->>'$."k"')`],
    [`SELECT "e" . Properties['k']`, `SELECT ("e" . Properties->>'$."k"')`],
    [`SELECT -properties['k']`, `SELECT -(properties->>'$."k"')`],
    [`SELECT properties['it''s']`, `SELECT (properties->>'$."it''s"')`],
    [`SELECT properties['a"b\\c']`, `SELECT (properties->>'$."a\\"b\\\\c"')`],
    [`SELECT 'properties[''k'']'`, `SELECT 'properties[''k'']'`],
    [`SELECT "properties['k']"`, `SELECT "properties['k']"`],
    [`SELECT 1 -- properties['k']`, `SELECT 1 -- properties['k']`],
    [`SELECT /* properties['k'] */ 1`, `SELECT /* properties['k'] */ 1`],
    [`SELECT my_properties['k']`, `SELECT my_properties['k']`],
    [`SELECT [properties['k']`, `SELECT [properties['k']`],
    [`SELECT properties[1]`, `SELECT properties[1]`],
    [`SELECT 'open properties['k']`, `SELECT 'open properties['k']`],
  ])('%s is read as %s', (sql, expected) => {
    expect(sqliteTextOf(sql)).toBe(expected);
  });

  test('reads the property of exactly that name, whatever the name is', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }), async (key) => {
        fc.pre(!key.includes('\0'));
        const others = { [`${key} `]: 1, k: 2, '"': 3, '\\': 4, '': 5 };
        const sql = `SELECT sum(properties['${key.replaceAll("'", "''")}']) AS value FROM events`;
        expect(await read(sql, eventsOf({ ...others, [key]: 7 }))).toBe('7');
      }),
      { numRuns: 100, examples: [['"'], ['\\'], [`a"b`], [`a\\"b`], [`'`], ['$.x'], ['[0]'], ['a.b'], ['\n'], ['é']] },
    );
  });

  test('a text that hides quotes in quotes is rewritten in linear time', () => {
    for (const piece of [`'`, `"`, '[', `properties['`, `a.a.`, '/*', `properties[' `, '`', ' ', `x `]) {
      const sql = piece.repeat(20_000 / piece.length);
      expect(sqliteTextOf(sql)).toHaveLength(sql.length);
    }
  });
});

describe('a query that is no meter', () => {
  test.each([
    ['more than one column', 'SELECT 1 AS value, 2 AS other', 'one column, named value'],
    ['a column of another name', 'SELECT 1 AS amount', 'one column, named value'],
    ['no row where there are no events', `SELECT properties['n'] AS value FROM events`, 'returned none'],
    ['more than one row', 'SELECT 1 AS value UNION SELECT 2', 'returned more'],
    ['a text', `SELECT '12' AS value`, 'must be a number'],
    ['a text once there are events', `SELECT max('now') AS value FROM events`, 'must be a number'],
    ['an instant as a text', 'SELECT max(timestamp) AS value FROM events', 'must be a number'],
    ['the current time once there are events', `SELECT max(unixepoch('now')) AS value FROM events`, 'current time'],
    ['a blob', `SELECT x'00' AS value`, 'must be a number'],
    ['a value beyond 10^15', 'SELECT 1000000000000001 AS value', 'within 1000000000000000 either side of 0'],
    ['a value that is infinite', 'SELECT -9e999 AS value', 'within 1000000000000000 either side of 0'],
    ['an unknown table', 'SELECT count(*) AS value FROM customers', 'no such table: customers'],
    ['an unknown column', 'SELECT sum(tokens) AS value FROM events', 'no such column: tokens'],
    ['one whose name ends a line for others', 'SELECT a\u2028b AS value FROM events', 'no such column: a\u2028b'],
    ['no query', 'hello', 'syntax error'],
    ['nothing', '  ', 'is empty'],
    ['two statements', 'SELECT 1 AS value; SELECT 2 AS value', 'one statement, with nothing after it'],
    ['a parameter', 'SELECT ?1 AS value', 'variable number must be between'],
    ['a text of more than 20,000 characters', `SELECT 1 AS value${' '.repeat(20_000)}`, 'longer than 20000 characters'],
  ])('%s is refused at creation, with the reason', async (_what, sql, reason) => {
    const refusal = await meterSql.check({ scope: 'test', sql }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(InvalidInputError);
    expect((refusal as InvalidInputError).issues).toEqual([{ path: 'sql', message: expect.stringContaining(reason) }]);
  });

  test('a query that can be read is accepted', async () => {
    await expect(
      meterSql.check({ scope: 'test', sql: `SELECT sum(properties['n']) AS value FROM events` }),
    ).resolves.toBeUndefined();
  });

  test('one that fails on the events fails the reading, and the next reading is right again', async () => {
    const sql = `SELECT max(properties['n']) AS value FROM events`;
    await expect(read(sql, eventsOf({ n: 'many' }))).rejects.toThrow(MeterSqlError);
    await expect(read(sql, eventsOf({ n: 2 }))).resolves.toBe('2');
  });

  test('an overflow of the sum fails the reading, and is no wrong number', async () => {
    const events = eventsOf({ n: 2 }, { n: 2 });
    await expect(
      read(`SELECT sum(properties['n'] * 4000000000000000000) AS value FROM events`, events),
    ).rejects.toThrow('integer overflow');
  });

  test('a value that SQLite repeats in its reason is shortened there', async () => {
    const events = eventsOf({ path: 'x'.repeat(100_000) });
    const reading = read(`SELECT max(json_extract(properties, properties['path'])) AS value FROM events`, events);
    await expect(reading).rejects.toThrow(/^bad JSON path: 'x{100,200}…$/);
  });

  test('properties too large for a query fail the reading, and none after it', async () => {
    const events = eventsOf({ text: 'x'.repeat(1_000_000) });
    await expect(read('SELECT count(*) AS value FROM events', events)).rejects.toThrow('too big');
    expect(await read('SELECT count(*) AS value FROM events', eventsOf({}))).toBe('1');
  });
});

test('after close nothing can be read, and what was running ends', async () => {
  const closing = createMeterSql();
  const endless = 'SELECT count(*) AS value FROM events a, events b, events c, events d, events e, events f';
  const running = outcomeOf(closing, { sql: endless, events: numberedEvents(1_000) });
  await readingOf(closing, { sql: 'SELECT 1 AS value', scope: 'another' });
  closing.close();
  expect(await running).toBe('MeterSqlError: it was stopped before it ended');
  await expect(readingOf(closing, { sql: 'SELECT 1 AS value' })).rejects.toThrow('closed');
});

// Such a limit is of a whole process, and prlimit says what it is.
test.runIf(canFillDisk)('a query for which no process can be started is told so, and the next one is read', () => {
  const script = join(import.meta.dirname, '../reliability/scarce-process.ts');
  const { stdout } = spawnSync('prlimit', ['--nofile=200', process.execPath, script], { encoding: 'utf8' });
  expect(stdout.split('\n')).toEqual([
    '7',
    'UnavailableError: no process could be started to read an SQL meter: too many open files in this program',
    '7',
    '',
  ]);
});
