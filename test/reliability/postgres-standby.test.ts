/** A primary server that fails, and a standby that takes its place: read meanwhile, written again afterwards, by the same process. */

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';

import { rowsOfText } from '../../src/store/raw-query.ts';
import { subscribe } from '../support/billing-scenario.ts';
import { usePostgres } from '../support/postgres.ts';
import { startPostgres } from '../support/postgres-process.ts';
import { createCustomer } from '../support/usage-scenario.ts';
import { outboxOf, webhookCalls } from '../support/webhook-receiver.ts';
import { createWorld } from '../support/world.ts';
import { problemsOf } from './soundness.ts';

const postgres = await usePostgres();
const keeper = '"tallybookKeepVersion"()';

/** As a balancer or an address that moves does: who connects to the one port comes to the other. */
async function lead(from: number, to: number): Promise<void> {
  const door = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    near.pipe(far).pipe(near);
    near.on('error', () => far.destroy());
    far.on('error', () => near.destroy());
  });
  door.listen(from, '127.0.0.1');
  await once(door, 'listening');
  onTestFinished(() => void door.close());
}

describe.runIf(postgres !== undefined)('a primary server with a standby', () => {
  test('whose place the standby takes is written again without anybody starting anew', async () => {
    const primary = await startPostgres({ isDurable: true });
    onTestFinished(primary.remove);
    const near = await createWorld({ database: primary.url('postgres'), newId: randomUUID });
    const { contractId } = await subscribe(near);
    // As after a renaming of the schema: whoever is opened on the standby can mend it only once that may be written.
    await near.store.write(async (tx) => await rowsOfText(tx, `ALTER FUNCTION ${keeper} SET search_path TO former`));
    const standby = await primary.standby();
    onTestFinished(standby.remove);
    // One that comes to the standby when the primary server has gone, and three that were opened on it, of which each learns alone.
    const [far, biller, sender] = await Promise.all(
      [0, 1, 2].map(async () => await createWorld({ database: standby.url('postgres'), newId: randomUUID })),
    );
    if (far === undefined || biller === undefined || sender === undefined) throw new Error('three were opened');
    onTestFinished(async () => {
      for (const world of [near, far, biller, sender]) await world.close();
    });
    const grant = async (world: typeof near, externalId: string) =>
      await world.call('credits.grant', {
        params: { contractId },
        body: { amountCents: 1, expiresAt: '2090-01-01T00:00:00Z', externalId },
      });
    const count = async (world: typeof near) =>
      (await world.call('credits.ledger', { params: { contractId } })).data.totalCount;

    await webhookCalls(near).register('https://hooks.example.com', { eventTypes: ['customer.created'] });
    await webhookCalls(near).trigger('customer.created');
    await grant(near, 'before');
    await expect.poll(async () => await count(far)).toBe(1);
    await primary.stop('immediate');
    await lead(primary.port, standby.port);
    for (const world of [near, far]) {
      await expect.poll(async () => await count(world)).toBe(1);
      await expect(grant(world, 'between')).rejects.toMatchObject({
        kind: 'unavailable',
        message: expect.stringMatching(/is read-only; nothing was changed$/),
      });
    }
    expect(await biller.engine.billDue()).toBeUndefined();
    expect(await outboxOf(sender).lease(1)).toEqual([]);
    await standby.promote();
    expect(await biller.engine.billDue()).toMatchObject({ failures: [] });
    expect(await outboxOf(sender).lease(1)).toHaveLength(1);
    await grant(near, 'after');
    expect(far.store.isReadOnly).toBe(true);
    await grant(far, 'after');
    await grant(far, 'later');
    expect(far.store.isReadOnly).toBe(false);
    const bound = `SELECT proconfig[1] AS "path" FROM pg_proc WHERE oid = '${keeper}'::regprocedure`;
    expect(await far.store.read(async (tx) => await rowsOfText(tx, bound))).toEqual([
      { path: 'search_path=public, pg_temp' },
    ]);
    expect(await count(near)).toBe(3);
    expect(await problemsOf(near)).toEqual([]);
  }, 60_000);

  test('whose standby is read shows no page of what was before, though an older transaction is still under way', async () => {
    const primary = await startPostgres({ isDurable: true });
    onTestFinished(primary.remove);
    const near = await createWorld({ database: primary.url('postgres') });
    for (const name of ['first', 'second', 'third']) await createCustomer(near, name);
    const standby = await primary.standby();
    onTestFinished(standby.remove);
    const far = await createWorld({ database: standby.url('postgres') });
    onTestFinished(async () => {
      for (const world of [near, far]) await world.close();
    });
    const begin = async (): Promise<pg.Client> => {
      const client = new pg.Client({ connectionString: primary.url('postgres') });
      await client.connect();
      onTestFinished(async () => await client.end());
      await client.query('BEGIN; SELECT pg_current_xact_id()');
      return client;
    };
    const [older, mover, other] = [await begin(), await begin(), await begin()];
    const replayed = async () => {
      const { rows } = await older.query<{ end: string }>(`SELECT pg_current_wal_lsn()::text AS "end"`);
      const text = `SELECT (pg_last_wal_replay_lsn() >= '${rows[0]?.end}')::int AS "isThere"`;
      await expect
        .poll(async () => await far.store.read(async (tx) => await rowsOfText(tx, text)))
        .toEqual([{ isThere: 1n }]);
    };
    const newestBut = async (offset: string) =>
      (await far.call('customers.list', { query: { limit: '1', offset } })).data.map(
        ({ metadata }) => metadata.externalCustomerId,
      );

    await mover.query(
      `UPDATE "customers" SET "createdAt" = '2027-01-01T00:00:00.000Z' WHERE "externalCustomerId" = 'first'`,
    );
    await other.query(`UPDATE "customers" SET "name" = 'Acme' WHERE "externalCustomerId" = 'second'`);
    await other.query('COMMIT');
    await replayed();
    expect(await newestBut('0')).toEqual(['third']);
    await mover.query('COMMIT');
    await replayed();
    expect(await newestBut('1')).toEqual(['third']);
  }, 60_000);
});
