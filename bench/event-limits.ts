/** What bare `node:sqlite` does with the same events: the limits that the service is measured against. */

import { closeSync, fdatasyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';

import { customerName, days, eventAt, firstDay, millisecondsPerDay } from './event-data.ts';

const schema = `CREATE TABLE events (org TEXT, id TEXT, customer TEXT, name TEXT, time INTEGER, properties TEXT, UNIQUE (org, id)) STRICT;
  CREATE INDEX byCustomer ON events (customer, time);`;

export interface Range {
  readonly first: number;
  readonly last: number;
  /** The number of all events, which decides when the events of the range happened. */
  readonly count: number;
  readonly batch: number;
}

/** A table of events as anybody would make it, in a new file. */
export function openBare(file: string): DatabaseSync {
  removeDatabase(file);
  const database = new DatabaseSync(file);
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 10000;
    PRAGMA cache_size = -65536; ${schema}`);
  return database;
}

/** Removes the files beside it as well, including the note of its newest write: a file copied to its place is older. */
export function removeDatabase(file: string): void {
  for (const suffix of ['', '-wal', '-shm', '-newest']) rmSync(`${file}${suffix}`, { force: true });
}

/** L1: events per second into that table, in transactions of `batch`. */
export function bareIngestRate(database: DatabaseSync, { first, last, count, batch }: Range): number {
  const insert = prepareInsert(database);
  let spent = 0;
  for (let start = first; start < last; start += batch) {
    const events = Array.from({ length: Math.min(batch, last - start) }, (_, place) => eventAt(start + place, count));
    const rows = events.map((event) => ({ ...event, json: JSON.stringify(event.properties) }));
    const begin = performance.now();
    database.exec('BEGIN IMMEDIATE');
    for (const { key, customer, eventName, timestampEpochMs, json } of rows) {
      insert.run('organization', key, customerName(customer), eventName, timestampEpochMs, json);
    }
    database.exec('COMMIT');
    spent += performance.now() - begin;
  }
  return ((last - first) / spent) * 1000;
}

function prepareInsert(database: DatabaseSync): StatementSync {
  return database.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING');
}

/** L1n: lines of a file into that table, parsed and checked, in transactions of 10,000. */
export function bareImportRate(file: string, target: string): number {
  const database = openBare(target);
  const insert = prepareInsert(database);
  const begin = performance.now();
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  for (let start = 0; start < lines.length; start += 10_000) {
    database.exec('BEGIN IMMEDIATE');
    for (const line of lines.slice(start, start + 10_000)) {
      const event = JSON.parse(line) as Record<string, unknown>;
      const { externalCustomerId, idempotencyKey, eventName, timestamp, properties } = event;
      if (
        typeof idempotencyKey !== 'string' ||
        typeof externalCustomerId !== 'string' ||
        typeof eventName !== 'string'
      ) {
        throw new TypeError('no event');
      }
      const time = Date.parse(String(timestamp));
      insert.run('organization', idempotencyKey, externalCustomerId, eventName, time, JSON.stringify(properties));
    }
    database.exec('COMMIT');
  }
  const rate = (lines.length / (performance.now() - begin)) * 1000;
  database.close();
  return rate;
}

/** L2: durable writes of 4 KiB, per second. */
export function syncRate(file: string): number {
  const handle = openSync(file, 'w');
  const page = new Uint8Array(4096);
  const rounds = 500;
  const begin = performance.now();
  for (let round = 0; round < rounds; round += 1) {
    writeSync(handle, page, 0, page.length, round * page.length);
    fdatasyncSync(handle);
  }
  const rate = (rounds / (performance.now() - begin)) * 1000;
  closeSync(handle);
  rmSync(file);
  return rate;
}

/** The milliseconds of processor time that this process has used. */
export function processorClock(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** L4: milliseconds to read 30 days of the largest customer, 48 groups, from a table of daily sums. */
export function rollUpMilliseconds(file: string, clock = (): number => performance.now()): number {
  removeDatabase(file);
  const database = new DatabaseSync(file);
  database.exec(`CREATE TABLE days (customer INTEGER, day INTEGER, model TEXT, region TEXT, tokens INTEGER,
    PRIMARY KEY (customer, day, model, region)) STRICT, WITHOUT ROWID; BEGIN`);
  const insert = database.prepare('INSERT INTO days VALUES (?, ?, ?, ?, ?)');
  for (let customer = 0; customer < 20; customer += 1) {
    for (let cell = 0; cell < days * 48; cell += 1) {
      insert.run(customer, Math.floor(cell / 48), `model-${cell % 8}`, `region-${Math.floor(cell / 8) % 6}`, cell);
    }
  }
  database.exec('COMMIT');
  const read = database.prepare(`SELECT model, region, sum(tokens) FROM days
    WHERE customer = 0 AND day >= ? AND day < ? GROUP BY model, region`);
  const rounds = 200;
  const begin = clock();
  for (let round = 0; round < rounds; round += 1) read.all(round % 50, (round % 50) + 30);
  const milliseconds = (clock() - begin) / rounds;
  database.close();
  removeDatabase(file);
  return milliseconds;
}

/** The raw scan: milliseconds to read a range of the largest customer from its JSON rows and sum it by group. */
export function rawScanMilliseconds(
  database: DatabaseSync,
  { from, to }: { readonly from: number; readonly to: number },
) {
  const rows = database.prepare('SELECT properties FROM events WHERE customer = ? AND time >= ? AND time < ?');
  rows.setReturnArrays(true);
  const begin = performance.now();
  const sums = new Map<string, number>();
  for (const [json] of rows.iterate(customerName(0), from, to) as Iterable<unknown> as Iterable<[string]>) {
    const { model, region, tokens } = JSON.parse(json) as { model: string; region: string; tokens: number };
    const key = `${model} ${region}`;
    sums.set(key, (sums.get(key) ?? 0) + tokens);
  }
  return performance.now() - begin;
}

/** Writes all events to the bare table as fast as possible, with its indexes made last; for measuring what follows. */
export function fillBare(file: string, count: number): DatabaseSync {
  removeDatabase(file);
  const database = new DatabaseSync(file);
  database.exec(
    `PRAGMA synchronous = OFF; PRAGMA cache_size = -262144; ${schema.replace(', UNIQUE (org, id)', '').split(';')[0]}; BEGIN`,
  );
  const insert = database.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)');
  for (let i = 0; i < count; i += 1) {
    const { key, customer, eventName, timestampEpochMs, properties } = eventAt(i, count);
    insert.run('organization', key, customerName(customer), eventName, timestampEpochMs, JSON.stringify(properties));
  }
  database.exec(`COMMIT; CREATE UNIQUE INDEX byKey ON events (org, id); CREATE INDEX byCustomer ON events (customer, time);
    PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 10000; PRAGMA cache_size = -65536`);
  return database;
}

/** L5: rows per second of a sum by group over arrays, and JSON texts parsed per second. */
export function arrayRates(): { readonly grouped: number; readonly parsed: number } {
  const rows = 5_000_000;
  const groups = Uint8Array.from({ length: rows }, (_, row) => row % 48);
  const values = Float64Array.from({ length: rows }, (_, row) => row % 5_000);
  const sums = new Float64Array(48);
  const begin = performance.now();
  for (let row = 0; row < rows; row += 1) sums[groups[row] ?? 0] = (sums[groups[row] ?? 0] ?? 0) + (values[row] ?? 0);
  const middle = performance.now();
  const texts = Array.from({ length: 200_000 }, (_, i) => JSON.stringify(eventAt(i, rows).properties));
  const parsing = performance.now();
  for (const text of texts) JSON.parse(text);
  const end = performance.now();
  return { grouped: (rows / (middle - begin)) * 1000, parsed: (texts.length / (end - parsing)) * 1000 };
}

/** L6: microseconds of a prepared read by key. */
export function keyReadMicroseconds(database: DatabaseSync, count: number): number {
  const read = database.prepare('SELECT customer, time FROM events WHERE org = ? AND id = ?');
  const rounds = 20_000;
  const keys = Array.from({ length: rounds }, (_, round) => eventAt(Math.floor((round / rounds) * count), count).key);
  const begin = performance.now();
  for (const key of keys) read.get('organization', key);
  return ((performance.now() - begin) / rounds) * 1000;
}

/** The range for which costs are read: 30 days of the 90, ragged at both ends. */
export const raggedRange = (shift = 0): { readonly from: number; readonly to: number } => {
  const from = firstDay + 20 * millisecondsPerDay + 5 * 3_600_000 + 1_234_567 + shift * 977_777;
  return { from, to: from + 30 * millisecondsPerDay - 3 * 3_600_000 };
};
