/** What SQLite alone does, with the durability of the product: the limits that rates of the product are held against. */

import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const settings = 'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 10000;';
const eventCount = 100_000;
const commits = 2_000;

/** L1: events a second into a table with a unique key and an index to find them by. */
export function bareEventsPerSecond(folder: string, batchSize: number): number {
  return withFreshFile(folder, (database) => {
    database.exec(`CREATE TABLE events (org TEXT, id TEXT, customer TEXT, time INTEGER, properties TEXT, UNIQUE (org, id)) STRICT;
      CREATE INDEX found ON events (org, customer, time);`);
    const insert = database.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?)');
    return perSecond(batchSize === 1 ? commits : eventCount, batchSize, database, (i) => {
      insert.run('org', randomUUID(), `customer-${(i * 7919) % 1000}`, i, `{"model":"small","tokens":${i % 900}}`);
    });
  });
}

/** L2: the smallest durable write, alone. */
export function bareCommitsPerSecond(folder: string): number {
  return bareEventsPerSecond(folder, 1);
}

/** L3: deductions a second: an entry is written and the balance of its wallet lowered, `batchSize` in a commit. */
export function bareDeductionsPerSecond(folder: string, batchSize: number): number {
  return withFreshFile(folder, (database) => {
    database.exec(`CREATE TABLE wallets (id INTEGER PRIMARY KEY, balance INTEGER CHECK (balance >= 0)) STRICT;
      CREATE TABLE entries (id TEXT PRIMARY KEY, wallet INTEGER, cents INTEGER) STRICT;`);
    const wallet = database.prepare('INSERT INTO wallets VALUES (?, 1000000000)');
    for (let i = 0; i < 1000; i += 1) wallet.run(i);
    const lower = database.prepare('UPDATE wallets SET balance = balance - 1 WHERE id = ?');
    const entry = database.prepare('INSERT INTO entries VALUES (?, ?, -1)');
    return perSecond(batchSize === 1 ? commits : eventCount, batchSize, database, (i) => {
      lower.run(i % 1000);
      entry.run(randomUUID(), i % 1000);
    });
  });
}

function withFreshFile(folder: string, measure: (database: DatabaseSync) => number): number {
  const file = join(folder, 'bare.db');
  for (const part of ['', '-wal', '-shm']) rmSync(`${file}${part}`, { force: true });
  const database = new DatabaseSync(file);
  try {
    database.exec(settings);
    return measure(database);
  } finally {
    database.close();
  }
}

function perSecond(count: number, batchSize: number, database: DatabaseSync, write: (index: number) => void): number {
  const began = performance.now();
  for (let first = 0; first < count; first += batchSize) {
    database.exec('BEGIN IMMEDIATE');
    for (let i = first; i < first + batchSize; i += 1) write(i);
    database.exec('COMMIT');
  }
  return (count / (performance.now() - began)) * 1000;
}
