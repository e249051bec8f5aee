/** What stands in a database of events and is not, or not only, what the book goes by. */

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { UnavailableError } from '../../src/errors.ts';
import { limits } from '../../src/limits.ts';
import { connectClickhouse, type ClickhouseServer } from '../../src/store/backends/clickhouse/connection.ts';
import type { Transaction } from '../../src/store/database.ts';
import { moveStaged } from '../../src/store/events-elsewhere.ts';
import { openStore } from '../../src/store/open.ts';
import { updateOrganization } from '../../src/store/records/organizations.ts';
import { listStagedBatches } from '../../src/store/records/staged-events.ts';
import type { Store } from '../../src/store/store.ts';
import { useClickhouse } from '../support/clickhouse.ts';
import { contractRow, eventOf, insertTwoOrganizations, row } from './rows.ts';

const clickhouse = await useClickhouse();

describe.runIf(clickhouse !== undefined)('a book with its events in ClickHouse', () => {
  let events: string;
  let store: Store;
  let server: ClickhouseServer;

  beforeEach(async () => {
    events = (await clickhouse?.create()) ?? '';
    store = await openStore(':memory:', { events });
    server = connectClickhouse(events);
  });
  afterEach(async () => {
    await Promise.all([store.close(), server.close()]);
  });

  const run = async (text: string) => await clickhouse?.run(events, text);
  const append = async (key: string, timestampEpochMs = 1_000) =>
    await store.write((tx) => store.events.append(tx, 'org-a', [eventOf(key, { timestampEpochMs })], () => true));
  const keys = async () => {
    const { rows } = await store.read((tx) => store.events.list(tx, { orgId: 'org-a', limit: 100, offset: 0 }));
    return rows.map(({ idempotencyKey, version }) => `${idempotencyKey} ${version}`).toReversed();
  };
  const stagedKeys = async () =>
    (await store.read((tx) => listStagedBatches(tx, 'org-a'))).flatMap((batch) =>
      batch.events.map(({ idempotencyKey }) => idempotencyKey),
    );

  test('goes by no row of a batch that it has not called moved: none hides an event, or makes a key known', async () => {
    await store.write(insertTwoOrganizations);
    await append('a');
    await moveStaged(store, server);
    await run(`INSERT INTO tallybookSupersededEvents
      SELECT orgId, customerId, timestampEpochMs, place, version, 2 FROM tallybookEvents`);
    for (const table of ['tallybookEvents', 'tallybookEventKeys']) {
      await run(
        `INSERT INTO ${table} SELECT * REPLACE (2 AS batch, 2 AS place, 'early' AS idempotencyKey) FROM ${table}`,
      );
    }
    expect(await keys()).toEqual(['a 1']);
    expect(await append('early', 2_000)).toEqual(['new']);
    expect(await keys()).toEqual(['a 1', 'early 1']);
  });

  test.each(['tallybookEvents', 'tallybookEventKeys', 'tallybookSupersededEvents'])(
    'keeps the events that %s has taken and does not show',
    async (table) => {
      await store.write(insertTwoOrganizations);
      await append('a');
      expect(await append('a', 2_000)).toEqual(['replaced']);
      const copy = table.replace('tallybook', 'tallybookOld');
      await run(`RENAME TABLE ${table} TO ${copy}`);
      await run(`CREATE TABLE ${table} AS ${copy} ENGINE = Null`);
      const moving = moveStaged(store, server);
      await expect(moving).rejects.toThrow('does not show them yet; nothing was recorded');
      await expect(moving).rejects.toBeInstanceOf(UnavailableError);
      expect(await stagedKeys()).toEqual(['a', 'a']);
    },
  );

  test('moves nothing of a write that has not been committed, also where its next events find the others due', async () => {
    await store.write(insertTwoOrganizations);
    const appendAt = async (tx: Transaction, key: string, milliseconds: number) =>
      await store.events.append(tx, 'org-a', [eventOf(key, { receivedAtEpochMs: milliseconds })], () => true);
    await store.write(async (tx) => await appendAt(tx, 'a', 0));
    const taken = store.write(async (tx) => {
      await appendAt(tx, 'b', limits.stagedMilliseconds - 1);
      await appendAt(tx, 'c', limits.stagedMilliseconds);
      throw new Error('taken back');
    });
    await expect(taken).rejects.toThrow('taken back');
    expect(await append('other')).toEqual(['new']);
    await moveStaged(store, server);
    expect(await keys()).toEqual(['a 1', 'other 1']);
  });

  test('moves nothing where the database was told of batches that it does not have', async () => {
    await store.write(insertTwoOrganizations);
    await append('a');
    await run(`INSERT INTO tallybookBatches VALUES ('org-a', 2, 'of another story')`);
    const moving = moveStaged(store, server);
    await expect(moving).rejects.toThrow('went on without this book');
    await expect(moving).rejects.toBeInstanceOf(UnavailableError);
    expect(await stagedKeys()).toEqual(['a']);
  });

  test('tells the database of no drop where that has gone on without it', async () => {
    await store.write(insertTwoOrganizations);
    await append('a');
    await run(`INSERT INTO tallybookBatches VALUES ('org-a', 1, 'of another story')`);
    await store.write((tx) => updateOrganization(tx, 'org-a', { eventsDroppedBeforeEpochMs: 2_000 }));
    const dropping = store.write(async (tx) => await store.events.retention?.drop(tx, 'org-a'), { turn: 'org-a' });
    await expect(dropping).rejects.toThrow('went on without this book');
    expect(await clickhouse?.ask(events, 'SELECT * FROM tallybookDropped')).toEqual([]);
  });

  test('reads the events of more contracts than one parameter can name', async () => {
    await store.write(insertTwoOrganizations);
    const others = Array.from({ length: 4_000 }, (_, index) => `01900000-0000-7000-8000-${index + 100_000_000_000}`);
    const contractIds = ['contract', ...others, 'last'];
    await store.write(async (tx) => {
      await tx
        .insertInto('contracts')
        .values(contractRow('org-a', 'last', 'customer'))
        .execute();
      const events = ['contract', 'last'].map((contractId) => eventOf(contractId, { contractId }));
      await store.events.append(tx, 'org-a', events, () => true);
    });
    await moveStaged(store, server);
    const of = {
      orgId: 'org-a',
      customerId: 'customer',
      boundsEpochMs: [0, 10_000],
      dimensions: { needsEventName: false, propertyKeys: [] },
      isStanding: false,
    };
    const meters = [
      {
        aggregationType: 'COUNT',
        groupKeys: [],
        eventTypeFilter: { include: [], exclude: [] },
        propertyFilters: [],
      } as const,
    ];
    const found = await store.read((tx) => store.events.aggregateNamed(tx, of, { contractIds, meters }));
    const read = contractIds.filter((_id, place) => (found[place]?.[0]?.[0] ?? []).length > 0);
    expect(read).toEqual(['contract', 'last']);
    const none = await store.read((tx) => store.events.aggregateNamed(tx, of, { contractIds: [], meters }));
    expect(none).toEqual([]);
  });

  test('of one organization drops a month that is cut no further than it was told', async () => {
    await store.write(async (tx) => {
      await tx.insertInto('organizations').values(row.organization('org-a')).execute();
      await tx.insertInto('customers').values(row.customer('org-a', 'customer')).execute();
    });
    const day = 86_400_000;
    for (const [key, days] of [
      ['january', 20],
      ['first of february', 31],
      ['fifth of february', 35],
    ] as const)
      await append(key, days * day);
    await moveStaged(store, server);
    await store.write((tx) => updateOrganization(tx, 'org-a', { eventsDroppedBeforeEpochMs: 35 * day }));
    await store.write(async (tx) => await store.events.retention?.drop(tx, 'org-a'), { turn: 'org-a' });
    expect(await keys()).toEqual(['fifth of february 1']);
    const stored = async () => await clickhouse?.ask(events, 'SELECT idempotencyKey AS key FROM tallybookEvents');
    await expect.poll(stored).toEqual([{ key: 'fifth of february' }]);
    expect(await append('january', 40 * day)).toEqual(['dropped']);
    expect(await append('fifth of february', 35 * day)).toEqual(['same']);
  });
});
