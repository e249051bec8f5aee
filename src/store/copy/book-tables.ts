/** Rows of the tables of a book, on any SQL engine: to read, to write, and to compare. Events are not among them. */

import { sql } from 'kysely';

import { sha256 } from '../../digest.ts';
import { dumpedTables } from '../backends/postgres/tables.ts';
import { fetchedAtOnce, rowsByCursor } from '../backends/postgres/whole-tables.ts';
import type { Transaction } from '../database.ts';

const ofEvents = new Set(['bookFacts', 'events', 'eventVersions', 'eventHeads', 'stagedEvents']);

/** Every table after those that it refers to, with the columns that order its rows. */
export const bookTables: readonly (readonly [name: string, keys: readonly string[]])[] = Object.entries(dumpedTables)
  .filter(([name]) => !ofEvents.has(name))
  .map(([name, order]) => [name, order.split(' ')]);

export interface TableDigest {
  readonly table: string;
  readonly rowCount: number;
  /** SHA-256 of all rows in order, without when a key was last used. */
  readonly digest: string;
}

type Row = Readonly<Record<string, bigint | string | null>>;

/** Fewer than any engine's limit. */
const parametersAtOnce = 30_000;

/** Gives the rows of a table in order, some at a time. */
export type ReadRows = (tx: Transaction, table: string, keys: readonly string[]) => AsyncGenerator<readonly Row[]>;

/** For a file, whose rows lie in that order. */
export const rowsOfFile: ReadRows = async function* (tx, table, keys) {
  const columns = sql.join(keys.map((key) => sql.ref(key)));
  let behind = sql``;
  for (;;) {
    const query = sql<Row>`SELECT * FROM ${sql.table(table)} ${behind} ORDER BY ${columns} LIMIT ${fetchedAtOnce}`;
    const { rows } = await query.execute(tx);
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < fetchedAtOnce) return;
    behind = sql`WHERE (${columns}) > (${sql.join(keys.map((key) => last[key]))})`;
  }
};

/** For a server, which has no index for most of these orders and would sort the table again for each page. */
export const rowsOfServer: ReadRows = async function* (tx, table, keys) {
  const order = keys.map((key) => `"${key}"`).join(', ');
  yield* rowsByCursor(tx, `SELECT * FROM "${table}" ORDER BY ${order}`) as AsyncGenerator<readonly Row[]>;
};

export async function digestTables(tx: Transaction, rowsOf: ReadRows): Promise<TableDigest[]> {
  const digests: TableDigest[] = [];
  for (const [table, keys] of bookTables) {
    const hash = sha256();
    let rowCount = 0;
    for await (const rows of rowsOf(tx, table, keys)) {
      for (const row of rows) hash.update(textOf(row));
      rowCount += rows.length;
    }
    digests.push({ table, rowCount, digest: hash.digest('hex') });
  }
  return digests;
}

/** Only a note, which whoever reads a book with a key renews: it makes no other book. */
const noted = 'lastUsedAt';

/** Columns are ordered by name, because engines have them in different orders. */
function textOf(row: Row): string {
  const members = Object.keys(row)
    .filter((name) => name !== noted)
    .toSorted()
    .map((name) => [name, typeof row[name] === 'bigint' ? String(row[name]) : row[name]]);
  return `${JSON.stringify(members)}\n`;
}

/** Writes every row of `source` to `target`, whose tables are empty. */
export async function copyTables(source: Transaction, rowsOf: ReadRows, target: Transaction): Promise<void> {
  for (const [table, keys] of bookTables) {
    for await (const rows of rowsOf(source, table, keys)) await insert(target, table, rows);
  }
}

async function insert(tx: Transaction, table: string, rows: readonly Row[]): Promise<void> {
  const names = Object.keys(rows[0] ?? {});
  const atOnce = Math.max(1, Math.floor(parametersAtOnce / names.length));
  for (let start = 0; start < rows.length; start += atOnce) {
    const values = rows.slice(start, start + atOnce).map((row) => sql`(${sql.join(names.map((name) => row[name]))})`);
    const columns = sql.join(names.map((name) => sql.ref(name)));
    await sql`INSERT INTO ${sql.table(table)} (${columns}) VALUES ${sql.join(values)}`.execute(tx);
  }
}
