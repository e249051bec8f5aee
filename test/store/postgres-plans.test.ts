/** How PostgreSQL carries out statements whose plan matters. Of a file that runs many statements, not all would have names. */

import { describe, expect, test } from 'vitest';

import { openStore } from '../../src/store/open.ts';
import { rowsOfText } from '../../src/store/raw-query.ts';
import { usePostgres } from '../support/postgres.ts';

const postgres = await usePostgres();

describe.runIf(postgres !== undefined)('PostgreSQL', () => {
  test('finds the contracts of events by hash, also once the server plans for any list', async () => {
    const store = await openStore((await postgres?.create()) ?? '');
    const rules = { aggregationType: 'COUNT', groupKeys: [], propertyFilters: [] } as const;
    const of = { orgId: 'org-a', customerId: 'customer', boundsEpochMs: [0, 51], isStanding: false } as const;
    const plan = await store.read(async (tx) => {
      await store.events.aggregateNamed(
        tx,
        { ...of, dimensions: { needsEventName: false, propertyKeys: [] } },
        { contractIds: ['contract'], meters: [{ ...rules, eventTypeFilter: { include: [], exclude: [] } }] },
      );
      const [statement] = await rowsOfText(
        tx,
        `SELECT "name", cardinality(parameter_types)::int AS "count" FROM pg_prepared_statements
         WHERE "statement" LIKE '%width_bucket%'`,
      );
      await rowsOfText(tx, 'SET LOCAL plan_cache_mode = force_generic_plan');
      const values = Array.from({ length: Number(statement?.['count']) }, () => 'NULL').join(', ');
      return await rowsOfText(tx, `EXPLAIN EXECUTE ${String(statement?.['name'])}(${values})`);
    });
    expect(plan.map((row) => row['QUERY PLAN'])).toContainEqual(expect.stringContaining('hashed SubPlan'));
    await store.close();
  });
});
