/** Events that wait in the books and move to ClickHouse: they count once, from their commit on, whatever happens on the way. */

import { describe, expect, test } from 'vitest';

import { connectClickhouse } from '../../src/store/backends/clickhouse-server.ts';
import { moveStaged } from '../../src/store/events-elsewhere.ts';
import { openStore } from '../../src/store/open.ts';
import { useClickhouse } from '../support/clickhouse.ts';
import { usePostgres } from '../support/postgres.ts';
import { eventOf, insertTwoOrganizations } from './rows.ts';

const clickhouse = await useClickhouse();
const postgres = clickhouse === undefined ? undefined : await usePostgres();

describe.runIf(clickhouse !== undefined)('moving events to ClickHouse', () => {
  const openFilled = async () => {
    const events = (await clickhouse?.create()) ?? '';
    const store = await openStore(':memory:', { events });
    const server = connectClickhouse(events);
    await store.write(insertTwoOrganizations);
    const append = async (...keys: string[]) =>
      await store.write(async (tx) =>
        store.events.append(
          tx,
          'org-a',
          keys.map((key) => eventOf(key, { propertiesJson: `{"sent":"${key}"}` })),
          () => true,
        ),
      );
    const keys = async () => {
      const { rows } = await store.read((tx) => store.events.list(tx, { orgId: 'org-a', limit: 100, offset: 0 }));
      return rows.map(({ idempotencyKey }) => idempotencyKey).toReversed();
    };
    const close = async () => {
      await Promise.all([store.close(), server.close()]);
    };
    return { events, store, server, append, keys, close };
  };

  test('what is moved twice, because the first commit was lost, counts once', async () => {
    const { store, server, append, keys, close } = await openFilled();
    await append('a', 'b');
    const lost = store.write(async (tx) => {
      await moveStaged({ read: (work) => work(tx), write: (work) => work(tx) }, server);
      throw new Error('the machine failed');
    });
    await expect(lost).rejects.toThrow('the machine failed');
    expect(await keys()).toEqual(['a', 'b']);
    await moveStaged(store, server);
    await append('a', 'c');
    expect(await keys()).toEqual(['a', 'b', 'c']);
    expect(await store.read((tx) => store.events.listFaults(tx, 'org-a'))).toEqual([]);
    await close();
  });

  test('events of a transaction that is taken back were never there', async () => {
    const { store, append, keys, close } = await openFilled();
    const taken = store.write(async (tx) => {
      await store.events.append(tx, 'org-a', [eventOf('lost')], () => true);
      throw new Error('refused');
    });
    await expect(taken).rejects.toThrow('refused');
    await append('kept');
    expect(await keys()).toEqual(['kept']);
    await close();
  });

  test('a reader keeps the state in which it began, whatever moves meanwhile', async () => {
    const { events, store, server, append, keys, close } = await openFilled();
    await append('a');
    await moveStaged(store, server);
    // Rows of a batch that this book does not have yet.
    await clickhouse?.run(
      events,
      `INSERT INTO tallybookEvents SELECT * REPLACE (2 AS batch, 2 AS place, 'early' AS idempotencyKey) FROM tallybookEvents`,
    );
    expect(await keys()).toEqual(['a']);
    await close();
  });

  test('a book that was restored from before its events moved on is refused, and loses nothing', async () => {
    const { events, store, server, append, keys, close } = await openFilled();
    await append('a');
    await clickhouse?.run(events, `INSERT INTO tallybookBatches VALUES ('org-a', 1, 'of another story')`);
    await expect(moveStaged(store, server)).rejects.toThrow('went on without this book');
    expect(await keys()).toEqual(['a']);
    await close();
  });

  test.each([
    [
      'versions',
      `ALTER TABLE tallybookEvents DELETE WHERE version = 1 AND idempotencyKey = 'a' SETTINGS mutations_sync = 1`,
    ],
    ['versions', `ALTER TABLE tallybookEventKeys DELETE WHERE idempotencyKey = 'a' SETTINGS mutations_sync = 1`],
    [
      'owner',
      `ALTER TABLE tallybookEvents UPDATE contractId = 'nowhere' WHERE idempotencyKey = 'a' SETTINGS mutations_sync = 1`,
    ],
    [
      'properties',
      `ALTER TABLE tallybookEvents UPDATE propertiesJson = '{' WHERE idempotencyKey = 'a' SETTINGS mutations_sync = 1`,
    ],
  ])('doctor finds what is wrong there: %s', async (fault, change) => {
    const { events, store, server, append, close } = await openFilled();
    await append('a', 'b');
    await store.write((tx) => store.events.append(tx, 'org-a', [eventOf('a')], () => true));
    await moveStaged(store, server);
    const faults = async () => await store.read((tx) => store.events.listFaults(tx, 'org-a'));
    expect(await faults()).toEqual([]);
    await clickhouse?.run(events, change);
    expect(await faults()).toContainEqual({ idempotencyKey: 'a', fault });
    await close();
  });
});

describe.runIf(postgres !== undefined)('two processes on PostgreSQL with events in ClickHouse', () => {
  test('record the same keys at the same time, and each counts once with its last version', async () => {
    const [book, events] = [(await postgres?.create()) ?? '', (await clickhouse?.create()) ?? ''];
    const options = { events, eventUpkeep: { longestTail: 10, leastKept: 1 } };
    const first = await openStore(book, options);
    const second = await openStore(book, options);
    await first.write(insertTwoOrganizations);
    const batches = Array.from({ length: 12 }, (_value, index) => index);
    const outcomes = await Promise.all(
      batches.map(async (index) => {
        const store = index % 2 === 0 ? first : second;
        const sent = [0, 1, 2, 3].map((key) =>
          eventOf(`k${(index + key) % 6}`, { propertiesJson: `{"tokens":${index}}` }),
        );
        return await store.write(async (tx) => await store.events.append(tx, 'org-a', sent, () => true), {
          turn: 'org-a',
        });
      }),
    );
    const all = outcomes.flat();
    expect(all.filter((outcome) => outcome === 'new')).toHaveLength(6);
    await first.close();
    const { rows, total } = await second.read((tx) =>
      second.events.list(tx, { orgId: 'org-a', limit: 100, offset: 0 }),
    );
    expect(total).toBe(6);
    expect(rows.reduce((sum, { version }) => sum + version, 0)).toBe(
      all.filter((outcome) => outcome === 'new' || outcome === 'replaced').length,
    );
    expect(await second.read((tx) => second.events.listFaults(tx, 'org-a'))).toEqual([]);
    await second.close();
  });
});
