/** The PostgreSQL server of a run of tests, for those that ask. */

import type { TestProject } from 'vitest/node';

import { openStore } from '../../src/store/open.ts';
import { startPostgres } from './postgres-process.ts';
import type { PostgresServer } from './postgres-process.ts';
import { makeOnDemand } from './on-demand.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Where to ask for the server. */
    postgres: string;
  }
}

/** A database with our tables, which new ones are copied from. */
export const templateName = 'tallybook_template';

/** Gives what ends it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { url, end } = await makeOnDemand({
    make: startWithTemplate,
    tell: ({ port }) => ({ port }),
    end: async (server) => await server.remove(),
  });
  project.provide('postgres', url);
  return end;
}

async function startWithTemplate(): Promise<PostgresServer> {
  const server = await startPostgres();
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: server.url('postgres') });
  await client.connect();
  await client.query(`CREATE DATABASE "${templateName}"`);
  await client.end();
  await (await openStore(server.url(templateName))).close();
  return server;
}
