/** A whole book from engine to engine: the same book at the end, after an interruption too, and never over another one. */

import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';

import type { CopyPlace } from '../../src/operations/maintenance.ts';
import { backUp } from '../../src/store/backup.ts';
import { connectClickhouse } from '../../src/store/backends/clickhouse/connection.ts';
import { copyBook, measureBook } from '../../src/store/copy/copy-book.ts';
import { openEnd } from '../../src/store/copy/copy-end.ts';
import { readPageOf } from '../../src/store/copy/event-pages.ts';
import { moveStaged } from '../../src/store/events-elsewhere.ts';
import { openStore } from '../../src/store/open.ts';
import { rowsOfText } from '../../src/store/raw-query.ts';
import { listOrganizations } from '../../src/store/records/organizations.ts';
import { openBook, stepsOf } from '../reliability/book.ts';
import { dumpOf } from '../reliability/store-dump.ts';
import { useClickhouse } from '../support/clickhouse.ts';
import { usePostgres } from '../support/postgres.ts';
import { newDirectory } from '../support/temporary-files.ts';
import { eventOf, insertTwoOrganizations, row } from './rows.ts';

const postgres = await usePostgres();
const clickhouse = await useClickhouse();
const directory = newDirectory();
const original = join(directory, 'original.db');
let files = 0;

const newFile = () => join(directory, `${(files += 1)}.db`);
const quietly = { onProgress: () => undefined };

async function dumped(place: CopyPlace): Promise<string> {
  const { store, readPage, close } = await openEnd(place, {});
  try {
    return await dumpOf(store, readPage);
  } finally {
    await close();
  }
}

beforeAll(async () => {
  const book = await openBook(original);
  for (const index of stepsOf().keys()) await book.perform(index);
  const { store } = book.world;
  const [customer] = await store.read((tx) => tx.selectFrom('customers').select(['orgId', 'id']).execute());
  const { orgId, id: customerId } = customer ?? { orgId: '', id: '' };
  const versions = [1, 2, 3].map((tokens) =>
    ['x', 'y', 'z'].map((key) => eventOf(key, { customerId, propertiesJson: `{"tokens":${tokens}.10}` })),
  );
  for (const batch of versions) await store.write((tx) => store.events.append(tx, orgId, batch, () => true));
  await book.world.close();
});

