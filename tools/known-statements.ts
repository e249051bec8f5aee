/** The texts of the queries that short commands run, for the bundle, so that these load no query builder. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';

import type { Database, Transaction } from '../src/store/database.ts';
import type { Statement } from '../src/store/known-statements.ts';
import { knownTexts } from '../src/store/prepared.ts';

type Texts = ReturnType<typeof knownTexts>;

/** Records that the file of every call has in it (`service` in build.ts): no other file has to be loaded for what they ask. */
const ofEveryCall = ['book-facts', 'organizations', 'customers', 'contacts', 'webhooks'];

/**
 * What `src/store/known-statements.ts` and `other-statements.ts` are in the bundle, by the names that they export: the same
 * queries as they are declared, compiled for SQLite.
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
  const declarations = ofEveryCall.map((name) => readFileSync(join(records, `${name}.ts`), 'utf8')).join('');
  const parts = Object.groupBy(Object.entries(knownTexts(builder as Transaction)), ([query]) =>
    declarations.includes(` name: '${query}',`) ? 'known' : 'other',
  );
  return {
    knownStatements: moduleOf('knownStatements', parts.known ?? []),
    otherStatements: moduleOf('otherStatements', parts.other ?? []),
  };
}

function moduleOf(name: string, texts: readonly (readonly [string, Texts[string]])[]): string {
  // Each is made when it is asked for: a command runs few of them.
  const members = texts.map(
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
