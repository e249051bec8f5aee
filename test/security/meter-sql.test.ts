/** SEC-50: whatever a query tries, it is refused, or reads its own rows rightly, or is killed in time (security 6). */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { type ChildRequest, serveMeterSql } from '../../src/store/backends/sqlite/meter-sql/child.ts';
import { childRules } from '../../src/store/backends/sqlite/meter-sql/rules.ts';
import { createMeterSql } from '../../src/store/open-meter-sql.ts';
import { eventsOf, numberedEvents, outcomeOf, readingOf } from '../support/meter-sql.ts';

const canary = 987_654_321;
const attackFile = join(tmpdir(), `meter-sql-attack-${process.pid}.db`);
const meterSql = createMeterSql({ checkMilliseconds: 20_000, residentMebibytes: 256, idleMilliseconds: 20_000 });
afterAll(() => meterSql.close());

/** Another customer's events pass through the same process first. */
beforeAll(async () => {
  const sql = `SELECT sum(properties['n']) AS value FROM events`;
  await readingOf(meterSql, { sql, events: eventsOf({ n: canary }, { secret: 'canary' }) });
});

/** Three events whose numbers add up to 6. */
const outcome = async (sql: string) => await outcomeOf(meterSql, { sql, events: numberedEvents(3) });

describe('tables beside events', () => {
  test.each([
    ['the schema', 'SELECT count(*) AS value FROM sqlite_schema'],
    ['the schema by its old name', 'SELECT max(rootpage) AS value FROM sqlite_master'],
    ['the schema of temp', 'SELECT count(*) AS value FROM temp.sqlite_schema'],
    ['the temporary schema', 'SELECT count(*) AS value FROM sqlite_temp_master'],
    ['the events of temp', 'SELECT count(*) AS value FROM temp.events'],
    ['the events of another database', 'SELECT count(*) AS value FROM other.events'],
    ['a pragma as a table', 'SELECT count(*) AS value FROM pragma_database_list'],
    ['a pragma as a function', `SELECT count(*) AS value FROM pragma_table_info('events')`],
    ['the list of functions', 'SELECT count(*) AS value FROM pragma_function_list'],
    ['json_each', `SELECT count(*) AS value FROM json_each('[1,2]')`],
    ['json_each in quotes', `SELECT count(*) AS value FROM "JSON_EACH"('[1,2]')`],
    ['json_tree with its columns', `SELECT sum(json_tree.value) AS value FROM json_tree('[1,2]')`],
    ['json_each on the rows', `SELECT count(*) AS value FROM events, json_each(properties)`],
    ['the sizes of pages', 'SELECT sum(pgsize) AS value FROM dbstat'],
    ['full-text tables', 'SELECT count(*) AS value FROM fts5vocab'],
    ['row numbers', 'SELECT max(rowid) AS value FROM events'],
    ['row numbers by another name', 'SELECT max(_rowid_) AS value FROM events'],
    ['tables of the service', 'SELECT count(*) AS value FROM organizations'],
    ['a CTE in the name of events', 'WITH events AS (SELECT * FROM raw_events) SELECT count(*) AS value FROM events'],
    ['a CTE over the schema', 'WITH events AS (SELECT * FROM sqlite_schema) SELECT count(*) AS value FROM events'],
    ['a subquery over the schema', 'SELECT count(*) AS value FROM (SELECT name FROM sqlite_schema) AS events'],
    ['a scalar subquery', 'SELECT (SELECT count(*) FROM sqlite_schema) AS value FROM events LIMIT 1'],
    ['the schema under the alias events', 'SELECT count(events.name) AS value FROM sqlite_schema AS events'],
  ])('%s cannot be read', async (_what, sql) => {
    expect(await outcome(sql)).toMatch(/^MeterSqlError: (not authorized|access to .* is prohibited|no such table: )/);
  });

  test.each([
    ['a CTE', 'WITH events AS (SELECT 5 AS n) SELECT sum(n) AS value FROM events', '5'],
    ['a subquery', 'SELECT count(*) AS value FROM (SELECT 1 UNION ALL SELECT 2) AS events', '2'],
    ['an alias', `SELECT sum(e.properties['n']) AS value FROM events AS e`, '6'],
    ['a prefix', `SELECT sum(main.events.properties['n']) AS value FROM main.events`, '6'],
    ['a comment', 'SELECT count(*) /* FROM raw_events */ AS value FROM events -- WHERE 0', '3'],
  ])('%s reads its own rows and nothing else', async (_what, sql, expected) => {
    expect(await outcome(sql)).toBe(`value ${expected}`);
  });
});

