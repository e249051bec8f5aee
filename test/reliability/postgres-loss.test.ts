/** A PostgreSQL server that goes and comes back: 503 meanwhile, nothing acknowledged is lost, and all goes on by itself. */

import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { UnavailableError, UnknownOutcomeError } from '../../src/errors.ts';
import { createServer } from '../../src/server/server.ts';
import { openStore } from '../../src/store/open.ts';
import { rowsOfText } from '../../src/store/raw-query.ts';
import type { Store } from '../../src/store/store.ts';
import { canFillDisk, limitFiles } from '../support/full-disk.ts';
import { usePostgres } from '../support/postgres.ts';
import { startPostgres } from '../support/postgres-process.ts';
import type { PostgresServer } from '../support/postgres-process.ts';
import { subscribe } from '../support/billing-scenario.ts';
import type { Subscription } from '../support/billing-scenario.ts';
import { createWorld } from '../support/world.ts';
import type { World } from '../support/world.ts';
import { problemsOf } from './soundness.ts';
import { inTier } from './tiers.ts';

const postgres = await usePostgres();

const laterLogFiles =
  'SELECT count(*) FROM pg_ls_waldir() WHERE name >= pg_walfile_name(pg_current_wal_insert_lsn() + 1)';

/** Waits for a second at most. */
const cancelCommitOf = (pid: number) => `DO $$ BEGIN FOR tries IN 1..200 LOOP
  PERFORM pg_stat_clear_snapshot();
  PERFORM pg_cancel_backend(pid) FROM pg_stat_activity WHERE pid = ${pid} AND state = 'active' AND query LIKE 'COMMIT%';
  EXIT WHEN FOUND;
  PERFORM pg_sleep(0.005);
END LOOP; END $$`;

