/** Events that wait in the books and move to ClickHouse: they count once, from their commit on, whatever happens on the way. */

import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';

import { limits } from '../../src/limits.ts';
import type { Transaction } from '../../src/store/database.ts';
import { connectClickhouse } from '../../src/store/backends/clickhouse/connection.ts';
import { moveStaged } from '../../src/store/events-elsewhere.ts';
import { openStore } from '../../src/store/open.ts';
import { updateOrganization } from '../../src/store/records/organizations.ts';
import { useClickhouse } from '../support/clickhouse.ts';
import { usePostgres } from '../support/postgres.ts';
import { contractRow, eventOf, insertTwoOrganizations } from './rows.ts';

const clickhouse = await useClickhouse();
const postgres = clickhouse === undefined ? undefined : await usePostgres();

describe.runIf(clickhouse !== undefined)('moving events to ClickHouse', () => {
  const openFilled = async (mostStaged: number = limits.stagedEvents) => {
    const events = (await clickhouse?.create()) ?? '';
    const store = await openStore(':memory:', { events, eventUpkeep: { longestTail: mostStaged, leastKept: 1 } });
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

  test('few that are large do not wait until they are many', async () => {
    const { store, server, append, close } = await openFilled();
    const propertiesJson = JSON.stringify({ large: 'x'.repeat(limits.stagedCharacters) });
    await store.write((tx) => store.events.append(tx, 'org-a', [eventOf('a', { propertiesJson })], () => true));
    await append('b');
    expect(await server.ask('SELECT idempotencyKey FROM tallybookEvents')).toEqual([{ idempotencyKey: 'a' }]);
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

  test('what shares a commit with others does not move before it: taken back, it may come again as other events', async () => {
    const { store, server, append, keys, close } = await openFilled(2);
    const appendIn = async (tx: Transaction, ...sent: string[]) =>
      await store.events.append(
        tx,
        'org-a',
        sent.map((key) => eventOf(key)),
        () => true,
      );
    await append('a', 'b');
    const taken = store.write(async (tx) => {
      await appendIn(tx, 'c', 'd');
      expect(await appendIn(tx, 'd', 'e', 'f')).toEqual(['same', 'new', 'new']);
      await appendIn(tx, 'g');
      throw new Error('the commit was lost');
    });
    await expect(taken).rejects.toThrow('the commit was lost');
    await store.write(async (tx) => {
      await sql`SAVEPOINT member`.execute(tx);
      await appendIn(tx, 'refused', 'd');
      await sql`ROLLBACK TO member`.execute(tx);
      expect(await appendIn(tx, 'e', 'c')).toEqual(['new', 'new']);
      expect(await appendIn(tx, 'c', 'h')).toEqual(['same', 'new']);
      const { rows } = await store.events.list(tx, { orgId: 'org-a', limit: 100, offset: 0 });
      expect(rows.map(({ idempotencyKey }) => idempotencyKey)).toEqual(['h', 'c', 'e', 'b', 'a']);
    });
    await append('i');
    await moveStaged(store, server);
    expect(await keys()).toEqual(['a', 'b', 'e', 'c', 'h', 'i']);
    expect(await store.read((tx) => store.events.listFaults(tx, 'org-a'))).toEqual([]);
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

  test('doctor finds nothing wrong with numbers of more digits than a server counts, and finds what is wrong beside them', async () => {
    const { events, store, server, close } = await openFilled();
    const long = '9'.repeat(40);
    const texts = [`{"v":${long}}`, `{"v":-${long}.5}`, `{"v":"\\u0041${long}"}`, `{"v":1e39}`];
    const given = texts.map((propertiesJson, index) => eventOf(`long ${index}`, { propertiesJson }));
    await store.write((tx) => store.events.append(tx, 'org-a', given, () => true));
    await moveStaged(store, server);
    const faults = async () => await store.read((tx) => store.events.listFaults(tx, 'org-a'));
    expect(await faults()).toEqual([]);
    await clickhouse?.run(
      events,
      `ALTER TABLE tallybookEvents UPDATE propertiesJson = '{"v":0${long}}' WHERE idempotencyKey = 'long 0'
       SETTINGS mutations_sync = 1`,
    );
    expect(await faults()).toEqual([{ idempotencyKey: 'long 0', fault: 'properties' }]);
    await close();
  });

  test('doctor names of events with foreign contracts none whose contract is its own customer’s', async () => {
    const { store, server, close } = await openFilled();
    await store.write(async (tx) => {
      await tx
        .insertInto('contracts')
        .values(contractRow('org-a', 'other', 'only-in-a'))
        .execute();
      const events = ['customer', 'only-in-a'].flatMap((customerId) =>
        ['contract', 'other'].map((contractId) => eventOf(`${customerId} ${contractId}`, { customerId, contractId })),
      );
      await store.events.append(tx, 'org-a', events, () => true);
    });
    await moveStaged(store, server);
    const faults = await store.read((tx) => store.events.listFaults(tx, 'org-a'));
    expect(faults.map(({ idempotencyKey }) => idempotencyKey)).toEqual(['customer other', 'only-in-a contract']);
    await close();
  });

  test('doctor misses an event of which nothing is left, by its number, and none that still waits', async () => {
    const { events, store, server, append, close } = await openFilled();
    await append('a', 'b', 'c');
    await moveStaged(store, server);
    await append('d');
    const faults = async () => await store.read((tx) => store.events.listFaults(tx, 'org-a'));
    expect(await faults()).toEqual([]);
    for (const table of ['tallybookEvents', 'tallybookEventKeys']) {
      await clickhouse?.run(
        events,
        `ALTER TABLE ${table} DELETE WHERE idempotencyKey = 'b' SETTINGS mutations_sync = 1`,
      );
    }
    expect(await faults()).toEqual([{ idempotencyKey: '2', fault: 'gone' }]);
    await close();
  });
});

describe.runIf(clickhouse !== undefined)('dropping events from ClickHouse', () => {
  const day = 86_400_000;
  const mark = 31 * day;

  const openTwo = async () => {
    const events = (await clickhouse?.create()) ?? '';
    const store = await openStore(':memory:', { events });
    const server = connectClickhouse(events);
    await store.write(insertTwoOrganizations);
    const append = async (orgId: string, key: string, at: number, properties = '{}') =>
      await store.write(async (tx) =>
        store.events.append(
          tx,
          orgId,
          [eventOf(key, { timestampEpochMs: at, propertiesJson: properties })],
          () => true,
        ),
      );
    const keys = async (orgId = 'org-a') => {
      const { rows } = await store.read((tx) => store.events.list(tx, { orgId, limit: 100, offset: 0 }));
      return rows.map(({ idempotencyKey, version }) => `${idempotencyKey} ${version}`).toReversed();
    };
    const decide = async (orgId = 'org-a', before = mark) =>
      await store.write((tx) => updateOrganization(tx, orgId, { eventsDroppedBeforeEpochMs: before }));
    const drop = async (orgId = 'org-a') =>
      await store.write(async (tx) => await store.events.retention?.drop(tx, orgId), { turn: orgId });
    const stored = async () =>
      (
        await clickhouse?.ask(
          events,
          `SELECT orgId, idempotencyKey AS key, version FROM tallybookEvents FINAL ORDER BY orgId, key, version`,
        )
      )?.map(({ orgId, key, version }) => `${String(orgId)} ${String(key)} ${String(version)}`);
    const faults = async () => await store.read((tx) => store.events.listFaults(tx, 'org-a'));
    const close = async () => {
      await Promise.all([store.close(), server.close()]);
    };
    return { events, store, server, append, keys, decide, drop, stored, faults, close };
  };

  test('leaves those of another organization in the same month', async () => {
    const { store, server, append, keys, decide, drop, stored, faults, close } = await openTwo();
    for (const orgId of ['org-a', 'org-b']) {
      await append(orgId, 'january', 5 * day);
      await append(orgId, 'february', 40 * day);
    }
    await moveStaged(store, server);
    await decide();
    await drop();
    expect(await keys()).toEqual(['february 1']);
    expect(await keys('org-b')).toEqual(['january 1', 'february 1']);
    // The server rewrites what is left of the month in its own time.
    await expect.poll(stored).toEqual(['org-a february 1', 'org-b february 1', 'org-b january 1']);
    expect(await faults()).toEqual([]);
    await close();
  });

  test('takes what still waits in the book along, and a month that it cuts', async () => {
    const { append, keys, decide, drop, stored, close } = await openTwo();
    await append('org-a', 'waits', 5 * day);
    await append('org-a', 'waits, too', 45 * day);
    await decide('org-a', 45 * day);
    expect(await keys()).toEqual(['waits, too 1']);
    await drop();
    await expect.poll(stored).toEqual(['org-a waits, too 1']);
    await close();
  });

  test.each([
    ['out of the time that is dropped stays, without the version before', [5, 40], ['moved 2'], ['org-a moved 2']],
    ['into it goes, and what it was before does not come back', [40, 5], [], ['org-a moved 1']],
  ])('an event that was replaced %s', async (_, days, seen, left) => {
    const { store, server, append, keys, decide, drop, stored, faults, close } = await openTwo();
    for (const [index, at] of days.entries()) await append('org-a', 'moved', at * day, `{"version":${index}}`);
    await moveStaged(store, server);
    await decide();
    await drop();
    expect(await keys()).toEqual(seen);
    await expect.poll(stored).toEqual(left);
    expect(await faults()).toEqual([]);
    await close();
  });

  test('keeps their keys, whether or not they have moved', async () => {
    const { store, server, append, decide, drop, close } = await openTwo();
    await append('org-a', 'moved', 5 * day);
    await moveStaged(store, server);
    await append('org-a', 'waits', 5 * day);
    await decide();
    for (const key of ['moved', 'waits']) expect(await append('org-a', key, 50 * day)).toEqual(['dropped']);
    await drop();
    for (const key of ['moved', 'waits']) expect(await append('org-a', key, 50 * day)).toEqual(['dropped']);
    expect(await append('org-a', 'new', 50 * day)).toEqual(['new']);
    await close();
  });

  test('does nothing before the book has decided, and can be cut off and done again', async () => {
    const { store, server, append, keys, decide, drop, stored, close } = await openTwo();
    await append('org-a', 'january', 5 * day);
    await moveStaged(store, server);
    await drop();
    expect(await keys()).toEqual(['january 1']);
    await decide();
    await append('org-a', 'february', 40 * day);
    const cutOff = store.write(async (tx) => {
      await store.events.retention?.drop(tx, 'org-a');
      throw new Error('the machine failed');
    });
    await expect(cutOff).rejects.toThrow('the machine failed');
    expect(await keys()).toEqual(['february 1']);
    await drop();
    await expect.poll(stored).toEqual(['org-a february 1']);
    expect(await store.read((tx) => store.events.retention?.countLeft(tx, 'org-a') ?? Promise.resolve(-1))).toBe(0);
    await close();
  });

  test('a book that was restored from before is not read or written any more', async () => {
    const { store, server, append, keys, decide, drop, close } = await openTwo();
    await append('org-a', 'january', 5 * day);
    await moveStaged(store, server);
    await decide();
    await drop();
    await decide('org-a', 0);
    const words = 'that this book still needs were dropped';
    await expect(keys()).rejects.toThrow(words);
    await expect(append('org-a', 'february', 40 * day)).rejects.toThrow(words);
    expect(await keys('org-b')).toEqual([]);
    await close();
  });
});

describe.runIf(postgres !== undefined)('two processes on PostgreSQL with events in ClickHouse', () => {
  test('name an empty database at the same time, and each may use it', async () => {
    const [book, events] = [(await postgres?.create()) ?? '', (await clickhouse?.create()) ?? ''];
    const stores = await Promise.all([0, 1, 2].map(async () => await openStore(book, { events })));
    for (const store of stores) await store.close();
    const later = await openStore(book, { events });
    expect(later.isReadOnly).toBe(false);
    await later.close();
  });

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
