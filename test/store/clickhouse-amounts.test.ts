/** Events in ClickHouse that are many, long or of all times: no limit of a server, or of a text, ends their way there or back. */

import { describe, expect, test } from 'vitest';

import { limits } from '../../src/limits.ts';
import { connectClickhouse } from '../../src/store/backends/clickhouse/connection.ts';
import { moveStaged } from '../../src/store/events-elsewhere.ts';
import { openStore } from '../../src/store/open.ts';
import { useClickhouse } from '../support/clickhouse.ts';
import { aggregateOne, eventOf, insertTwoOrganizations, row } from './rows.ts';

const clickhouse = await useClickhouse();

describe.runIf(clickhouse !== undefined)('events in ClickHouse', () => {
  const openFilled = async () => {
    const events = (await clickhouse?.create()) ?? '';
    const store = await openStore(':memory:', { events, eventUpkeep: { longestTail: 100_000, leastKept: 1 } });
    const server = connectClickhouse(events);
    await store.write(insertTwoOrganizations);
    const close = async () => {
      await Promise.all([store.close(), server.close()]);
    };
    return { store, server, close };
  };

  test('as much as shared a commit moves in as many inserts as it takes, since no text holds it all', async () => {
    const { store, server, close } = await openFilled();
    const propertiesJson = JSON.stringify({ large: 'x'.repeat(limits.stagedCharacters) });
    const events = ['a', 'b', 'c'].map((key) => eventOf(key, { propertiesJson }));
    await store.write((tx) => store.events.append(tx, 'org-a', events, () => true));
    const inserts: number[] = [];
    const insert: typeof server.insert = async (table, rows) => {
      if (table === 'tallybookEvents') inserts.push(rows.length);
      await server.insert(table, rows);
    };
    await moveStaged(store, { ...server, insert });
    expect(inserts).toEqual([1, 1, 1]);
    expect(await server.ask('SELECT idempotencyKey AS key FROM tallybookEvents ORDER BY key')).toEqual(
      ['a', 'b', 'c'].map((key) => ({ key })),
    );
    await close();
  });

  test('events of more months than a server takes in one insert move as all others do', async () => {
    const { store, server, close } = await openFilled();
    const months = Array.from({ length: 101 }, (_value, index) => 2 ** 35 + index * 31 * 86_400_000);
    const events = months.map((timestampEpochMs, index) => eventOf(`month-${index}`, { timestampEpochMs }));
    await store.write((tx) => store.events.append(tx, 'org-a', events, () => true));
    await moveStaged(store, server);
    expect(await server.ask('SELECT count() AS total FROM tallybookEvents')).toEqual([{ total: 101 }]);
    await close();
  });

  test('very many that wait, and replace others, are read, recorded again and looked over as few are', async () => {
    const { store, server, close } = await openFilled();
    const customers = Array.from({ length: 5_000 }, (_value, index) => `customer-${String(index).padStart(27, '0')}`);
    await store.write(async (tx) => {
      for (const id of customers) await tx.insertInto('customers').values(row.customer('org-a', id)).execute();
    });
    const send = async (sent: string) => {
      const keys = Array.from({ length: 30_000 }, (_value, index) => `k${index}`);
      return await store.write(async (tx) => {
        const events = keys.map((key, index) =>
          eventOf(key, { customerId: customers[index % 5_000] ?? '', propertiesJson: `{"tokens":${sent}}` }),
        );
        return new Set(await store.events.append(tx, 'org-a', events, () => true));
      });
    };
    await send('1');
    await moveStaged(store, server);
    expect(await send('1')).toEqual(new Set(['same']));
    expect(await send('2')).toEqual(new Set(['replaced']));
    const { rows, total } = await store.read((tx) =>
      store.events.list(tx, { orgId: 'org-a', limit: 1, offset: 29_999 }),
    );
    expect({ total, first: rows[0]?.propertiesJson }).toEqual({ total: 30_000, first: '{"tokens":2}' });
    expect(await send('3')).toEqual(new Set(['replaced']));
    expect(await store.read((tx) => store.events.listFaults(tx, 'org-a'))).toEqual([]);
    await close();
  }, 120_000);

  const countingTexts = (include: readonly string[]) =>
    ({
      orgId: 'org-a',
      customerId: 'customer',
      boundsEpochMs: [0, 10_000],
      rules: {
        aggregationType: 'COUNT',
        groupKeys: [],
        eventTypeFilter: { include: [], exclude: [] },
        propertyFilters: [{ name: 'text', include: [...include] }],
      },
      dimensions: { needsEventName: false, propertyKeys: [] },
      isStanding: false,
    }) as const;

  test.each([
    ['more texts to compare with than one question takes', 4_000, 1],
    ['many texts, beside very many events that wait,', 500, 12_000],
  ])('a meter with %s reads what they let through', async (_what, length, waiting) => {
    const { store, server, close } = await openFilled();
    const texts = Array.from({ length: 40 }, (_value, index) => `${index}`.padEnd(length, 'x'));
    const send = async (sent: string) => {
      const keys = Array.from({ length: waiting }, (_value, index) => `waiting${index}`);
      const events = keys.map((key) => eventOf(key, { propertiesJson: JSON.stringify({ sent }) }));
      await store.write((tx) => store.events.append(tx, 'org-a', events, () => true));
    };
    await send('first');
    const events = [...texts.slice(0, 3), 'other'].map((text, index) =>
      eventOf(`key-${index}`, { propertiesJson: JSON.stringify({ text, tokens: 1 }) }),
    );
    await store.write((tx) => store.events.append(tx, 'org-a', events, () => true));
    await moveStaged(store, server);
    await send('again');
    const [[reading] = []] = await store.read(async (tx) => await aggregateOne(store.events, tx, countingTexts(texts)));
    expect(reading?.count).toBe(3);
    await close();
  });
});
