/**
 * Started once for a whole run of tests: answers those that ask for a ClickHouse server, which is started for the first of them
 * and ended with the run. What asks for none costs nothing.
 */

import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';

import { startClickhouse } from './clickhouse-process.ts';
import type { ClickhouseProcess } from './clickhouse-process.ts';

/** What a test file is told. */
export type ClickhouseAnswer = { readonly port: number } | { readonly reason: string };

declare module 'vitest' {
  export interface ProvidedContext {
    /** Where to ask for the server. */
    clickhouse: string;
  }
}

let server: Promise<ClickhouseProcess> | undefined;
let closeDoor = () => {};

export async function setup(project: TestProject): Promise<void> {
  const door = createServer((_request, response) => {
    server ??= startClickhouse();
    server.then(
      ({ port }) => response.end(JSON.stringify({ port } satisfies ClickhouseAnswer)),
      (error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        response.end(JSON.stringify({ reason } satisfies ClickhouseAnswer));
      },
    );
  });
  door.listen(0, '127.0.0.1').unref();
  await once(door, 'listening');
  project.provide('clickhouse', `http://127.0.0.1:${(door.address() as AddressInfo).port}`);
  closeDoor = () => {
    door.closeAllConnections();
    door.close();
  };
}

export async function teardown(): Promise<void> {
  closeDoor();
  await server?.then(
    async (started) => await started.stop(),
    () => undefined,
  );
}