describe('statements that are no query', () => {
  test.each([
    ['a second statement', 'SELECT 1 AS value; DROP TABLE events'],
    ['a comment after the end', 'SELECT 1 AS value; -- more'],
    ['an empty second statement', 'SELECT 1 AS value;;'],
    ['ATTACH of a file', `ATTACH DATABASE '/etc/passwd' AS other`],
    ['ATTACH of a new file', `ATTACH DATABASE '${attackFile}' AS other`],
    ['DETACH', 'DETACH DATABASE main'],
    ['VACUUM INTO a file', `VACUUM INTO '${attackFile}'`],
    ['PRAGMA', 'PRAGMA query_only = 0'],
    ['a PRAGMA that reads', 'PRAGMA database_list'],
    ['CREATE TABLE', 'CREATE TABLE other (value)'],
    ['CREATE TABLE AS', 'CREATE TABLE other AS SELECT 1 AS value'],
    ['CREATE TEMP VIEW', 'CREATE TEMP VIEW other AS SELECT 1 AS value'],
    ['CREATE VIRTUAL TABLE', 'CREATE VIRTUAL TABLE other USING fts5(value)'],
    ['CREATE TRIGGER', 'CREATE TRIGGER other AFTER INSERT ON events BEGIN SELECT 1; END'],
    ['INSERT', `INSERT INTO events VALUES ('a', 'b', '{}')`],
    ['INSERT that returns', `INSERT INTO events VALUES ('a', 'b', '{}') RETURNING 1 AS value`],
    ['UPDATE that returns', `UPDATE events SET properties = '{}' RETURNING 1 AS value`],
    ['DELETE that returns', 'DELETE FROM events RETURNING 1 AS value'],
    ['DELETE in a CTE', 'WITH gone AS (SELECT 1) DELETE FROM events'],
    ['DROP TABLE', 'DROP TABLE events'],
    ['ALTER TABLE', 'ALTER TABLE events RENAME TO other'],
    ['BEGIN', 'BEGIN'],
    ['SAVEPOINT', 'SAVEPOINT here'],
    ['REINDEX', 'REINDEX'],
    ['ANALYZE', 'ANALYZE'],
    ['EXPLAIN', 'EXPLAIN SELECT 1 AS value'],
    ['EXPLAIN QUERY PLAN', 'EXPLAIN QUERY PLAN SELECT 1 AS value'],
    ['a NUL', 'SELECT 1 AS value \0 FROM nowhere'],
    ['half a surrogate', `SELECT length('\uD800') AS value`],
    ['a quote that is not closed', `SELECT 'open AS value FROM events`],
    ['a bracket that is not closed', 'SELECT [open AS value FROM events'],
    ['a comment that is not closed', 'SELECT 1 AS other /* value'],
    ['one megabyte', `SELECT ${'1+'.repeat(500_000)}1 AS value`],
    ['ten thousand brackets', `SELECT ${'('.repeat(9_000)}1${')'.repeat(9_000)} AS value`],
    ['a long sum', `SELECT ${'1+'.repeat(5_000)}1 AS value`],
    ['a hundred levels', `SELECT ${'abs('.repeat(100)}1${')'.repeat(100)} AS value`],
    ['a function of seventeen values', `SELECT max(${'1,'.repeat(16)}1) AS value`],
    ['a pattern of 201 characters', `SELECT 'a' LIKE '${'a'.repeat(201)}' AS value`],
    ['many unions', `SELECT max(n) AS value FROM (${'SELECT 1 AS n UNION ALL '.repeat(20)}SELECT 2)`],
    ['many columns', `SELECT count(*) AS value FROM (SELECT ${'1,'.repeat(100)}1)`],
    [
      'a recursive CTE',
      'WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT max(n) AS value FROM c',
    ],
    ['one without the word', 'WITH c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT max(n) AS value FROM c'],
  ])('%s is refused', async (_what, sql) => {
    expect(await outcome(sql)).toMatch(/^MeterSqlError: /);
  });

  test('the events are what they were after all of these, and no file was made', async () => {
    expect(existsSync(attackFile)).toBe(false);
    expect(await outcome(`SELECT sum(properties['n']) AS value FROM events`)).toBe('value 6');
  });
});

