/** The ClickHouse server of a run of tests, for those that ask. */

import type { TestProject } from 'vitest/node';

import { startClickhouse } from './clickhouse-process.ts';
import { serveOnDemand } from './server-on-demand.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Where to ask for the server. */
    clickhouse: string;
  }
}

/** Gives what ends it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { url, end } = await serveOnDemand(startClickhouse, async (server) => await server.stop());
  project.provide('clickhouse', url);
  return end;
}
