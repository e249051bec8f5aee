/** The ClickHouse server of a run of tests, for those that ask. */

import type { TestProject } from 'vitest/node';

import { startClickhouse } from './clickhouse-process.ts';
import { makeOnDemand } from './on-demand.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Where to ask for the server. */
    clickhouse: string;
  }
}

/** Gives what ends it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { url, end } = await makeOnDemand({
    make: startClickhouse,
    tell: ({ port }) => ({ port }),
    end: async (server) => await server.stop(),
  });
  project.provide('clickhouse', url);
  return end;
}
