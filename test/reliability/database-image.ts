/**
 * The files of a database as they stand at one moment, taken while it is in use. That is what kill -9 leaves: what a process
 * has written is in its files, whatever becomes of the process, and SQLite builds its index of the log anew.
 */

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

const parts = ['', '-wal', '-journal', '-newest', '-new'] as const;

/** The bytes of each file that there was. */
export type DatabaseImage = Readonly<Partial<Record<(typeof parts)[number], Buffer>>>;

export function takeImage(file: string): DatabaseImage {
  const there = parts.filter((part) => existsSync(`${file}${part}`));
  return Object.fromEntries(there.map((part) => [part, readFileSync(`${file}${part}`)]));
}

/** Makes `file` what the image shows, whatever it was. */
export function placeImage(file: string, image: DatabaseImage): void {
  for (const part of [...parts, '-shm']) rmSync(`${file}${part}`, { force: true });
  for (const [part, bytes] of Object.entries(image)) writeFileSync(`${file}${part}`, bytes);
}

export function isSameImage(one: DatabaseImage, other: DatabaseImage): boolean {
  return parts.every((part) => (one[part] ?? Buffer.alloc(0)).equals(other[part] ?? Buffer.alloc(0)));
}

/** Every row of every table, a line each, in the order of writing. Two books are the same when these texts are. */
export function dump(file: string): string {
  return withDatabase(file, (database) => {
    const names = tablesOf(database);
    return names.flatMap((name) => [`# ${name}`, ...rowsOf(database, name)]).join('\n');
  });
}

/** The definitions of a database, in the order of their names and without spaces that say nothing. */
export function schemaOf(file: string): string[] {
  return withDatabase(file, (database) =>
    database
      .prepare('SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name')
      .all()
      .map((row) => `${String(row['type'])} ${String(row['name'])}: ${String(row['sql']).replaceAll(/\s+/g, ' ')}`),
  );
}

export function withDatabase<T>(file: string, use: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(file, { readBigInts: true });
  try {
    return use(database);
  } finally {
    database.close();
  }
}

/** The tables of ours, by name. */
export function tablesOf(database: DatabaseSync): string[] {
  return database
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name`)
    .all()
    .map((row) => String(row['name']));
}

function rowsOf(database: DatabaseSync, table: string): string[] {
  const columns = database.prepare(`PRAGMA table_info("${table}")`).all();
  const order = columns.some(({ name }) => name === 'seq') ? '"seq"' : columns.map((_, index) => index + 1).join(', ');
  const rows = database.prepare(`SELECT * FROM "${table}" ORDER BY ${order}`).all();
  return rows.map((row) =>
    JSON.stringify(row, (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)),
  );
}