describe('functions', () => {
  test.each([
    "load_extension('/tmp/evil.so')",
    'random()',
    'randomblob(1000000000)',
    'length(zeroblob(1000000000))',
    `length(printf('%.*c', 1000000000, 'x'))`,
    `length(format('%1000000000d', 1))`,
    'changes()',
    'total_changes()',
    'last_insert_rowid()',
    'sqlite_version()',
    'sqlite_source_id()',
    `sqlite_compileoption_used('THREADSAFE')`,
    `sqlite_log(1, 'x')`,
    'length(current_timestamp)',
    'current_date',
    'current_time',
    'exp(1)',
    'pow(2, 0.5)',
    `fts3_tokenizer('simple')`,
    `length(group_concat(properties))`,
  ])('%s is refused by name', async (call) => {
    expect(await outcome(`SELECT ${call} AS value FROM events`)).toMatch(
      /^MeterSqlError: not authorized to use function/,
    );
  });

  test.each([
    `unixepoch('now')`,
    `unixepoch('NOW')`,
    `unixepoch('n' || 'ow')`,
    `unixepoch(CAST(x'6e6f7700' AS TEXT))`,
    `unixepoch(x'6e6f77')`,
    'unixepoch()',
    `unixepoch('subsec')`,
    `julianday('now')`,
    'julianday()',
    `strftime('%s')`,
    `CAST(strftime('%s', 'now') AS INTEGER)`,
    `length(date())`,
    `length(time('now'))`,
    `length(datetime('subsecond'))`,
    `length(timediff('now', '2026-01-01'))`,
    `length(timediff('2026-01-01', 'now'))`,
    `unixepoch('2026-01-01', 'localtime')`,
    `unixepoch('2026-01-01', 'utc')`,
    `unixepoch('2026-01-01', '+1 day', 'LocalTime')`,
  ])('%s cannot see the clock or the time zone', async (call) => {
    expect(await outcome(`SELECT ${call} AS value`)).toMatch(
      /^MeterSqlError: \w+\(\) (may not read|needs a time|takes no)/,
    );
  });

  test.each([
    [`unixepoch('2026-03-01', '+1 month', 'start of day')`, '1775001600'],
    [`CAST(strftime('%H', '2026-03-01T07:30:00.000Z') AS INTEGER)`, '7'],
    [`julianday('2026-03-01') - julianday('2026-02-28')`, '1'],
    [`unixepoch('tomorrow')`, 'null'],
    [`unixepoch(NULL)`, 'null'],
  ])('%s is the same on every day and machine', async (call, expected) => {
    expect(await outcome(`SELECT ${call} AS value`)).toBe(`value ${expected}`);
  });
});

