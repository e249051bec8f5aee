/** Databases on the PostgreSQL server of a run of tests. */

import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, inject } from 'vitest';

import { superuser } from './postgres-process.ts';
import { templateName } from './postgres-setup.ts';
import { portOrSkip } from './port-or-skip.ts';

export interface PostgresDatabases {
  /** The URL of a new database: with our tables in it, or `isEmpty`. */
  readonly create: (options?: { readonly isEmpty?: boolean }) => Promise<string>;
  /** Takes the rows out of one that `create` has made, which is a hundred times as quick as making another. */
  readonly empty: (url: string) => Promise<void>;
  /** Removes a database, whoever has it open. */
  readonly drop: (url: string) => Promise<void>;
}

/** The name of the sessions of `empty`, which a test that ends those of a database has to spare. */
export const cleaner = 'cleaner';

/**
 * The server's databases, or undefined where it cannot run on this machine: then the file that asks has one skipped test,
 * which says why. Call at the top of a test file; what it creates is dropped when the file has ended.
 */
export async function usePostgres(): Promise<PostgresDatabases | undefined> {
  const port = await portOrSkip('PostgreSQL', inject('postgres'));
  if (port === undefined) return undefined;
  const url = (database: string) => `postgres://${superuser}@127.0.0.1:${port}/${database}`;
  const administrator = new pg.Client({ connectionString: url('postgres') });
  await administrator.connect();
  const created = new Set<string>();
  const cleaners = new Map<string, pg.Client>();
  const cleanerOf = async (database: string): Promise<pg.Client> => {
    const known = cleaners.get(database);
    if (known !== undefined) return known;
    const client = new pg.Client({ connectionString: database, application_name: cleaner });
    client.on('error', () => cleaners.delete(database));
    await client.connect();
    cleaners.set(database, client);
    return client;
  };
  const drop = async (database: string) => {
    created.delete(database);
    await cleaners.get(database)?.end();
    cleaners.delete(database);
    await administrator.query(`DROP DATABASE IF EXISTS "${new URL(database).pathname.slice(1)}" WITH (FORCE)`);
  };
  afterAll(async () => {
    for (const database of created) await drop(database);
    await administrator.end();
  });
  return {
    drop,
    empty: async (database) => {
      const client = await cleanerOf(database);
      const { rows } = await client.query<{ name: string }>(
        `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
         WHERE schemaname = 'public' AND tablename <> 'tallybookSchema'`,
      );
      // As a replica, so that no trigger refuses it.
      const statements = rows.map(({ name }) => `DELETE FROM ${name}`).join('; ');
      await client.query(`BEGIN; SET LOCAL session_replication_role = replica; ${statements}; COMMIT`);
    },
    create: async ({ isEmpty = false } = {}) => {
      const name = `test_${randomUUID().replaceAll('-', '')}`;
      await administrator.query(`CREATE DATABASE "${name}" TEMPLATE ${isEmpty ? 'template0' : templateName}`);
      created.add(url(name));
      return url(name);
    },
  };
}
