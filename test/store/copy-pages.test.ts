/** Pages of events as a copy reads them, from wherever the events are. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, onTestFinished, test } from 'vitest';

import { createEngine } from '../../src/engine/engine.ts';
import { connectClickhouse } from '../../src/store/backends/clickhouse/connection.ts';
import { rowsOfFile } from '../../src/store/copy/book-tables.ts';
import { copyBook, measureBook } from '../../src/store/copy/copy-book.ts';
import { openEnd } from '../../src/store/copy/copy-end.ts';
import { readPageOf } from '../../src/store/copy/event-pages.ts';
import { moveStaged } from '../../src/store/events-elsewhere.ts';
import { openStore } from '../../src/store/open.ts';
import { useClickhouse } from '../support/clickhouse.ts';
import { usePostgres } from '../support/postgres.ts';
import { newDirectory } from '../support/temporary-files.ts';
import { countedBytes, countedIds, createClock } from '../support/world.ts';
import { contractRow, eventOf, insertTwoOrganizations } from './rows.ts';

const postgres = await usePostgres();
const clickhouse = await useClickhouse();

const homes = [
  ['a file', true, () => Promise.resolve({ database: ':memory:', events: undefined })],
  ['a server', postgres !== undefined, async () => ({ database: (await postgres?.create()) ?? '', events: undefined })],
  [
    'a database of events',
    clickhouse !== undefined,
    async () => ({ database: ':memory:', events: (await clickhouse?.create()) ?? '' }),
  ],
] as const;

describe.each(homes.filter(([, isThere]) => isThere))('a page of events from %s', (_name, _isThere, make) => {
  test('has every version of an event, oldest first, as it was sent', async () => {
    const place = await make();
    const { store, readPage, close } = await openEnd(place, {});
    onTestFinished(close);
    await store.write(insertTwoOrganizations);
    const version = (tokens: number) => eventOf('k', { id: `id-${tokens}`, propertiesJson: `{"tokens":${tokens}}` });
    for (const tokens of [1, 2, 3]) {
      await store.write((tx) => store.events.append(tx, 'org-a', [version(tokens), eventOf('another')], () => true));
    }
    const versions = async () => {
      const page = await store.read((tx) => readPage(tx, 'org-a', { after: 0, limit: 5 }));
      return page.map((each) => each.versions);
    };
    const sent = [
      [1, 2, 3].map((number) => ({ ...version(number), version: number })),
      [{ ...eventOf('another'), version: 1 }],
    ];
    expect(await versions()).toEqual(sent);
    if (place.events === undefined) return;
    const server = connectClickhouse(place.events);
    await moveStaged(store, server);
    await server.close();
    expect(await versions()).toEqual(sent);
  });

  test('is of fewer where they are large, and of each with all its versions', async () => {
    const place = await make();
    const { store, readPage, close } = await openEnd(place, {});
    onTestFinished(close);
    const server = place.events === undefined ? undefined : connectClickhouse(place.events);
    await store.write(insertTwoOrganizations);
    const keys = Array.from({ length: 40 }, (_, index) => `key ${index}`);
    const large = (version: number) => JSON.stringify({ text: `${version}`.repeat(500_000) });
    for (const version of [1, 2]) {
      for (const key of version === 1 ? keys : keys.slice(0, 1)) {
        const event = eventOf(key, { propertiesJson: large(version) });
        await store.write((tx) => store.events.append(tx, 'org-a', [event], () => true));
      }
    }
    if (server !== undefined) await moveStaged(store, server);
    const found: (readonly [string | undefined, number])[] = [];
    const pages = await store.read(async (tx) => {
      const sizes: number[] = [];
      for (let after = 0; ;) {
        const page = await readPage(tx, 'org-a', { after, limit: 5_000 });
        const last = page.at(-1);
        if (last === undefined) return sizes;
        found.push(...page.map(({ versions }) => [versions[0]?.idempotencyKey, versions.length] as const));
        sizes.push(page.length);
        after = last.place;
      }
    });
    expect(found).toEqual(keys.map((key, index) => [key, index === 0 ? 2 : 1]));
    expect(Math.max(...pages)).toBeLessThan(36);
    await server?.close();
  });
});

test.runIf(clickhouse !== undefined)(
  'a page is refused, not given without them, once events were dropped that its reader knows',
  async () => {
    const events = (await clickhouse?.create()) ?? '';
    const store = await openStore(':memory:', { events });
    const server = connectClickhouse(events);
    await store.write(insertTwoOrganizations);
    await store.write((tx) => store.events.append(tx, 'org-a', [eventOf('a')], () => true));
    await moveStaged(store, server);
    const page = async () => await store.read((tx) => readPageOf(server)(tx, 'org-a', { after: 0, limit: 5 }));
    expect(await page()).toHaveLength(1);
    await clickhouse?.run(events, `INSERT INTO tallybookDropped VALUES ('org-b', 1)`);
    expect(await page()).toHaveLength(1);
    await clickhouse?.run(events, `INSERT INTO tallybookDropped VALUES ('org-a', 1)`);
    await expect(page()).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('were dropped'),
    });
    await Promise.all([store.close(), server.close()]);
  },
);

test.runIf(clickhouse !== undefined)(
  'a book that has lost events is not copied, since its copy would not know that there were any',
  async () => {
    const directory = newDirectory();
    const from = { database: join(directory, 'book.db'), events: (await clickhouse?.create()) ?? '' };
    const store = await openStore(from.database, { events: from.events });
    await store.write(insertTwoOrganizations);
    for (const propertiesJson of ['{}', '{"of":"another version"}']) {
      const events = ['a', 'b'].map((key) => eventOf(key, { propertiesJson }));
      await store.write((tx) => store.events.append(tx, 'org-a', events, () => true));
    }
    await store.close();
    expect((await measureBook(from)).organizations.map(({ eventCount }) => eventCount)).toEqual([2, 0]);
    await clickhouse?.run(
      from.events,
      `ALTER TABLE tallybookEvents DELETE WHERE idempotencyKey = 'a' SETTINGS mutations_sync = 1`,
    );
    const lost = {
      kind: 'checkFailed',
      message: 'organization org-a has recorded 2 events, and 1 of them can be read',
    };
    await expect(measureBook(from)).rejects.toMatchObject(lost);
    const to = { database: join(directory, 'copy.db') };
    await expect(copyBook({ from, to, onProgress: () => undefined })).rejects.toMatchObject(lost);
    expect(existsSync(to.database)).toBe(false);
  },
);

test('a book whose events were dropped is not copied, and nothing is made for a copy', async () => {
  const directory = newDirectory();
  const from = { database: join(directory, 'book.db') };
  const to = { database: join(directory, 'copy.db') };
  const store = await openStore(from.database);
  await store.write(async (tx) => {
    await insertTwoOrganizations(tx);
    await tx.updateTable('organizations').set({ eventsDroppedBeforeEpochMs: 1 }).execute();
  });
  await store.close();
  await expect(copyBook({ from, to, onProgress: () => undefined })).rejects.toMatchObject({
    kind: 'conflict',
    message: expect.stringContaining('it cannot be copied'),
  });
  expect(existsSync(to.database)).toBe(false);
});

test('a program that has opened a database before a copy begins to fill it does not use that copy', async () => {
  const directory = newDirectory();
  const [from, to] = [{ database: join(directory, 'book.db') }, { database: join(directory, 'copy.db') }];
  const source = await openStore(from.database);
  await source.write(insertTwoOrganizations);
  await source.write((tx) => source.events.append(tx, 'org-a', [eventOf('a')], () => true));
  await source.close();
  const store = await openStore(to.database);
  const { now } = createClock();
  const engine = createEngine({
    store,
    now,
    newId: countedIds(),
    randomBytes: countedBytes(),
    finalizationGraceHours: 0,
  });
  const onProgress = () => {
    throw new Error('interrupted');
  };
  await expect(copyBook({ from, to, onProgress })).rejects.toThrow('interrupted');
  for (const organization of [undefined, 'org-a']) {
    await expect(engine.owner(organization)).rejects.toThrow(`${to.database} is a copy that is not finished`);
  }
  await engine.close();
});

test('rows of a file, which may be a megabyte each, are read few at a time, each once and in their order', async () => {
  const store = await openStore(':memory:');
  const ids = Array.from({ length: 250 }, (_, index) => `contract ${String(index).padStart(3, '0')}`);
  await store.write(async (tx) => {
    await insertTwoOrganizations(tx);
    for (const id of ids) {
      await tx
        .insertInto('contracts')
        .values(contractRow('org-a', id, 'customer'))
        .execute();
    }
  });
  const parts = await store.read(
    async (tx) => await Array.fromAsync(rowsOfFile(tx, 'contracts', ['seq']), (rows) => rows.map(({ id }) => id)),
  );
  expect(parts.flat()).toEqual(['contract', 'contract', ...ids]);
  expect(Math.max(...parts.map(({ length }) => length))).toBeLessThanOrEqual(200);
  await store.close();
});