describe('time and memory', () => {
  const slack = 2_000;

  async function hurried(sql: string, count = 1_000): Promise<{ outcome: string; milliseconds: number }> {
    const start = performance.now();
    const events = numberedEvents(count);
    const found = await outcomeOf(meterSql, { sql, events, deadlineMilliseconds: 400 });
    return { outcome: found, milliseconds: performance.now() - start };
  }

  test.each([
    ['a join of the events with themselves', 'SELECT count(*) AS value FROM events a, events b, events c, events d'],
    [
      'a pattern that goes back and forth',
      `SELECT count(*) AS value FROM events a, events b, events c
       WHERE a.properties || b.properties || c.properties LIKE '%1%2%3%4%5%6%7%8%9%x'`,
    ],
    [
      'a text that grows at each step',
      `WITH a AS (SELECT replace('xxxxxxxxxx', 'x', 'xxxxxxxxxx') AS t),
            b AS (SELECT replace(t, 'x', t) AS t FROM a),
            c AS (SELECT replace(t, 'x', 'xxxxxxxxxx') AS t FROM b)
       SELECT sum(length(replace(c.t, 'x', x.properties)) + length(y.properties)) AS value FROM c, events x, events y`,
    ],
    [
      'a sort of all combinations',
      `SELECT count(*) AS value FROM
         (SELECT DISTINCT a.properties || b.properties || c.properties FROM events a, events b, events c)`,
    ],
  ])('%s is refused or killed in time', async (_what, sql) => {
    const { outcome: found, milliseconds } = await hurried(sql);
    expect(found).toMatch(
      /^MeterSqlError: (it ran longer than 0.4 s|it took more than 256 MiB|string or blob too big)/,
    );
    expect(milliseconds).toBeLessThan(400 + slack);
  });

  test('a text beyond a million characters is refused', async () => {
    const sql = `SELECT length(replace(replace(replace('${'x'.repeat(1000)}', 'x', '${'y'.repeat(1000)}'), 'y', 'zz'), 'z', 'zz')) AS value`;
    expect(await outcome(sql)).toBe('MeterSqlError: string or blob too big');
  });

  test.runIf(process.platform === 'linux')('what takes too much memory is killed before its time is over', async () => {
    const sql = `SELECT count(*) AS value FROM (SELECT DISTINCT a.properties || b.properties FROM events a, events b)`;
    const events = eventsOf(...Array.from({ length: 300 }, (_value, n) => ({ n, text: 'x'.repeat(20_000) })));
    expect(await outcomeOf(meterSql, { sql, events })).toBe('MeterSqlError: it took more than 256 MiB of memory');
  });

  test('others read on while one query never ends', async () => {
    const endless = 'SELECT count(*) AS value FROM events a, events b, events c, events d';
    const ends: string[] = [];
    const slow = outcomeOf(meterSql, { sql: endless, events: numberedEvents(2_000), deadlineMilliseconds: 1_500 });
    const slowEnd = slow.then((found) => ends.push(found));
    const quick = { scope: 'other', sql: 'SELECT count(*) AS value FROM events', events: numberedEvents(3) };
    ends.push(await outcomeOf(meterSql, quick));
    await slowEnd;
    expect(ends).toEqual(['value 3', 'MeterSqlError: it ran longer than 1.5 s']);
  });

  test('a query whose master was killed ends by itself', async () => {
    const rules = { ...childRules, orphanSeconds: 0 };
    const program = `(${serveMeterSql.toString()})(process, ${JSON.stringify(rules)})`;
    const flags = ['--permission', '--allow-worker', '--no-warnings', '--input-type=commonjs', '--eval', program];
    const child = spawn(process.execPath, flags, { env: {}, stdio: ['pipe', 'ignore', 'inherit'] });
    const rows = numberedEvents(1_000).map(
      (event) => [event.eventName, event.timestampEpochMs, event.propertiesJson] as const,
    );
    const requests: ChildRequest[] = [
      { type: 'open', sql: 'SELECT count(*) AS value FROM events a, events b, events c, events d' },
      { type: 'rows', rows },
      { type: 'read' },
    ];
    child.stdin.end(requests.map((request) => `${JSON.stringify(request)}\n`).join(''));
    const [, signal] = await once(child, 'exit');
    expect(signal).toBe('SIGKILL');
  });
});

