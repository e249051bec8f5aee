/** Tables of events that somebody else made, or changed: nothing that is recorded is kept by half. */

import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';

import { connectClickhouse } from '../../src/store/backends/clickhouse/connection.ts';
import { moveStaged } from '../../src/store/events-elsewhere.ts';
import { openStore } from '../../src/store/open.ts';
import { updateOrganization } from '../../src/store/records/organizations.ts';
import { listStagedBatches } from '../../src/store/records/staged-events.ts';
import type { Store } from '../../src/store/store.ts';
import { useClickhouse } from '../support/clickhouse.ts';
import { eventOf, insertTwoOrganizations } from './rows.ts';

const clickhouse = await useClickhouse();

describe.runIf(clickhouse !== undefined)('tables of events', () => {
  let events: string;
  beforeEach(async () => {
    events = (await clickhouse?.create()) ?? '';
    await (await open()).close();
  });

  const open = async (settings = '') => await openStore(':memory:', { events: `${events}${settings}` });
  const alter = async (change: string) => await clickhouse?.run(events, `ALTER TABLE tallybookEvents ${change}`);

  async function openWithOne(settings = ''): Promise<Store> {
    const store = await open(settings);
    onTestFinished(async () => await store.close());
    await store.write(insertTwoOrganizations);
    const { contractId, ...event } = eventOf('a', { propertiesJson: '{"tokens":7}' });
    await store.write((tx) => store.events.append(tx, 'org-a', [{ ...event, contractId: null }], () => true));
    expect(contractId).toBeNull();
    return store;
  }

  async function move(store: Store, settings = ''): Promise<void> {
    const server = connectClickhouse(`${events}${settings}`);
    onTestFinished(async () => await server.close());
    await moveStaged(store, server);
  }

  const waiting = async (store: Store) =>
    (await store.read((tx) => listStagedBatches(tx, 'org-a'))).flatMap((batch) => batch.events).length;

  const unfit = (why: RegExp) => ({
    kind: 'unavailable',
    message: expect.stringMatching(
      new RegExp(`^the tables of clickhouse:.* are not those of this program: ${why.source}`),
    ),
    hint: expect.stringContaining('SHOW CREATE TABLE'),
  });

  test.each([
    ['a column is missing', 'DROP COLUMN isLate', /tallybookEvents needs a column isLate UInt8, but has none/],
    ['a number is too narrow', 'MODIFY COLUMN receivedAtEpochMs Int32', /.* receivedAtEpochMs Int64, but has Int32/],
    [
      'nothing stands for no contract',
      'DROP COLUMN contractId, ADD COLUMN contractId String',
      /.* Nullable\(String\), but has String/,
    ],
  ])('in which %s are not taken for a book', async (_case, change, why) => {
    await alter(change);
    await expect(open()).rejects.toMatchObject(unfit(why));
  });

  test('may keep values in their own way, and have columns of others', async () => {
    await alter('MODIFY COLUMN eventName String, MODIFY COLUMN customerId LowCardinality(String)').catch(
      () => undefined,
    );
    await alter("MODIFY COLUMN eventName String, ADD COLUMN region String DEFAULT 'eu'");
    const store = await openWithOne();
    await move(store);
    expect(await waiting(store)).toBe(0);
    const { rows } = await store.read((tx) => store.events.list(tx, { orgId: 'org-a', limit: 100, offset: 0 }));
    expect(rows).toMatchObject([{ idempotencyKey: 'a', propertiesJson: '{"tokens":7}', contractId: null }]);
  });

  test.each([
    ['are gone', 'DROP TABLE tallybookEvents', /.*tallybookEvents/],
    ['have lost a column', 'ALTER TABLE tallybookEvents DROP COLUMN propertiesJson', /.*propertiesJson/],
    [
      'take no empty value',
      'ALTER TABLE tallybookEvents DROP COLUMN contractId, ADD COLUMN contractId String',
      /.*contractId/,
    ],
  ])('that %s behind the back of a book take nothing of it', async (_case, statement, why) => {
    const store = await openWithOne();
    await clickhouse?.run(events, statement);
    await expect(move(store)).rejects.toMatchObject(unfit(why));
    expect(await waiting(store)).toBe(1);
  });

  test('that stand before those of other servers drop no events, and say so', async () => {
    const store = await openWithOne();
    await move(store);
    await clickhouse?.run(events, 'RENAME TABLE tallybookEvents TO tallybookEventsOfShard');
    await clickhouse?.run(
      events,
      `CREATE TABLE tallybookEvents AS tallybookEventsOfShard
       ENGINE = Merge('${new URL(events).pathname.slice(1)}', 'OfShard$')`,
    );
    await store.write((tx) => updateOrganization(tx, 'org-a', { eventsDroppedBeforeEpochMs: 2_000 }));
    const dropping = store.write(async (tx) => await store.events.retention?.drop(tx, 'org-a'), { turn: 'org-a' });
    await expect(dropping).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringMatching(/^the tables of .* do not take this statement: .*doesn't support mutations/),
      hint: expect.stringContaining('every shard'),
    });
  });

  test.each(['', '?input_format_allow_errors_num=9', '?input_format_allow_errors_ratio=1'])(
    'that do not take a value leave the event where it is, whatever a user is allowed (%s)',
    async (settings) => {
      const store = await openWithOne(settings);
      await alter('MODIFY COLUMN propertiesJson Float64');
      await expect(move(store, settings)).rejects.toMatchObject(unfit(/.*propertiesJson/));
      expect(await waiting(store)).toBe(1);
    },
  );
});
