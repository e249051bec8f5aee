/** L3: what SQLite alone does with credits, with the durability of the product. */

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { removeDatabase } from './event-limits.ts';

const wallets = 1_000;

/** Deductions per second: writes an entry and lowers the balance of its wallet, `batch` of them per commit. */
export function bareDeductionsPerSecond(folder: string, { count, batch }: { count: number; batch: number }): number {
  const file = join(folder, 'bare.db');
  removeDatabase(file);
  const database = new DatabaseSync(file);
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 10000;
    CREATE TABLE wallets (id INTEGER PRIMARY KEY, balance INTEGER CHECK (balance >= 0)) STRICT;
    CREATE TABLE entries (id TEXT PRIMARY KEY, wallet INTEGER, cents INTEGER) STRICT;`);
  const wallet = database.prepare('INSERT INTO wallets VALUES (?, 1000000000)');
  for (let i = 0; i < wallets; i += 1) wallet.run(i);
  const lower = database.prepare('UPDATE wallets SET balance = balance - 1 WHERE id = ?');
  const entry = database.prepare('INSERT INTO entries VALUES (?, ?, -1)');
  const began = performance.now();
  for (let first = 0; first < count; first += batch) {
    database.exec('BEGIN IMMEDIATE');
    for (let i = first; i < first + batch; i += 1) {
      lower.run(i % wallets);
      entry.run(randomUUID(), i % wallets);
    }
    database.exec('COMMIT');
  }
  const rate = (count / (performance.now() - began)) * 1000;
  database.close();
  return rate;
}
