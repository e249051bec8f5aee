/**
 * Writes a server's database to one file, and restores it: JSON lines with all rows of one snapshot. The first line says what
 * the file is, a line with `table` and `columns` precedes the rows of each table, and the last line gives the number of rows.
 */

import { closeSync, createReadStream, openSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';

import { BillingError, ConflictError } from '../../../errors.ts';
import type { BackedUp, BackedUpOrganization, BackupManifest } from '../../../operations/backup-manifest.ts';
import { ConstraintViolation } from '../../constraint-violation.ts';
import { damagedBackup } from '../../damaged-backup.ts';
import type { Transaction } from '../../database.ts';
import { type DumpHeader, headerOf } from '../../dump-header.ts';
import { rowsOfText } from '../../raw-query.ts';
import { eventsElsewhereOf, readBookFacts, refuseUnfinished } from '../../records/book-facts.ts';
import { readCensus } from '../../records/census.ts';
import { listOrganizations } from '../../records/organizations.ts';
import { readLedgerHead } from '../../records/seals.ts';
import type { Store } from '../../store.ts';
import { postgresSchemaVersion } from './migrations/migration.ts';
import { dumpedTables } from './tables.ts';
import { openPostgresStore } from './postgres.ts';
import { analyze, goOnCounting, rowsByCursor } from './whole-tables.ts';
import { withoutLimit } from './without-limit.ts';

/** How much one statement of a restoration takes. */
const rowsAtOnce = 2_000;
const charactersAtOnce = 4 * 1024 * 1024;

/** Writes the database at `url`, as it stands at one instant, to the file at `path`. */
export async function writeDump(url: string, path: string): Promise<BackedUp> {
  const store = await openPostgresStore(url, { readOnly: true });
  try {
    return await store.read(async (tx) => {
      await rowsOfText(tx, withoutLimit);
      const facts = await readBookFacts(tx);
      refuseUnfinished(facts, store.location);
      const file = openSync(path, 'w', 0o600);
      try {
        const header: DumpHeader = { tallybookDump: 1, schemaVersion: postgresSchemaVersion };
        writeLine(file, header);
        let rowCount = 0;
        for (const [table, order] of Object.entries(dumpedTables))
          rowCount += await writeTable(tx, file, { table, order });
        writeLine(file, { rowCount });
      } finally {
        closeSync(file);
      }
      const organizations = await organizationsOf(store, tx);
      return { schemaVersion: postgresSchemaVersion, organizations, ...eventsElsewhereOf(facts) };
    });
  } finally {
    await store.close();
  }
}

async function writeTable(
  tx: Transaction,
  file: number,
  { table, order }: { readonly table: string; readonly order: string },
): Promise<number> {
  const columns = await columnsOf(tx, table);
  writeLine(file, { table, columns });
  const by = order.split(' ').map((name) => `"${name}"`);
  const selected = columns.map((name) => `"${name}"`).join(', ');
  let count = 0;
  for await (const rows of rowsByCursor(tx, `SELECT ${selected} FROM "${table}" ORDER BY ${by.join(', ')}`)) {
    const lines = rows.map((row) => JSON.stringify(columns.map((name) => textOf(row[name]))));
    writeWhole(file, `${lines.join('\n')}\n`);
    count += rows.length;
  }
  const [counted] = await rowsOfText(tx, `SELECT count(*) AS "count" FROM "${table}"`);
  if (counted?.['count'] !== BigInt(count))
    throw new Error(`${count} rows of ${table} were written, but there are more`);
  return count;
}

/** Integers become texts, because JSON has no numbers that are wide enough. */
function textOf(value: unknown): string | null {
  return typeof value === 'bigint' ? value.toString() : (value as string | null);
}

function writeLine(file: number, value: object): void {
  writeWhole(file, `${JSON.stringify(value)}\n`);
}

/** A disk that fills up takes part of a write and reports only how much. `writeFileSync` then goes on and meets the error. */
function writeWhole(file: number, text: string): void {
  writeFileSync(file, text);
}

async function columnsOf(tx: Transaction, table: string): Promise<string[]> {
  const rows = await rowsOfText(
    tx,
    `SELECT column_name AS "name" FROM information_schema.columns
     WHERE table_schema = current_schema() AND table_name = $1 ORDER BY ordinal_position`,
    [table],
  );
  return rows.map((row) => row['name'] as string);
}

async function organizationsOf(store: Store, tx: Transaction): Promise<BackedUpOrganization[]> {
  const organizations: BackedUpOrganization[] = [];
  for (const { id, name } of await listOrganizations(tx)) {
    const customers = tx.selectFrom('customers').select((row) => row.fn.countAll<bigint>().as('total'));
    const { total } = await customers.where('orgId', '=', id).executeTakeFirstOrThrow();
    organizations.push({
      id,
      name,
      customerCount: Number(total),
      ...(await readCensus(tx, id)),
      eventCount: (await store.events.list(tx, { orgId: id, limit: 1, offset: 0 })).total,
      ledgerHead: await readLedgerHead(tx, id),
    });
  }
  return organizations;
}

/**
 * Fills the database at `url`, which must be empty, from the file at `path`, whole or not at all. Throws ConflictError if the
 * database is not empty, and a failed check if the rows are not what the manifest says.
 */
export async function restoreDump(path: string, url: string, manifest: BackupManifest): Promise<void> {
  if (headerOf(path)?.schemaVersion !== postgresSchemaVersion || manifest.schemaVersion !== postgresSchemaVersion) {
    throw new BillingError(
      'checkFailed',
      `the backup ${path} has a different schema from this program; nothing was restored`,
      {
        hint: 'restore it with the version of tallybook that wrote it, then open it with this one',
      },
    );
  }
  const store = await openPostgresStore(url, {});
  try {
    await store.write(async (tx) => {
      await rowsOfText(tx, withoutLimit);
      const found = [...(await listOrganizations(tx)), ...Object.keys(await readBookFacts(tx))];
      if (found.length > 0) {
        throw new ConflictError(`${store.location} already holds a book, which is never overwritten`, {
          hint: 'give another database, or another schema of it: ?options=-csearch_path%3DNAME',
        });
      }
      await insertRows(tx, path).catch((error: unknown) => {
        const isOfTheFile = error instanceof ConstraintViolation || error instanceof SyntaxError;
        throw isOfTheFile ? damagedBackup(path, error.message) : error;
      });
      await goOnCounting(tx);
      if (!isDeepStrictEqual(await organizationsOf(store, tx), manifest.organizations)) {
        throw damagedBackup(path, 'its rows are not what its manifest says');
      }
      await analyze(tx);
    });
  } finally {
    await store.close();
  }
}

async function insertRows(tx: Transaction, path: string): Promise<void> {
  let target: { readonly table: string; readonly columns: readonly string[] } | undefined;
  let batch: object[] = [];
  let characters = 0;
  let rowCount = 0;
  let expected: number | undefined;

  async function flush(): Promise<void> {
    if (target === undefined || batch.length === 0) return;
    const columns = target.columns.map((name) => `"${name}"`).join(', ');
    const text = `INSERT INTO "${target.table}" (${columns})
      SELECT ${columns} FROM json_populate_recordset(NULL::"${target.table}", $1::json)`;
    await rowsOfText(tx, text, [JSON.stringify(batch)]);
    rowCount += batch.length;
    batch = [];
    characters = 0;
  }

  for await (const line of linesOf(path)) {
    const value = JSON.parse(line) as readonly (string | null)[] | Readonly<Record<string, unknown>>;
    if (Array.isArray(value)) {
      const row = value as readonly (string | null)[];
      batch.push(Object.fromEntries((target?.columns ?? []).map((name, index) => [name, row[index]])));
      characters += line.length;
      if (batch.length === rowsAtOnce || characters > charactersAtOnce) await flush();
      continue;
    }
    await flush();
    const { table, columns, rowCount: total } = value as Readonly<Record<string, unknown>>;
    if (typeof total === 'number') expected = total;
    if (table === undefined) continue;
    target = { table: knownTable(path, table), columns: await columnsOf(tx, table as string) };
    if (JSON.stringify(target.columns) !== JSON.stringify(columns)) throw damagedBackup(path, 'it has other columns');
  }
  if (rowCount !== expected) throw damagedBackup(path, 'it is not whole');
}

/** The lines of a file, split at line feeds alone. Node's own reader also splits at U+2028 and U+2029, which rows may contain. */
async function* linesOf(path: string): AsyncGenerator<string> {
  let line = '';
  for await (const piece of createReadStream(path, 'utf8')) {
    const [end = '', ...others] = (piece as string).split('\n');
    line += end;
    for (const other of others) {
      yield line;
      line = other;
    }
  }
  if (line !== '') yield line;
}

/** Names become part of statements as they are, so only known ones pass. */
function knownTable(path: string, table: unknown): string {
  if (typeof table === 'string' && Object.hasOwn(dumpedTables, table)) return table;
  throw damagedBackup(path, 'it has an unknown table');
}
