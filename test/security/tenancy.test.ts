/**
 * SEC-34: each table of organizations is read and changed by the organization. In the queries of records, as they are written;
 * and in every statement of a book that is kept, those of events among them.
 */

import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { beforeAll, expect, test } from 'vitest';

import { allOperations } from '../../src/operations/all.ts';
import type { OperationName } from '../../src/operations/index.ts';
import { openBook, stepsOf } from '../reliability/book.ts';
import { watchStatements } from '../reliability/statements.ts';
import { readSources } from '../support/sources.ts';
import { newDirectory } from '../support/temporary-files.ts';

const statements = new Set<string>();
/** Those that have an organization in their rows. */
let tables: ReadonlySet<string>;

beforeAll(async () => {
  const file = join(newDirectory(), 'book.db');
  const steps = stepsOf();
  const { world, perform } = await openBook(file, steps);
  const stop = watchStatements((sql) => statements.add(sql.replaceAll(/\s+/g, ' ').trim()));
  for (const index of steps.keys()) await perform(index);
  for (const { name, examples } of allOperations) {
    for (const { input } of examples) await world.billing.call(name as OperationName, input).catch(() => undefined);
  }
  stop();
  await world.close();
  const database = new DatabaseSync(file);
  const rows = database
    .prepare(
      `SELECT DISTINCT t."name" FROM sqlite_schema AS t, pragma_table_info(t."name") AS c WHERE c."name" = 'orgId'`,
    )
    .all();
  database.close();
  tables = new Set(rows.map(({ name }) => String(name)));
}, 60_000);

/** Queries that are of no organization, by file and beginning. */
const queriesOfNone = [
  // A key says whose it is.
  "api-keys.ts: selectFrom('apiKeys') .select((row) => [ ...columns,",
  // Events that wait are moved for all.
  "staged-events.ts: selectFrom('stagedEvents').select('orgId').distinct()",
  // A sender works for all, and leases the rows that it has just found.
  "webhook-queue.ts: selectFrom('webhookDeliveries as due')",
  "webhook-queue.ts: selectFrom('webhookDeliveries as delivery')",
  "webhook-queue.ts: updateTable('webhookDeliveries').set({ leaseUntil }).where('seq', 'in', seqs)",
  "webhook-queue.ts: selectFrom('webhookEndpoints as target').where('target.isEnabled', '=', 1n)",
];

test('each query names the organization once for each of its tables', () => {
  const queries = readSources('src/store/records').flatMap(({ path, code }) =>
    [...code.matchAll(/(?:selectFrom|updateTable|deleteFrom)\('[^;]*/g)].map(
      ([query]) => `${basename(path)}: ${query.replaceAll(/\s+/g, ' ')}`,
    ),
  );
  const missing = queries.filter((query) => {
    const named = [...query.matchAll(/(?:selectFrom|updateTable|deleteFrom|Join)\('(\w+)/g)];
    const asked = query.match(/orgId', '='/g) ?? [];
    return asked.length < named.filter(([, name = '']) => tables.has(name)).length && !isOfNone(query, queriesOfNone);
  });
  expect(missing).toEqual([]);
  // Otherwise nothing was looked at.
  expect([queries.length > 100, tables.size > 15]).toEqual([true, true]);
});

/** Statements that are of no organization, by their beginning. */
const statementsOfNone = [
  // Whether there is anything in the database, which a simulated clock asks.
  'select "seq" from "customers" limit ?',
  // Of events, whose rows name a customer that was found by its organization.
  'SELECT "event"."customerSeq", "event"."seq"',
  'SELECT "event"."seq", "event"."id"',
];

test('each statement names the organization once for each of its tables', () => {
  const missing = [...statements].filter((sql) => {
    const named = [...sql.matchAll(/\b(?:from|join|update)\s+"?(\w+)"?/gi)];
    const asked = sql.match(/"orgId"\s*(?:=|in\b)/gi) ?? [];
    return asked.length < named.filter(([, name = '']) => tables.has(name)).length && !isOfNone(sql, statementsOfNone);
  });
  expect(missing).toEqual([]);
  expect(statements.size).toBeGreaterThan(150);
});

function isOfNone(text: string, beginnings: readonly string[]): boolean {
  return beginnings.some((beginning) => text.startsWith(beginning));
}
