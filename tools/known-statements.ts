/** The texts of the queries that short commands run, for the bundle, so that these load no query builder. */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';

import type { Database, Transaction } from '../src/store/database.ts';
import type { Statement } from '../src/store/known-statements.ts';
import { knownTexts } from '../src/store/prepared.ts';

/** What `src/store/known-statements.ts` is in the bundle: the same queries as they are declared, compiled for SQLite. */
export async function knownStatementsModule(root: string): Promise<string> {
  const records = join(root, 'src/store/records');
  for (const name of readdirSync(records)) await import(join(records, name));
  const builder = new Kysely<Database>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
  const texts = Object.entries(knownTexts(builder as Transaction)).map(
    ([name, forms]) =>
      `${JSON.stringify(name)}: {${Object.entries(forms)
        .map(([shape, each]) => `${JSON.stringify(shape)}: ${written(each)}`)
        .join(', ')}}`,
  );
  return `export const knownStatements = {${texts.join(', ')}};`;
}

function written({ sql, parameters }: Statement): string {
  const values = parameters.map((each) => (typeof each === 'bigint' ? `${each}n` : JSON.stringify(each)));
  return `{ sql: ${JSON.stringify(sql)}, parameters: [${values.join(', ')}] }`;
}
