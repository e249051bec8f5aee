/**
 * Started once for a whole run of tests: answers those that ask for a PostgreSQL server, which is started for the first of
 * them and ended with the run. What asks for none costs nothing.
 */

import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';

import { openStore } from '../../src/store/open.ts';
import { startPostgres } from './postgres-process.ts';
import type { PostgresServer } from './postgres-process.ts';

/** What a test file is told. */
export type PostgresAnswer = { readonly port: number } | { readonly reason: string };

declare module 'vitest' {
  export interface ProvidedContext {
    /** Where to ask for the server. */
    postgres: string;
  }
}

/** A database with our tables, which new ones are copied from. */
export const templateName = 'tallybook_template';

let server: Promise<PostgresServer> | undefined;
let closeDoor = () => {};

export async function setup(project: TestProject): Promise<void> {
  const door = createServer((_request, response) => {
    server ??= startWithTemplate();
    server.then(
      ({ port }) => response.end(JSON.stringify({ port } satisfies PostgresAnswer)),
      (error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        response.end(JSON.stringify({ reason } satisfies PostgresAnswer));
      },
    );
  });
  door.listen(0, '127.0.0.1').unref();
  await once(door, 'listening');
  project.provide('postgres', `http://127.0.0.1:${(door.address() as AddressInfo).port}`);
  closeDoor = () => {
    door.closeAllConnections();
    door.close();
  };
}

export async function teardown(): Promise<void> {
  closeDoor();
  await server?.then(
    async (started) => await started.remove(),
    () => undefined,
  );
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