describe('what surrounds the query', () => {
  test.runIf(process.platform === 'linux')('a process without environment, of a scope alone', async () => {
    const alone = createMeterSql({ idleMilliseconds: 20_000 });
    const before = new Set(childrenOf(process.pid));
    await readingOf(alone, { sql: 'SELECT 1 AS value', scope: 'a' });
    const first = childrenOf(process.pid).find((pid) => !before.has(pid));
    await readingOf(alone, { sql: 'SELECT 2 AS value', scope: 'a' });
    expect(childrenOf(process.pid).filter((pid) => !before.has(pid))).toEqual([first]);
    expect(readFileSync(`/proc/${first}/environ`, 'utf8')).toBe('');
    const words = readFileSync(`/proc/${first}/cmdline`, 'utf8').split('\0');
    expect(words).toEqual(expect.arrayContaining(['--permission', '--max-old-space-size=256']));
    // Its own watchman, and nothing of the machine.
    expect(words.filter((word) => word.startsWith('--allow'))).toEqual(['--allow-worker']);
    await readingOf(alone, { sql: 'SELECT 3 AS value', scope: 'b' });
    expect(childrenOf(process.pid).filter((pid) => !before.has(pid) && pid !== first)).toHaveLength(1);
    alone.close();
  });

  test.runIf(process.platform === 'linux')('a process that is killed while it waits for the next query', async () => {
    const patient = createMeterSql({ idleMilliseconds: 20_000 });
    const before = new Set(childrenOf(process.pid));
    await readingOf(patient, { sql: 'SELECT 1 AS value' });
    const first = childrenOf(process.pid).find((pid) => !before.has(pid));
    if (first === undefined) throw new Error('no process was started');
    process.kill(first, 'SIGKILL');
    await expect.poll(() => childrenOf(process.pid)).not.toContain(first);
    expect(await readingOf(patient, { sql: 'SELECT 2 AS value' })).toBe('2');
    patient.close();
  });

  function childrenOf(pid: number): number[] {
    return readdirSync(`/proc/${pid}/task`)
      .flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').trim().split(' '))
      .filter((text) => text !== '')
      .map(Number);
  }
});

describe('random queries', () => {
  const tokens = [
    ['SELECT', 'FROM', 'WHERE', 'WITH', 'AS', 'value', 'events', 'properties', 'timestamp', 'event_name', 'UNION'],
    ['GROUP BY', 'ORDER BY', 'LIMIT 1', 'count(*)', 'sum(', 'max(', '(', ')', ',', '*', '+', '-', '->>', '->', '||'],
    [
      `'k'`,
      `'$.n'`,
      `properties['n']`,
      '1',
      '0.5',
      '1e9',
      '9223372036854775807',
      'NULL',
      'sqlite_schema',
      'json_each(',
    ],
    [
      'CASE WHEN',
      'THEN',
      'ELSE',
      'END',
      'OVER ()',
      'DISTINCT',
      'IN',
      'EXISTS',
      'LIKE',
      `'%n%'`,
      'CAST(',
      'AS INTEGER)',
    ],
    ['"', `'`, '[', ']', '--', '/*', '*/', ';', '\n', `x'00'`, ':a', '?', 'RECURSIVE', 'PRAGMA', 'ATTACH', 'temp.'],
  ].flat();
  const soup = fc.array(fc.constantFrom(...tokens), { maxLength: 24 }).map((words) => words.join(' '));

  const { query } = fc.letrec<{ expression: string; query: string }>((tie) => ({
    expression: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.constantFrom('1', '-2.5', 'NULL', `'7'`, 'a.timestamp', `a.properties['n']`, `x'6e6f77'`, '1e308', 'a.rowid'),
      fc
        .tuple(tie('expression'), fc.constantFrom('+', '*', '/', '||', '<', 'LIKE', '->>', 'AND'), tie('expression'))
        .map(([left, operator, right]) => `(${left} ${operator} ${right})`),
      fc
        .tuple(fc.constantFrom('sum', 'max', 'abs', 'length', 'date', 'json_type', 'random', 'hex'), tie('expression'))
        .map(([name, argument]) => `${name}(${argument})`),
      fc.tuple(tie('expression'), tie('expression')).map(([test_, then]) => `CASE WHEN ${test_} THEN ${then} END`),
      tie('query').map((inner) => `(${inner})`),
    ),
    query: fc
      .tuple(
        tie('expression'),
        fc.constantFrom('events a', 'events a, events b', '(SELECT * FROM events) a', 'sqlite_schema a'),
      )
      .map(([expression, from]) => `SELECT ${expression} AS value FROM ${from} LIMIT 1`),
  }));

  test.each([
    ['words in any order', soup],
    ['queries of any depth', query],
  ])('%s: a number of its own rows, or a refusal', async (_what, arbitrary) => {
    await fc.assert(
      fc.asyncProperty(arbitrary, async (sql) => {
        const found = await outcome(sql);
        expect(found).toMatch(/^(value (null|-?\d+(\.\d+)?)$|MeterSqlError: )/);
        expect(found).not.toMatch(/canary|987654321/);
      }),
      { numRuns: 1_000 },
    );
    expect(await outcome(`SELECT sum(properties['n']) AS value FROM events`)).toBe('value 6');
  });
});