describe.runIf(postgres !== undefined)('a server of its own that writes to the disk', () => {
  let machine: PostgresServer;
  let world: World;
  let acme: Subscription;

  beforeAll(async () => {
    machine = await startPostgres({ isDurable: true });
    world = await createWorld({ database: machine.url('postgres'), newId: randomUUID });
    acme = await subscribe(world);
  }, 60_000);
  afterAll(async () => {
    await world?.close();
    await machine?.remove();
  });

  const grantOf = async (externalId: string) =>
    await world.call('credits.grant', {
      params: { contractId: acme.contractId },
      body: { amountCents: 1, expiresAt: '2090-01-01T00:00:00Z', externalId },
    });

  const kept = async () =>
    await world.store.read(async (tx) => {
      const rows = await tx.selectFrom('ledgerEntries').select('externalId').execute();
      return new Set(rows.map(({ externalId }) => externalId));
    });

  test('answers 503 while it is away, and again when it is back', async () => {
    const server = createServer({
      engine: world.engine,
      host: undefined,
      port: 0,
      rateLimitPerMinute: 0,
      version: '0.0.0',
      now: () => Temporal.Now.instant(),
      newId: randomUUID,
    });
    const { url } = await server.listen();
    const { data } = await world.call('keys.create', { body: { name: 'client', scopes: ['*'] } });
    const status = async () => {
      const response = await fetch(`${url}/v1/customers`, { headers: { authorization: `Bearer ${data.key}` } });
      const text = await response.text();
      expect(text).not.toMatch(/postgres|ECONN|127\.0\.0\.1/);
      return response.status;
    };
    expect(await status()).toBe(200);
    await machine.stop('fast');
    expect(await status()).toBe(503);
    await expect(grantOf('meanwhile')).rejects.toBeInstanceOf(UnavailableError);
    await machine.start();
    expect(await status()).toBe(200);
    await expect(grantOf('again')).resolves.toMatchObject({ data: { amountCents: 1 } });
    await server.close();
  }, 60_000);

  test('a server that is killed has kept every write that was acknowledged', async () => {
    for (let round = 0; round < inTier(2, 20); round += 1) {
      const acknowledged = new Set<string>();
      const writers = [0, 1, 2, 3].map(async (writer) => {
        for (let index = 0; ; index += 1) {
          const externalId = `round ${round}, ${writer}-${index}`;
          try {
            await grantOf(externalId);
          } catch (error) {
            expect(error).toBeInstanceOf(UnavailableError);
            return;
          }
          acknowledged.add(externalId);
        }
      });
      await expect.poll(() => acknowledged.size, { timeout: 20_000, interval: 5 }).toBeGreaterThan(20);
      await machine.stop('immediate');
      await Promise.all(writers);
      await machine.start();
      const found = await kept();
      expect([...acknowledged].filter((externalId) => !found.has(externalId))).toEqual([]);
      expect(await problemsOf(world)).toEqual([]);
    }
  }, 120_000);

  describe('a commit that is cancelled', () => {
    let beside: pg.Client;

    beforeAll(async () => {
      beside = new pg.Client({ connectionString: machine.url('postgres') });
      await beside.connect();
    });
    afterAll(async () => await beside.end());

    /** Renames the customer in a commit that is cancelled; gives what that is refused with. */
    async function renameCancelled(store: Store, name: string, settings: string): Promise<unknown> {
      let cancelling: Promise<unknown> | undefined;
      const change = store.write(async (tx) => {
        await rowsOfText(tx, `SELECT ${settings}`);
        await tx.updateTable('customers').set({ name }).execute();
        const [row] = await rowsOfText(tx, 'SELECT pg_backend_pid() AS "pid"');
        cancelling = beside.query(cancelCommitOf(Number(row?.['pid'])));
      });
      const outcome = await change.then(
        () => undefined,
        (error: unknown) => error,
      );
      await cancelling;
      return outcome;
    }

    const names = async () => (await world.call('customers.list', {})).data.map(({ name }) => name);

    test('while it reaches the disk is not told as one that changed nothing', async () => {
      // The server takes a tenth of a second for its commit.
      const slow = `set_config('commit_delay', '100000', true), set_config('commit_siblings', '0', true)`;
      await expect
        .poll(async () => await renameCancelled(world.store, 'cancelled', slow))
        .toBeInstanceOf(UnknownOutcomeError);
      expect(await names()).toContain('cancelled');
    }, 60_000);

    test('while it waits for a standby is not told as one that is kept, though warnings are turned off', async () => {
      const waitFor = async (standby: string) => {
        await beside.query(`ALTER SYSTEM SET synchronous_standby_names = '${standby}'`);
        await beside.query('SELECT pg_reload_conf()');
      };
      const store = await openStore(`${machine.url('postgres')}?options=-cclient_min_messages%3Derror`);
      await waitFor('absent');
      await expect
        .poll(async () => await renameCancelled(store, 'alone', `'as it is'`))
        .toBeInstanceOf(UnknownOutcomeError);
      await waitFor('');
      expect(await names()).toContain('alone');
      await store.close();
    }, 60_000);
  });

  test.runIf(canFillDisk)(
    'a commit under which its disk is full is not told as one that changed nothing',
    async () => {
      const change = world.store.write(async (tx) => {
        const ask = async (text: string) => (await rowsOfText(tx, `SELECT (${text})::text AS "answer"`))[0]?.['answer'];
        // Until the log needs a new file for what comes next.
        do {
          await tx.updateTable('customers').set({ name: 'renamed' }).execute();
          await ask('pg_switch_wal()');
        } while ((await ask(laterLogFiles)) !== '0');
        limitFiles({ pid: Number(await ask('pg_backend_pid()')) }, 1_000_000);
      });
      await expect(change).rejects.toBeInstanceOf(UnknownOutcomeError);
      await expect.poll(async () => await kept().then(Boolean, () => false), { timeout: 20_000 }).toBe(true);
      expect(await problemsOf(world)).toEqual([]);
    },
    60_000,
  );

  test('a key is taken though its use cannot be noted for as long as its row is locked', async () => {
    const { data } = await world.call('keys.create', { body: { name: 'reader', scopes: ['*'] } });
    // Only a statement's limit of a minute ends the wait for the lock.
    const patient = await createWorld({ database: `${machine.url('postgres')}?lock_timeout=0` });
    const holder = new pg.Client({ connectionString: machine.url('postgres') });
    await holder.connect();
    await holder.query('BEGIN; LOCK TABLE "apiKeys" IN SHARE MODE');
    await expect(patient.engine.authenticate(data.key)).resolves.toMatchObject({ scopes: ['*'] });
    await holder.end();
    await patient.close();
  }, 20_000);

  test('writes that share the commit of a bill run are told that its connection was lost', async () => {
    const { organizationId: turn } = await world.engine.owner();
    const beside = new pg.Client({ connectionString: machine.url('postgres') });
    await beside.connect();
    await beside.query(`CREATE FUNCTION "endSession"() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END $$;
      CREATE TRIGGER "lost" BEFORE INSERT ON "invoiceLines" FOR EACH ROW EXECUTE FUNCTION "endSession"()`);
    world.clock.set('2026-05-01T00:00:00Z');
    const begun = vi.spyOn(world.store, 'write');
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
    const calls: Promise<unknown>[] = [];
    for (const begin of [
      async () => await world.store.write(async () => await isOver, { turn }),
      async () => await grantOf('beside a bill run'),
      async () => await world.call('bill.run', { body: {} }),
    ]) {
      calls.push(begin().catch((error: unknown) => error));
      await expect.poll(() => begun.mock.calls.length).toBe(calls.length);
    }
    end();
    const lost = expect.any(UnavailableError) as unknown;
    expect(await Promise.all(calls)).toEqual([lost, lost, lost]);
    begun.mockRestore();

    await beside.query('DROP FUNCTION "endSession" CASCADE');
    await beside.end();
    expect((await kept()).has('beside a bill run')).toBe(false);
    expect((await world.call('bill.run', { body: {} })).data).toMatchObject({ finalizedCount: 2, failedCount: 0 });
  }, 60_000);
});
