/**
 * Inspects a PostgreSQL database. Its pages are the server's own business: what the server has noticed of damage is reported, and
 * every index is read if the extension amcheck is installed. The schema is compared with a new one, which is made in a
 * transaction and rolled back.
 */

import type { Pool, PoolClient } from 'pg';

import { UnavailableError } from '../../../errors.ts';
import { limits } from '../../../limits.ts';
import type { DanglingReference, Inspection, InspectionOptions, SchemaDifference } from '../../inspection.ts';
import { differencesBetween } from '../../inspection.ts';
import { meaningOf } from './errors.ts';
import { versionQuery } from './schema.ts';
import { withoutLimit } from './without-limit.ts';
import { allTables } from './tables.ts';

interface Place {
  readonly location: string;
  readonly schema: string;
}

export async function inspectServer(pool: Pool, options: InspectionOptions & Place): Promise<Inspection> {
  try {
    return await inspect(pool, options);
  } catch (error) {
    throw meaningOf(error, options.location);
  }
}

async function inspect(pool: Pool, { isFull, location, schema }: InspectionOptions & Place): Promise<Inspection> {
  const client = await pool.connect();
  try {
    await client.query(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${withoutLimit}`);
    const version = await client.query<{ readonly version: bigint }>(versionQuery);
    const damages = await damagesOf(client, { schema, location }, isFull);
    const danglingReferences = isFull && damages.length === 0 ? await danglingOf(client, schema) : [];
    const found = await objectsOf(client, schema);
    await client.query('COMMIT');
    return {
      location,
      schemaVersion: Number(version.rows[0]?.version ?? 0n),
      // Who may connect is the server's own business, too.
      exposedFiles: [],
      lostSpans: [],
      damages,
      danglingReferences,
      ...(await schemaFacts(client, found)),
    };
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  } finally {
    client.release();
  }
}

/** The schema whose name is `$1`; without quoting, the server would fold the name to lower case and split it at its dots. */
const schemaNamed = 'quote_ident($1::text)::regnamespace';

/** `$1` is the schema. */
const damagedIndexes = `SELECT 'the index ' || quote_ident("index".relname) || ' is not whole: REINDEX it' AS "sentence"
  FROM pg_index JOIN pg_class AS "index" ON "index".oid = indexrelid
  WHERE "index".relnamespace = ${schemaNamed} AND NOT (indisvalid AND indisready)`;

const failedPages = `SELECT checksum_failures || ' pages of this database had a wrong checksum' AS "sentence"
  FROM pg_stat_database WHERE datname = current_database() AND checksum_failures > 0`;

async function damagesOf(client: PoolClient, place: Place, isFull: boolean): Promise<string[]> {
  const told = [
    ...(await client.query<{ readonly sentence: string }>(damagedIndexes, [place.schema])).rows,
    ...(await client.query<{ readonly sentence: string }>(failedPages)).rows,
  ].map(({ sentence }) => sentence);
  return isFull ? [...told, ...(await damagesInIndexes(client, place))].slice(0, limits.findingsPerCheck) : told;
}

/** Finds nothing if the extension is not installed or its functions may not be called. */
async function damagesInIndexes(client: PoolClient, { schema, location }: Place): Promise<string[]> {
  const { rows } = await client.query<{ readonly index: string }>(
    `SELECT indexrelid::regclass::text AS "index" FROM pg_index JOIN pg_class AS "index" ON "index".oid = indexrelid
     JOIN pg_am ON pg_am.oid = "index".relam AND amname = 'btree'
     WHERE "index".relnamespace = ${schemaNamed} AND EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'amcheck')
       AND has_function_privilege(to_regprocedure('bt_index_check(regclass,boolean)')::oid, 'EXECUTE') ORDER BY 1`,
    [schema],
  );
  const damages: string[] = [];
  for (const { index } of rows) {
    await client.query('SAVEPOINT "checked"');
    try {
      await client.query('SELECT bt_index_check($1::regclass, true)', [index]);
    } catch (error) {
      const meaning = meaningOf(error, location);
      // Whoever cancelled the check, or stopped the server, has said nothing about the index.
      if (meaning instanceof UnavailableError) throw meaning;
      damages.push(`the index ${index} is damaged: ${error instanceof Error ? error.message : String(error)}`);
      await client.query('ROLLBACK TO "checked"');
    }
  }
  return damages;
}

interface ReferenceRow {
  readonly child: string;
  readonly parent: string;
  readonly columns: readonly string[];
  readonly parentColumns: readonly string[];
}

/** The server enforces references by itself, but its owner can turn that off. */
async function danglingOf(client: PoolClient, schema: string): Promise<DanglingReference[]> {
  const names = (relation: string, numbers: string) =>
    `(SELECT json_agg(attname ORDER BY place) FROM unnest(${numbers}) WITH ORDINALITY AS "key" (number, place)
      JOIN pg_attribute ON attrelid = ${relation} AND attnum = number)`;
  const { rows } = await client.query<{ readonly [Name in keyof ReferenceRow]: string }>(
    `SELECT "child".relname AS "child", "parent".relname AS "parent",
       ${names('conrelid', 'conkey')} AS "columns", ${names('confrelid', 'confkey')} AS "parentColumns"
     FROM pg_constraint JOIN pg_class AS "child" ON "child".oid = conrelid JOIN pg_class AS "parent" ON "parent".oid = confrelid
     WHERE contype = 'f' AND connamespace = ${schemaNamed} ORDER BY 1, conname`,
    [schema],
  );
  const dangling: DanglingReference[] = [];
  for (const { child, parent, ...lists } of rows) {
    const [columns, parentColumns] = [lists.columns, lists.parentColumns].map((json) => JSON.parse(json) as string[]);
    const pairs = (columns ?? []).map((name, index) => `"parent"."${parentColumns?.[index]}" = "child"."${name}"`);
    const given = (columns ?? []).map((name) => `"child"."${name}" IS NOT NULL`);
    const found = await client.query(
      `SELECT 1 FROM "${child}" AS "child" WHERE ${given.join(' AND ')}
         AND NOT EXISTS (SELECT 1 FROM "${parent}" AS "parent" WHERE ${pairs.join(' AND ')})
       LIMIT ${limits.findingsPerCheck - dangling.length}`,
    );
    dangling.push(...found.rows.map(() => ({ table: child, row: undefined, parent })));
    if (dangling.length >= limits.findingsPerCheck) break;
  }
  return dangling;
}

type Objects = ReadonlyMap<string, string>;

/** Tables with their columns and constraints, indexes, triggers and functions, each as the server writes its definition. */
async function objectsOf(client: PoolClient, schema: string): Promise<Objects> {
  const { rows } = await client.query<{ readonly name: string; readonly text: string | null }>(objectsQuery, [
    schema,
    allTables,
  ]);
  const place = new RegExp(String.raw`"?${RegExp.escape(schema)}"?\.|search_path TO '[^\n]*'`, 'g');
  return new Map(rows.map(({ name, text }) => [name, (text ?? '').replaceAll(place, '')]));
}

const objectsQuery = `WITH "table" AS (
    SELECT oid, relname FROM pg_class WHERE relnamespace = ${schemaNamed} AND relkind = 'r' AND relname = ANY($2::text[])
  )
  SELECT 'table ' || relname AS "name", (
      SELECT string_agg(concat_ws(' ', attname, format_type(atttypid, atttypmod), collname, attnotnull, attidentity,
        pg_get_expr(adbin, adrelid)), E'\\n' ORDER BY attname)
      FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
        LEFT JOIN pg_collation ON pg_collation.oid = attcollation
      WHERE attrelid = "table".oid AND attnum > 0 AND NOT attisdropped
    ) || E'\\n' || (
      SELECT string_agg(concat_ws(' ', conname, convalidated, pg_get_constraintdef(pg_constraint.oid)), E'\\n' ORDER BY conname)
      FROM pg_constraint WHERE conrelid = "table".oid AND contype <> 'n'
    ) AS "text" FROM "table"
  UNION ALL SELECT 'index ' || "index".relname, pg_get_indexdef(indexrelid) FROM pg_index
    JOIN "table" ON indrelid = "table".oid JOIN pg_class AS "index" ON "index".oid = indexrelid
  UNION ALL SELECT 'trigger ' || tgname, tgenabled::text || ' ' || pg_get_triggerdef(pg_trigger.oid) FROM pg_trigger
    JOIN "table" ON tgrelid = "table".oid WHERE NOT tgisinternal
  UNION ALL SELECT 'function ' || proname, pg_get_functiondef(oid) FROM pg_proc
    WHERE pronamespace = ${schemaNamed} AND proname LIKE 'tallybook%'`;

const model = 'tallybook_model';

/** If this user may not make a schema, or the server is a standby, there is nothing to compare with. */
async function schemaFacts(
  client: PoolClient,
  found: Objects,
): Promise<Pick<Inspection, 'schemaDifferences' | 'schemaUnknown'>> {
  const { rows } = await client.query<{ readonly may: string; readonly standby: string }>(
    `SELECT has_database_privilege(current_database(), 'CREATE') AS "may", pg_is_in_recovery() AS "standby"`,
  );
  if (rows[0]?.standby === 't') return { schemaDifferences: [], schemaUnknown: 'the server is a standby' };
  if (rows[0]?.may !== 't') return { schemaDifferences: [], schemaUnknown: 'this user may make no schema here' };
  return { schemaDifferences: await differencesFrom(client, found) };
}

async function differencesFrom(client: PoolClient, found: Objects): Promise<SchemaDifference[]> {
  const { migrations } = await import('./migrations/index.ts');
  await client.query(`BEGIN READ WRITE; ${withoutLimit}; CREATE SCHEMA ${model}; SET LOCAL search_path TO ${model}`);
  for (const { statements } of migrations) for (const statement of statements) await client.query(statement);
  const expected = await objectsOf(client, model);
  await client.query('ROLLBACK');
  return differencesBetween(expected, found).filter((each) => !isFaster(each));
}

/** Administrators may add indexes of their own; those change no answer. */
function isFaster({ name, difference }: SchemaDifference): boolean {
  return name.startsWith('index ') && difference === 'unexpected';
}
