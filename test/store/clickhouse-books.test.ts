/** Several books and one database of events: whose it is. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { connectClickhouse } from '../../src/store/backends/clickhouse/connection.ts';
import { openStore } from '../../src/store/open.ts';
import { useClickhouse } from '../support/clickhouse.ts';
import { newDirectory } from '../support/temporary-files.ts';
import { eventOf, insertTwoOrganizations } from './rows.ts';

const clickhouse = await useClickhouse();

describe.runIf(clickhouse !== undefined)('a database of events', () => {
  test('of two books that were given one empty database neither mixes its events with the other, nor is lost', async () => {
    const [events, another] = [(await clickhouse?.create()) ?? '', (await clickhouse?.create()) ?? ''];
    const directory = newDirectory();
    const [first, second] = [join(directory, 'first.db'), join(directory, 'second.db')];
    const eager = { events, eventUpkeep: { longestTail: 1, leastKept: 1 } };
    const running = await openStore(first, eager);
    await running.write(insertTwoOrganizations);
    const append = async (store: typeof running, key: string) =>
      await store.write((tx) => store.events.append(tx, 'org-a', [eventOf(key)], () => true));
    await append(running, 'of the first');
    const taking = await openStore(second, eager);
    await expect(append(running, 'refused')).rejects.toThrow('was taken by another book; nothing was moved');
    await taking.write(insertTwoOrganizations);
    for (const key of ['of the second', 'and another']) await append(taking, key);
    await Promise.all([running.close(), taking.close()]);
    await expect(openStore(first, eager)).rejects.toThrow('has the events of another book');
    for (const [database, place, keys] of [
      [first, another, ['of the first']],
      [second, events, ['and another', 'of the second']],
    ] as const) {
      const store = await openStore(database, { events: place });
      const { rows } = await store.read((tx) => store.events.list(tx, { orgId: 'org-a', limit: 100, offset: 0 }));
      expect(rows.map(({ idempotencyKey }) => idempotencyKey)).toEqual(keys);
      await store.close();
    }
  });

  test('stays that of its book when all of its events have gone', async () => {
    const events = (await clickhouse?.create()) ?? '';
    const directory = newDirectory();
    const [first, second] = [join(directory, 'first.db'), join(directory, 'second.db')];
    const store = await openStore(first, { events });
    await store.write(insertTwoOrganizations);
    await store.write((tx) => store.events.append(tx, 'org-a', [eventOf('gone')], () => true));
    await store.close();
    const server = connectClickhouse(events);
    await server.run('TRUNCATE TABLE tallybookEvents');
    await server.close();
    await expect(openStore(second, { events })).rejects.toThrow('has the events of another book');
    await (await openStore(first, { events })).close();
  });

  test('that was restored from before its book moved more is neither read nor written, under a book that is open or not', async () => {
    const events = (await clickhouse?.create()) ?? '';
    const directory = newDirectory();
    const open = async () =>
      await openStore(join(directory, 'book.db'), { events, eventUpkeep: { longestTail: 1, leastKept: 1 } });
    const running = await open();
    await running.write(insertTwoOrganizations);
    const append = async (store: typeof running, key: string) =>
      await store.write((tx) => store.events.append(tx, 'org-a', [eventOf(key)], () => true));
    const keys = async (store: typeof running, orgId = 'org-a') => {
      const { rows } = await store.read((tx) => store.events.list(tx, { orgId, limit: 100, offset: 0 }));
      return rows.map(({ idempotencyKey }) => idempotencyKey);
    };
    for (const key of ['moved', 'moved later', 'waiting']) await append(running, key);
    expect(await keys(running)).toEqual(['waiting', 'moved later', 'moved']);
    for (const table of ['tallybookEvents', 'tallybookEventKeys', 'tallybookBatches']) {
      await clickhouse?.run(events, `ALTER TABLE ${table} DELETE WHERE batch > 1 SETTINGS mutations_sync = 1`);
    }
    const refused = { kind: 'unavailable', message: expect.stringContaining('has moved there are missing') };
    await expect(keys(running)).rejects.toMatchObject(refused);
    await expect(append(running, 'refused')).rejects.toMatchObject(refused);
    expect(await keys(running, 'org-b')).toEqual([]);
    await running.close();
    const later = await open();
    await expect(keys(later)).rejects.toMatchObject(refused);
    await later.close();
  });

  test('that fails in an unknown way as its book is closed does not keep the book open', async () => {
    const events = (await clickhouse?.create()) ?? '';
    const directory = newDirectory();
    const file = join(directory, 'book.db');
    const store = await openStore(file, { events });
    await store.write(insertTwoOrganizations);
    await store.write((tx) => store.events.append(tx, 'org-a', [eventOf('staged')], () => true));
    await clickhouse?.run(events, 'ALTER TABLE tallybookEvents ADD CONSTRAINT none CHECK version = 0');
    await expect(store.close()).rejects.toThrow('Constraint');
    expect(existsSync(`${file}-wal`)).toBe(false);
  });
});
