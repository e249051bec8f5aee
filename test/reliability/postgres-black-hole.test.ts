/** A network that swallows what is sent: calls are answered in bounded time, nothing is done twice, and all goes on afterwards. */

import { randomUUID } from 'node:crypto';

import { describe, expect, test } from 'vitest';

import { UnavailableError } from '../../src/errors.ts';
import { openStore } from '../../src/store/open.ts';
import { subscribe } from '../support/billing-scenario.ts';
import { startBlackHole } from '../support/black-hole.ts';
import { usePostgres } from '../support/postgres.ts';
import { createWorld } from '../support/world.ts';

const postgres = await usePostgres();

describe.runIf(postgres !== undefined)('a network that swallows what is sent to PostgreSQL', () => {
  const openBehind = async () => {
    const direct = (await postgres?.create()) ?? '';
    const hole = await startBlackHole(Number(new URL(direct).port));
    const url = new URL(direct);
    url.port = String(hole.port);
    // A statement is given up by the server after 0.2 seconds, and by the client 5 seconds later.
    url.searchParams.set('statement_timeout', '200');
    return { direct, hole, url: url.href };
  };

  test('readings and writes fail in bounded time, the store closes, and what was lost is not done again', async () => {
    const { direct, hole, url } = await openBehind();
    const world = await createWorld({ database: url, newId: randomUUID });
    const acme = await subscribe(world);
    const grant = async (externalId: string) =>
      await world.call('credits.grant', {
        params: { contractId: acme.contractId },
        body: { amountCents: 1, expiresAt: '2090-01-01T00:00:00Z', externalId },
      });
    await grant('before');
    // Several sessions, so that some are idle and some are new.
    await Promise.all([1, 2, 3].map(async () => await world.call('customers.list')));
    hole.swallow();
    const began = performance.now();
    const lost = await Promise.allSettled([world.call('customers.list'), grant('lost'), grant('lost, too')]);
    const elapsed = performance.now() - began;
    expect(lost.map((each) => each.status === 'rejected' && each.reason instanceof UnavailableError)).toEqual([
      true,
      true,
      true,
    ]);
    expect(elapsed).toBeGreaterThan(4_000);
    expect(elapsed).toBeLessThan(20_000);
    hole.pass();
    await expect(world.call('customers.list')).resolves.toMatchObject({ total: 1 });
    await expect(grant('after')).resolves.toMatchObject({ data: { amountCents: 1 } });
    hole.swallow();
    await world.close();
    const store = await openStore(direct);
    const rows = await store.read(
      async (tx) => await tx.selectFrom('ledgerEntries').select('externalId').orderBy('externalId').execute(),
    );
    expect(rows.map(({ externalId }) => externalId)).toEqual(['after', 'before']);
    await store.close();
    hole.close();
  }, 60_000);

  test('a commit whose answer is swallowed is told as unknown, and was done once', async () => {
    const { hole, url } = await openBehind();
    const store = await openStore(url);
    const outcome = store.write(async (tx) => {
      await tx.insertInto('clock').values({ id: 1, now: '2026-03-01T00:00:00.000Z' }).execute();
      // What is sent arrives; no answer does.
      hole.swallow('answers');
    });
    await expect(outcome).rejects.toThrow('whether the change was kept is not known');
    hole.pass();
    const rows = await store.read(async (tx) => await tx.selectFrom('clock').select('now').execute());
    expect(rows).toEqual([{ now: '2026-03-01T00:00:00.000Z' }]);
    await store.close();
    hole.close();
  }, 60_000);
});