describe('a copy of a book', () => {
  test('from file to file is the same book', async () => {
    const copy = { database: newFile() };
    const report = await copyBook({ from: { database: original }, to: copy, ...quietly });
    expect(report.tables.find(({ table }) => table === 'ledgerEntries')?.rowCount).toBeGreaterThan(5);
    expect(report).toEqual(await measureBook({ database: original }));
    expect(await dumped(copy)).toBe(await dumped({ database: original }));
  });

  test('has all rows of a table that are more than are read at once', async () => {
    const [from, to] = [{ database: newFile() }, { database: newFile() }];
    const store = await openStore(from.database);
    const many = Array.from({ length: 4_001 }, (_value, index) => row.customer('org-a', `many-${index}`));
    await store.write(async (tx) => {
      await insertTwoOrganizations(tx);
      for (let start = 0; start < many.length; start += 1_000) {
        await tx
          .insertInto('customers')
          .values(many.slice(start, start + 1_000))
          .execute();
      }
    });
    const { tables } = await copyBook({ from, to, ...quietly });
    expect(tables.find(({ table }) => table === 'customers')?.rowCount).toBe(many.length + 3);
    expect(await dumped(to)).toBe(await dumpOf(store));
    await store.close();
  });

  test('of a book that is not there is refused, and makes none', async () => {
    const from = { database: newFile() };
    for (const look of [copyBook({ from, to: { database: newFile() }, ...quietly }), measureBook(from)]) {
      await expect(look).rejects.toMatchObject({ kind: 'notFound' });
    }
    expect(existsSync(from.database)).toBe(false);
  });

  test('is refused in words where somebody wrote what no rule allows', async () => {
    const database = newFile();
    copyFileSync(original, database);
    const file = new DatabaseSync(database, { enableForeignKeyConstraints: false });
    file.exec(`UPDATE contracts SET planId = 'no plan' WHERE seq = 1`);
    file.close();
    const copying = copyBook({ from: { database }, to: { database: newFile() }, ...quietly });
    await expect(copying).rejects.toMatchObject({ kind: 'checkFailed', message: expect.stringContaining(database) });
  });

  test.skipIf(postgres === undefined)('to a server and back is the same book, and goes on there', async () => {
    const server = { database: (await postgres?.create({ isEmpty: true })) ?? '' };
    const back = { database: newFile() };
    await copyBook({ from: { database: original }, to: server, ...quietly });
    await copyBook({ from: server, to: back, ...quietly, eventsAtOnce: 2 });
    expect(await dumped(server)).toBe(await dumped({ database: original }));
    expect(await dumped(back)).toBe(await dumped({ database: original }));
    const store = await openStore(server.database);
    const last = async () =>
      (
        await store.read((tx) =>
          tx
            .selectFrom('customers')
            .select((row) => row.fn.max('seq').as('seq'))
            .executeTakeFirst(),
        )
      )?.seq;
    const before = await last();
    await store.write(async (tx) => {
      const [some] = await tx.selectFrom('customers').selectAll().limit(1).execute();
      if (some === undefined) throw new Error('the copy has no customers');
      const { seq: _seq, externalCustomerId: _own, ...rest } = some;
      await tx
        .insertInto('customers')
        .values({ ...rest, id: 'another' })
        .execute();
    });
    expect(await last()).toBe((before ?? 0n) + 1n);
    await store.close();
  });

  test.skipIf(clickhouse === undefined)(
    'with its events in a database of their own and back is the same book',
    async () => {
      const apart = { database: newFile(), events: (await clickhouse?.create()) ?? '' };
      const back = { database: newFile() };
      await copyBook({ from: { database: original }, to: apart, ...quietly, eventsAtOnce: 2 });
      await copyBook({ from: apart, to: back, ...quietly });
      expect(await dumped(apart)).toBe(await dumped({ database: original }));
      expect(await dumped(back)).toBe(await dumped({ database: original }));
    },
  );

  test.skipIf(clickhouse === undefined)(
    'has the events that have not moved to their own database yet, each once, on whichever page they stand',
    async () => {
      const apart = { database: newFile(), events: (await clickhouse?.create()) ?? '' };
      const store = await openStore(apart.database, { events: apart.events });
      const server = connectClickhouse(apart.events);
      const append = async (eventName: string, ...keys: string[]) => {
        const events = keys.map((key) => eventOf(key, { eventName }));
        await store.write((tx) => store.events.append(tx, 'org-a', events, () => true));
      };
      await store.write(insertTwoOrganizations);
      await append('moved', 'a', 'b', 'c');
      await moveStaged(store, server);
      await append('waits', 'd', 'e', 'b', 'f', 'g', 'h', 'i');
      const copy = { database: newFile() };
      const report = await copyBook({ from: apart, to: copy, ...quietly, eventsAtOnce: 2 });
      expect(report.organizations.map(({ eventCount }) => eventCount)).toEqual([9, 0]);
      expect(await server.ask('SELECT count() AS versions FROM tallybookEvents FINAL')).toEqual([{ versions: 3 }]);
      expect(await dumped(copy)).toBe(await dumpOf(store, readPageOf(server)));
      await Promise.all([store.close(), server.close()]);
    },
  );

  test.skipIf(postgres === undefined || clickhouse === undefined)(
    'from a server to another one with its events apart, cut off on the way, and back is the same book',
    async () => {
      const empty = async () => ({ database: (await postgres?.create({ isEmpty: true })) ?? '' });
      const [server, apart, back] = [
        await empty(),
        { ...(await empty()), events: (await clickhouse?.create()) ?? '' },
        await empty(),
      ];
      await copyBook({ from: { database: original }, to: server, ...quietly });
      const cut = copyBook({
        from: server,
        to: apart,
        eventsAtOnce: 2,
        onProgress: ({ done }) => {
          if (done >= 4) throw new Error('interrupted');
        },
      });
      await expect(cut).rejects.toThrow('interrupted');
      await expect(openStore(apart.database, { events: apart.events })).rejects.toThrow(
        'is a copy that is not finished',
      );
      expect(await copyBook({ from: server, to: apart, ...quietly, eventsAtOnce: 2 })).toEqual(
        await measureBook(server),
      );
      await copyBook({ from: apart, to: back, ...quietly, eventsAtOnce: 3 });
      const expected = await dumped({ database: original });
      expect(await dumped(apart)).toBe(expected);
      expect(await dumped(back)).toBe(expected);
      const moved = await clickhouse?.ask(apart.events, 'SELECT count() AS versions FROM tallybookEvents FINAL');
      expect(Number(moved?.[0]?.['versions'])).toBeGreaterThan(9);
    },
  );

  test.runIf(postgres !== undefined)('takes its time, whatever ends long transactions', async () => {
    const [source, target] = [(await postgres?.create()) ?? '', (await postgres?.create()) ?? ''];
    await copyBook({ from: { database: original }, to: { database: source }, ...quietly });
    const held = [source, target].map(async (database) => {
      const client = new pg.Client({ connectionString: database });
      await client.connect();
      await client.query('BEGIN; LOCK TABLE "customers" IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(2.5); ROLLBACK');
      await client.end();
    });
    const short = `?options=${encodeURIComponent('-ctransaction_timeout=1500')}&statement_timeout=1500`;
    const [from, to] = [source, target].map((database) => ({ database: `${database}${short}` }));
    await copyBook({ from: from ?? { database: '' }, to: to ?? { database: '' }, ...quietly });
    await Promise.all(held);
    expect(await dumped({ database: target })).toBe(await dumped({ database: original }));
  });

  test.runIf(postgres !== undefined)('reads at one end for as long as the other takes to be read', async () => {
    const database = (await postgres?.create()) ?? '';
    const [reading, other] = [
      await openStore(`${database}?idle_in_transaction_session_timeout=20`),
      await openStore(database),
    ];
    const organizations = await reading.read(async (tx) => {
      await listOrganizations(tx);
      await other.read(async (its) => await rowsOfText(its, 'SELECT pg_sleep(0.1)'));
      return await listOrganizations(tx);
    });
    expect(organizations).toEqual([]);
    await Promise.all([reading.close(), other.close()]);
  });

  test.runIf(postgres !== undefined)('is none onto the same database by another name', async () => {
    const database = (await postgres?.create()) ?? '';
    await copyBook({ from: { database: original }, to: { database }, ...quietly });
    const from = { database: database.replace('postgres:', 'postgresql:') };
    const copying = copyBook({ from, to: { database }, ...quietly });
    await expect(copying).rejects.toMatchObject({ kind: 'usage', message: expect.stringContaining('same database') });
    const other = { database: (await postgres?.create()) ?? '' };
    for (let times = 0; times < 2; times += 1) await copyBook({ from, to: other, ...quietly });
  });

  test('that was cut off cannot be used, and goes on', async () => {
    const copy = { database: newFile() };
    const from = { database: original };
    const steps: number[] = [];
    const cut = copyBook({
      from,
      to: copy,
      eventsAtOnce: 2,
      onProgress: ({ done }) => {
        steps.push(done);
        if (steps.length === 2) throw new Error('interrupted');
      },
    });
    await expect(cut).rejects.toThrow('interrupted');
    await expect(openStore(copy.database)).rejects.toThrow('is a copy that is not finished');
    const later: number[] = [];
    await copyBook({ from, to: copy, eventsAtOnce: 2, onProgress: ({ done }) => later.push(done) });
    const all: number[] = [];
    const whole = newFile();
    await copyBook({ from, to: { database: whole }, eventsAtOnce: 2, onProgress: ({ done }) => all.push(done) });
    expect([...steps, ...later]).toEqual(all);
    expect(await dumped(copy)).toBe(await dumped(from));
  });

  test('of two organizations that was cut off goes on with each where it was', async () => {
    const [source, copy] = [{ database: newFile() }, { database: newFile() }];
    const store = await openStore(source.database);
    await store.write(insertTwoOrganizations);
    for (const orgId of ['org-a', 'org-b']) {
      for (const eventName of ['first', 'then']) {
        const events = ['x', 'y', 'z'].map((key) => eventOf(key, { eventName }));
        await store.write((tx) => store.events.append(tx, orgId, events, () => true));
      }
    }
    await store.close();
    const cut = copyBook({
      from: source,
      to: copy,
      eventsAtOnce: 2,
      onProgress: ({ done }) => {
        if (done === 5) throw new Error('interrupted');
      },
    });
    await expect(cut).rejects.toThrow('interrupted');
    await copyBook({ from: source, to: copy, ...quietly });
    expect(await dumped(copy)).toBe(await dumped(source));
  });

  test('that another command goes on with is left to it', async () => {
    const copy = newFile();
    const copying = copyBook({
      from: { database: original },
      to: { database: copy },
      eventsAtOnce: 2,
      onProgress: () => {
        const places = `SELECT json_group_object("key", "value" + 1) FROM json_each("content", '$.places')`;
        change(copy, `UPDATE "bookFacts" SET "content" = json_set("content", '$.places', json((${places})))`);
      },
    });
    await expect(copying).rejects.toMatchObject({
      kind: 'conflict',
      message: expect.stringContaining('another command is copying to'),
    });
  });

  test.each([
    ['goes on when only a key was used since', `UPDATE "apiKeys" SET "lastUsedAt" = '2030-01-01T00:00:00.000Z'`, null],
    ['does not go on when the book has changed since', `UPDATE "customers" SET "name" = 'other'`, 'has changed since'],
  ])('%s', async (_rule, statement, refusal) => {
    const [source, copy] = [newFile(), { database: newFile() }];
    await copyBook({ from: { database: original }, to: { database: source }, ...quietly });
    const key = `SELECT "id", 'key', 'CI', '${'0'.repeat(64)}', 'abcd', '["*"]', "createdAt" FROM "organizations"`;
    change(source, `INSERT INTO "apiKeys" ("orgId", "id", "name", "digest", "suffix", "scopes", "createdAt") ${key}`);
    const interrupt = () => {
      throw new Error('interrupted');
    };
    const cut = copyBook({ from: { database: source }, to: copy, onProgress: interrupt });
    await expect(cut).rejects.toThrow('interrupted');
    change(source, statement);
    const going = copyBook({ from: { database: source }, to: copy, ...quietly });
    if (refusal === null) await going;
    else await expect(going).rejects.toMatchObject({ kind: 'conflict', message: expect.stringContaining(refusal) });
  });

  test('never goes over another book', async () => {
    const taken = newFile();
    await copyBook({ from: { database: original }, to: { database: taken }, ...quietly });
    change(taken, `UPDATE "customers" SET "name" = 'written since'`);
    const other = await openBook(join(directory, 'other.db'));
    await other.world.close();
    for (const to of [taken, join(directory, 'other.db')]) {
      await expect(copyBook({ from: { database: original }, to: { database: to }, ...quietly })).rejects.toMatchObject({
        kind: 'conflict',
        message: expect.stringContaining('already holds a book'),
        hint: `give an empty database, or first remove ${to} if nothing in it is needed`,
      });
    }
  });

  test('that was cut off while it was looked over is found to be the same book by the same command', async () => {
    const paths = { from: { database: original }, to: { database: newFile() } };
    const report = await copyBook({ ...paths, ...quietly });
    const before = await dumped(paths.to);
    expect(await copyBook({ ...paths, ...quietly })).toEqual(report);
    expect(await dumped(paths.to)).toBe(before);
  });

  test('that is not whole is not backed up', async () => {
    const copy = { database: newFile() };
    const cut = copyBook({
      from: { database: original },
      to: copy,
      onProgress: () => {
        throw new Error('interrupted');
      },
    });
    await expect(cut).rejects.toThrow('interrupted');
    const backup = join(directory, 'unfinished.backup');
    await expect(backUp({ from: copy.database, to: backup, createdAt: 'now' })).rejects.toMatchObject({
      kind: 'conflict',
      message: expect.stringContaining('is a copy that is not finished'),
    });
    expect(existsSync(backup)).toBe(false);
  });

  test.each([
    ['a row', `UPDATE "customers" SET "name" = "name" || '!'`, 'a row of customers is different'],
    ['a missing row', 'DELETE FROM "webhookDeliveries"; DELETE FROM "contacts"', 'rows of contacts'],
    [
      'an event',
      `DROP TRIGGER "events_update"; DROP TRIGGER "events_keepVersion"; UPDATE "events" SET "receivedAtEpochMs" = 1`,
      'is different',
    ],
  ])('that differs from the book in %s is found out, and cannot be used', async (_, statement, problem) => {
    const copy = newFile();
    let isChanged = false;
    const copying = copyBook({
      from: { database: original },
      to: { database: copy },
      onProgress: () => {
        if (!isChanged) change(copy, statement);
        isChanged = true;
      },
    });
    await expect(copying).rejects.toMatchObject({ kind: 'checkFailed', message: expect.stringContaining(problem) });
    await expect(openStore(copy)).rejects.toThrow('is a copy that is not finished');
  });
});

function change(file: string, statement: string): void {
  const database = new DatabaseSync(file);
  database.exec(statement);
  database.close();
}
