/** How PostgreSQL carries out statements whose plan matters. */

import pg from 'pg';
import { describe, expect, test, vi } from 'vitest';

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
      const sent = vi.spyOn(pg.Client.prototype, 'query');
      await store.events.aggregateNamed(
        tx,
        { ...of, dimensions: { needsEventName: false, propertyKeys: [] } },
        { contractIds: ['contract'], meters: [{ ...rules, eventTypeFilter: { include: [], exclude: [] } }] },
      );
      const statements = sent.mock.calls.map(([statement]) => statement as unknown as pg.QueryConfig<unknown[]>);
      sent.mockRestore();
      const asked = statements.find(({ text }) => text.includes('width_bucket'));
      // A process names only so many of its statements, so this one gets a name of its own.
      await rowsOfText(tx, `PREPARE asked AS ${asked?.text}`);
      await rowsOfText(tx, 'SET LOCAL plan_cache_mode = force_generic_plan');
      const values = asked?.values?.map(() => 'NULL').join(', ');
      return await rowsOfText(tx, `EXPLAIN EXECUTE asked(${values})`);
    });
    expect(plan.map((row) => row['QUERY PLAN'])).toContainEqual(expect.stringContaining('hashed SubPlan'));
    await store.close();
  });
});
