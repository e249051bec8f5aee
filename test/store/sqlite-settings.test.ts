/** What SQLite is told of every file that is opened. */

import { sql } from 'kysely';
import { expect, test } from 'vitest';

import { refuseOldSqlite } from '../../src/store/backends/sqlite/handle.ts';
import { open, useTestFile } from './test-file.ts';

useTestFile();

test('a version of SQLite is used from 3.51.3 on, before which two writers could damage the log', () => {
  for (const version of ['3.51.2', '3.50.9', '2.99.99']) {
    expect(() => refuseOldSqlite(version)).toThrow(`SQLite ${version} can damage a database`);
  }
  for (const version of ['3.51.3', '3.52.0', '4.0.0']) expect(() => refuseOldSqlite(version)).not.toThrow();
});

test.each([
  ['synchronous', 2n],
  ['foreign_keys', 1n],
  ['trusted_schema', 0n],
  ['journal_mode', 'wal'],
  ['wal_autocheckpoint', 10_000n],
  ['journal_size_limit', 67_108_864n],
])(
  'a database is used with %s = %s, so that what was acknowledged is kept and nothing dangles',
  async (name, value) => {
    const made = await open();
    const { rows } = await made.write((tx) => sql`PRAGMA ${sql.raw(name)}`.execute(tx));
    await made.close();
    const again = await (await open()).write((tx) => sql`PRAGMA ${sql.raw(name)}`.execute(tx));
    expect([...rows, ...again.rows].map((found) => Object.values(found as object))).toEqual([[value], [value]]);
  },
);

test.each([
  ['a misspelt column is no text', 'SELECT "nmae" FROM "customers"', 'no such column'],
  ['its schema is not written by hand', "UPDATE sqlite_schema SET sql = ''", 'may not be modified'],
  ['no library is loaded into it', "SELECT load_extension('none')", 'not authorized'],
])('%s', async (_rule, statement, words) => {
  const store = await open();
  await expect(store.write((tx) => sql.raw(statement).execute(tx))).rejects.toThrow(words);
});

test('its schema is not written by hand by who says that it may be', async () => {
  const store = await open();
  const write = store.write(async (tx) => {
    await sql`PRAGMA writable_schema = ON`.execute(tx);
    await sql`UPDATE sqlite_schema SET sql = ''`.execute(tx);
  });
  await expect(write).rejects.toThrow('may not be modified');
});
