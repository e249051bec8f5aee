/** How much of its events a ClickHouse server reads for a page of them. */

import { expect, test } from 'vitest';

import { type ClickhouseServer, connectClickhouse } from '../../src/store/backends/clickhouse/connection.ts';
import { scanView, viewOf } from '../../src/store/backends/clickhouse/view.ts';
import { readPageOf } from '../../src/store/copy/event-pages.ts';
import { moveStaged } from '../../src/store/events-elsewhere.ts';
import { openStore } from '../../src/store/open.ts';
import { useClickhouse } from '../support/clickhouse.ts';
import { eventOf, insertTwoOrganizations } from './rows.ts';

const clickhouse = await useClickhouse();

const months = ['2026-01', '2026-02', '2026-03'];
const perMonth = 10_000;

test.runIf(clickhouse !== undefined)(
  'pages of events read the events of their own time, not all of them each',
  async () => {
    const events = (await clickhouse?.create()) ?? '';
    const store = await openStore(':memory:', { events });
    const server = connectClickhouse(events);
    await store.write(insertTwoOrganizations);
    for (const month of months) {
      const began = Temporal.Instant.from(`${month}-10T00:00:00Z`).epochMilliseconds;
      const batch = Array.from({ length: perMonth }, (_, index) =>
        eventOf(`${month} ${index}`, { timestampEpochMs: began + 1_000 * index }),
      );
      await store.write((tx) => store.events.append(tx, 'org-a', batch, () => true));
      await moveStaged(store, server);
    }
    const read: number[] = [];
    const watched: ClickhouseServer = {
      ...server,
      ask: async (text, parameters) => {
        const estimates = await server.ask(`EXPLAIN ESTIMATE ${text}`, parameters);
        const ofEvents = estimates.filter(({ table }) => table === 'tallybookEvents').map(({ rows }) => Number(rows));
        if (text.includes('propertiesJson')) read.push(ofEvents.reduce((sum, rows) => sum + rows, 0));
        return await server.ask(text, parameters);
      },
    };
    const places: number[] = [];
    const readPage = readPageOf(watched);
    await store.read(async (tx) => {
      for (let after = 0; ;) {
        const page = await readPage(tx, 'org-a', { after, limit: 5_000 });
        const last = page.at(-1);
        if (last === undefined) return;
        places.push(...page.map(({ place }) => place));
        after = last.place;
      }
    });
    expect(places).toEqual(Array.from({ length: months.length * perMonth }, (_, index) => index + 1));
    expect(read).toEqual(Array.from({ length: 6 }, () => perMonth));
    read.length = 0;
    let scanned = 0;
    const request = { orgId: 'org-a', customerId: 'customer', fromEpochMs: 0, toEpochMs: Number.MAX_SAFE_INTEGER };
    await store.read(async (tx) => {
      await scanView(watched, await viewOf(tx, request), { request }, () => (scanned += 1));
    });
    expect(scanned).toBe(months.length * perMonth);
    // The second page begins in the last group of rows of the first month.
    expect(read).toEqual([3, 3, 2, 1].map((left) => left * perMonth));
    await Promise.all([store.close(), server.close()]);
  },
);
