/** The texts of the queries that short commands run, for the bundle, so that those commands load no query builder. */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';

import type { Database, Transaction } from '../src/store/database.ts';
import type { Statement } from '../src/store/known-statements.ts';
import { knownTexts } from '../src/store/prepared.ts';

/**
 * The bundle's versions of `src/store/known-statements.ts` and `other-statements.ts`, by the names that they export: the declared
 * queries, compiled for SQLite.
 */
export async function statementModules(root: string): Promise<Record<'knownStatements' | 'otherStatements', string>> {
  const records = join(root, 'src/store/records');
  const builder = new Kysely<Database>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
  for (const name of readdirSync(records)) await import(join(records, name));
  return {
    knownStatements: moduleOf('knownStatements', knownTexts(builder as Transaction, true)),
    otherStatements: moduleOf('otherStatements', knownTexts(builder as Transaction, false)),
  };
}

function moduleOf(name: string, texts: ReturnType<typeof knownTexts>): string {
  // Getters, because a command runs few of the queries.
  const members = Object.entries(texts).map(
    ([query, forms]) =>
      `get ${JSON.stringify(query)}() { return {${Object.entries(forms)
        .map(([shape, each]) => `${JSON.stringify(shape)}: ${written(each)}`)
        .join(', ')}}; }`,
  );
  return `export const ${name} = {${members.join(', ')}};`;
}

function written({ sql, parameters }: Statement): string {
  const values = parameters.map((each) => (typeof each === 'bigint' ? `${each}n` : JSON.stringify(each)));
  return `{ sql: ${JSON.stringify(sql)}, parameters: [${values.join(', ')}] }`;
}
