/** A pooler between this program and PostgreSQL: one that pools sessions will do, one that pools transactions is refused. */

import { randomUUID } from 'node:crypto';

import { describe, expect, test } from 'vitest';

import { openStore } from '../../src/store/open.ts';
import { rowsOfText } from '../../src/store/raw-query.ts';
import { subscribe } from '../support/billing-scenario.ts';
import { hasPgbouncer, pooled } from '../support/pgbouncer.ts';
import { usePostgres } from '../support/postgres.ts';
import { createWorld } from '../support/world.ts';

const postgres = await usePostgres();

describe.runIf(postgres !== undefined && hasPgbouncer)('PostgreSQL behind PgBouncer (skipped without it)', () => {
  test('where sessions are pooled, two programs grant with the same keys once, and each session has its limits', async () => {
    const url = await pooled((await postgres?.create({ isEmpty: true })) ?? '', 'session');
    const worlds = [
      await createWorld({ database: url, newId: randomUUID }),
      await createWorld({ database: url, newId: randomUUID }),
    ] as const;
    const { contractId } = await subscribe(worlds[0]);
    const grants = Array.from({ length: 20 }, async (_, i) =>
      worlds[i % 2 === 0 ? 0 : 1].call('credits.grant', {
        params: { contractId },
        body: { amountCents: 1, expiresAt: '2090-01-01T00:00:00Z', externalId: `key-${i % 5}` },
      }),
    );
    await Promise.all(grants);
    const ledger = await worlds[1].call('credits.ledger', { params: { contractId } });
    expect(ledger).toMatchObject({ data: { totalCount: 5 } });
    for (const world of worlds) await world.close();

    const store = await openStore(`${url}?statement_timeout=1000`);
    const shown = async (name: string) => await store.read(async (tx) => await rowsOfText(tx, `SHOW ${name}`));
    expect(await shown('statement_timeout')).toEqual([{ statement_timeout: '1s' }]);
    expect(await shown('lock_timeout')).toEqual([{ lock_timeout: '5s' }]);
    await store.close();
  });

  test('where the pooler has one session alone, the book is opened by it', async () => {
    const store = await openStore(await pooled((await postgres?.create()) ?? '', 'session', 1));
    expect(await store.read(async (tx) => await tx.selectFrom('customers').select('id').execute())).toEqual([]);
    await store.close();
  }, 20_000);

  test.each([20, 1])(
    'where transactions share %i sessions the book is not opened, nor made',
    async (sessions) => {
      const direct = (await postgres?.create({ isEmpty: true })) ?? '';
      const url = await pooled(direct, 'transaction', sessions);
      await expect(openStore(url)).rejects.toMatchObject({
        kind: 'usage',
        message: expect.stringContaining('pools transactions, but this program needs sessions'),
        hint: expect.stringContaining('pool_mode = session'),
      });
      await expect(openStore(direct, { readOnly: true })).rejects.toThrow('has no tables of this program');
    },
    20_000,
  );

  test('what it does not take of who connects is told as a setting of the URL', async () => {
    const url = await pooled((await postgres?.create({ isEmpty: true })) ?? '', 'session');
    await expect(openStore(`${url}?options=-csearch_path%3Dsecond`)).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringContaining('does not take a setting of'),
    });
  });
});
