/** The result of the steps in `src/store/backends/sqlite/migrations`, as statements that make it at once. */

import { DatabaseSync } from 'node:sqlite';

import { migrations } from '../src/store/backends/sqlite/migrations/index.ts';

/** Statements that make of an empty database what all steps make of it: tables, indexes and triggers in order, and rows. */
export function newestSchema(): readonly string[] {
  const database = new DatabaseSync(':memory:');
  const steps = { prepare: (sql: string) => database.prepare(sql), execute: (sql: string) => database.exec(sql) };
  database.exec('PRAGMA foreign_keys = OFF');
  for (const { statements, fill } of migrations) {
    for (const statement of statements) database.exec(statement);
    fill?.(steps);
  }
  const texts = (sql: string): string[] =>
    database
      .prepare(sql)
      .all()
      .map(({ text }) => String(text));
  const definitions = texts(
    `SELECT sql AS text FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid`,
  );
  const tables = texts(`SELECT name AS text FROM sqlite_schema WHERE type = 'table' ORDER BY rowid`);
  const rows = tables.flatMap((table) => {
    const columns = texts(`SELECT name AS text FROM pragma_table_info('${table}')`);
    const values = columns.map((name) => `quote("${name}")`).join(` || ', ' || `);
    return texts(`SELECT 'INSERT INTO "${table}" VALUES (' || ${values} || ')' AS text FROM "${table}"`);
  });
  database.close();
  return [...definitions, ...rows];
}
