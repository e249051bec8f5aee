/** How PostgreSQL carries out statements whose plan matters. */

import pg from 'pg';
import { describe, expect, test, vi } from 'vitest';

import { openStore } from '../../src/store/open.ts';
import { rowsOfText } from '../../src/store/raw-query.ts';
import { usePostgres } from '../support/postgres.ts';
import { day } from './event-stories.ts';
import { eventOf, insertTwoOrganizations } from './rows.ts';

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

  test('looks for the events of a day without reading what was before it', async () => {
    const store = await openStore((await postgres?.create()) ?? '');
    await store.write(insertTwoOrganizations);
    const days = 200;
    const events = Array.from({ length: days * 100 }, (_value, index) =>
      eventOf(`k${index}`, { timestampEpochMs: Math.floor((index * day) / 100) }),
    );
    await store.write(async (tx) => await store.events.append(tx, 'org-a', events, () => true));
    const pages = await store.write(async (tx) => {
      await rowsOfText(tx, 'ANALYZE "events"');
      const sent = vi.spyOn(pg.Client.prototype, 'query');
      const span = { fromEpochMs: (days - 1) * day, toEpochMs: days * day };
      let count = 0;
      await store.events.scan(tx, { orgId: 'org-a', customerId: 'customer', ...span }, () => (count += 1));
      const [[statement] = []] = sent.mock.calls;
      sent.mockRestore();
      expect(count).toBe(100);
      const { text, values = [] } = statement as unknown as pg.QueryConfig<unknown[]>;
      const plan = await rowsOfText(tx, `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) ${text}`, values);
      const [found] = plan.flatMap((row) => /shared hit=(\d+)/.exec(String(row['QUERY PLAN'])) ?? []).slice(1);
      return Number(found);
    });
    expect(pages).toBeGreaterThan(1);
    // The index has more than a hundred.
    expect(pages).toBeLessThan(30);
    await store.close();
  });
});
