/** Opens what runs SQL meters: the one place that knows which backend does. */

import { once } from '../once.ts';
import type { MeterSql, MeterSqlOptions } from './meter-sql.ts';

/** Runs SQL meters; the backend is loaded and started with the first query. */
export function createMeterSql(options: MeterSqlOptions = {}): MeterSql {
  let backend: MeterSql | undefined;
  let isClosed = false;
  const load = once(async () => {
    const { createSqliteMeterSql } = await import('./backends/sqlite/meter-sql/meter-sql.ts');
    backend = createSqliteMeterSql(options);
    if (isClosed) backend.close();
    return backend;
  });
  return {
    check: async (query) => await (await load()).check(query),
    run: async (run) => await (await load()).run(run),
    close: () => {
      isClosed = true;
      backend?.close();
    },
  };
}

/** Makes this process the one that runs SQL meters for another; see `ownWords`. */
export async function serveMeterSql(host: NodeJS.Process): Promise<void> {
  (await import('./backends/sqlite/meter-sql/process.ts')).serveMeterSqlIn(host);
}
