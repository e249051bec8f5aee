/** A database of events that is away when a book is opened: what needs no events goes on, and what needs them waits for it. */

import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';

import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';

import { openStore } from '../../src/store/open.ts';
import type { Store, StoreOptions } from '../../src/store/store.ts';
import { startBlackHole } from '../support/black-hole.ts';
import { useClickhouse } from '../support/clickhouse.ts';
import { freePort } from '../support/free-port.ts';
import { newDirectory } from '../support/temporary-files.ts';
import { eventOf, insertTwoOrganizations, row } from './rows.ts';

const clickhouse = await useClickhouse();
const eventUpkeep = { longestTail: 1, leastKept: 1 };

/** What leads to the server of `url`, at `port` if it is given. */
async function startWay(url: string, port = 0): Promise<Server> {
  const { hostname, port: target } = new URL(url.replace('clickhouse:', 'http:'));
  const way = createServer((socket) => {
    const onward = connect(Number(target), hostname);
    socket.pipe(onward).pipe(socket);
    for (const end of [socket, onward]) end.on('error', () => [socket, onward].forEach((each) => each.destroy()));
  });
  way.listen(port, '127.0.0.1');
  await once(way, 'listening');
  return way;
}

describe.runIf(clickhouse !== undefined)('a database of events that is away', () => {
  let directory: string;
  let file: string;
  let events: string;
  let port: number;

  beforeEach(async () => {
    directory = newDirectory();
    file = join(directory, 'book.db');
    events = (await clickhouse?.create()) ?? '';
    port = await freePort();
    const store = await openStore(file, { events, eventUpkeep });
    await store.write(insertTwoOrganizations);
    await store.write((tx) => store.events.append(tx, 'org-a', [eventOf('before')], () => true));
    await store.close();
  });

  /** The same database of events, by the port at which nothing answers yet. */
  const placeAt = (url: string): string => {
    const parsed = new URL(url.replace('clickhouse:', 'http:'));
    parsed.host = `127.0.0.1:${port}`;
    return parsed.href.replace('http:', 'clickhouse:');
  };

  async function open(options: StoreOptions = {}): Promise<Store> {
    const store = await openStore(file, { events: placeAt(events), eventUpkeep, ...options });
    onTestFinished(async () => await store.close());
    return store;
  }

  const keysOf = async (store: Store): Promise<string[]> => {
    const { rows } = await store.read((tx) => store.events.list(tx, { orgId: 'org-a', limit: 100, offset: 0 }));
    return rows.map(({ idempotencyKey }) => idempotencyKey);
  };
  const append = async (store: Store, key: string) =>
    await store.write((tx) => store.events.append(tx, 'org-a', [eventOf(key)], () => true));
  const away = { kind: 'unavailable', message: expect.stringContaining('cannot be reached') };

  test('a book opens, is read and written; events are refused, and counted again when it is back', async () => {
    const store = await open();
    await store.write((tx) => tx.insertInto('customers').values(row.customer('org-a', 'new')).execute());
    const customers = await store.read((tx) => tx.selectFrom('customers').select('id').execute());
    expect(customers.map(({ id }) => id)).toContain('new');
    await expect(keysOf(store)).rejects.toMatchObject(away);
    await expect(append(store, 'refused')).rejects.toMatchObject(away);
    await expect(store.events.checkAnswers?.()).rejects.toMatchObject({ kind: 'unavailable' });
    const way = await startWay(events, port);
    onTestFinished(() => void way.close());
    await store.events.checkAnswers?.();
    await append(store, 'after');
    expect(await keysOf(store)).toEqual(['after', 'before']);
  });

  test('a book that is only read opens too', async () => {
    const store = await open({ readOnly: true });
    await expect(store.read((tx) => tx.selectFrom('customers').select('id').execute())).resolves.not.toEqual([]);
    await expect(keysOf(store)).rejects.toMatchObject(away);
  });

  test('where it comes back with the events of another book, none of them counts', async () => {
    const other = (await clickhouse?.create()) ?? '';
    const store = await open({ events: placeAt(other) });
    const way = await startWay(other, port);
    onTestFinished(() => void way.close());
    const refused = { kind: 'unavailable', message: expect.stringContaining('does not have the events of') };
    await expect(store.events.checkAnswers?.()).rejects.toMatchObject(refused);
    await expect(append(store, 'lost')).rejects.toMatchObject(refused);
    await expect(keysOf(store)).rejects.toMatchObject(refused);
    expect(await clickhouse?.ask(other, 'SHOW TABLES')).toEqual([]);
  });

  test('where it takes connections and never answers, the book waits for it once, and goes on with what needs no events', async () => {
    const hole = await startBlackHole(Number(new URL(events.replace('clickhouse:', 'http:')).port));
    onTestFinished(hole.close);
    port = hole.port;
    const store = await open();
    expect(await keysOf(store)).toEqual(['before']);
    hole.swallow();
    const silent = { kind: 'unavailable', message: expect.stringContaining('do not answer'), retryAfterSeconds: 5 };
    const waiting = keysOf(store);
    const customers = store.read((tx) => tx.selectFrom('customers').select('id').execute());
    const began = performance.now();
    await expect(waiting).rejects.toMatchObject(silent);
    expect(await customers).not.toEqual([]);
    expect(performance.now() - began).toBeLessThan(10_000);
    await expect(store.events.checkAnswers?.()).rejects.toMatchObject(silent);
    const refused = performance.now();
    await expect(append(store, 'refused')).rejects.toMatchObject(silent);
    expect(performance.now() - refused).toBeLessThan(2_000);
    hole.pass();
    await store.events.checkAnswers?.();
    await append(store, 'after');
    expect(await keysOf(store)).toEqual(['after', 'before']);
  }, 40_000);

  test('a book that has no events there yet is not opened', async () => {
    const place = { events: placeAt(events), eventUpkeep };
    await expect(openStore(join(directory, 'new.db'), place)).rejects.toMatchObject(away);
  });

  test('who is refused by it does not open the book, since that does not pass by itself', async () => {
    const wrong = events.replace(/:[^:@/]+@/, ':wrong@');
    expect(wrong).not.toBe(events);
    await expect(openStore(file, { events: wrong })).rejects.toThrow('refuses this user');
  });
});
