/** Reliability 8 on PostgreSQL: four servers share one book under load, and what is done once is done once. */

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { createClient } from '../../src/client/client.ts';
import type { Billing } from '../../src/operations/index.ts';
import { grant, subscribe } from '../support/billing-scenario.ts';
import type { Subscription } from '../support/billing-scenario.ts';
import { usePostgres } from '../support/postgres.ts';
import { serveProgram } from '../support/program.ts';
import type { Serving } from '../support/program.ts';
import { newDirectory } from '../support/temporary-files.ts';
import { startReceiver } from '../support/webhook-receiver.ts';
import { createWorld } from '../support/world.ts';
import type { World } from '../support/world.ts';
import { problemsOf } from './soundness.ts';
import { inTier, shuffled } from './tiers.ts';

const postgres = await usePostgres();

describe.runIf(postgres !== undefined)('four servers on one PostgreSQL database', () => {
  const home = newDirectory();
  /** The same book from beside, by the real clock as it is now. */
  let world: World;
  let servers: readonly Serving[] = [];
  let clients: readonly (Billing & { close: () => Promise<void> })[] = [];
  let acme: Subscription;

  beforeAll(async () => {
    const url = (await postgres?.create()) ?? '';
    world = await createWorld({ database: url, start: Temporal.Now.instant().toString(), newId: randomUUID });
    acme = await subscribe(world, { contract: { startDate: monthsAgo(0) } });
    const { data } = await world.call('keys.create', { body: { name: 'clients', scopes: ['*'] } });
    const words = ['--bill-every', '1', '--allow-private-webhooks'];
    const options = { home, environment: { TALLY_DATABASE: url } };
    servers = await Promise.all([0, 1, 2, 3].map(async () => await serveProgram(words, options)));
    clients = Array.from({ length: 16 }, (_value, index) =>
      createClient({
        baseUrl: servers[index % 4]?.url ?? '',
        key: data.key,
        now: Date.now,
        sleep: async () => await Promise.reject(new Error('no request had to be sent twice')),
        random: () => 0.5,
      }),
    );
  }, 120_000);
  afterAll(async () => {
    await Promise.all(clients.map(async (client) => await client.close()));
    await Promise.all(servers.map(async (server) => await server.stop()));
    await world?.close();
  });

  function monthsAgo(months: number): string {
    return Temporal.Now.plainDateISO('UTC').with({ day: 1 }).subtract({ months }).toString();
  }

  test('a grant that sixteen clients ask for by one externalId is made once, and each is told the same id', async () => {
    const externalIds = Array.from({ length: inTier(8, 100) }, (_value, index) => `grant-${index}`);
    const body = { amountCents: 100, expiresAt: '2090-01-01T00:00:00Z' };
    const params = { contractId: acme.contractId };
    const told = await Promise.all(
      clients.map(async (client, number) => {
        const ids: string[] = [];
        for (const externalId of shuffled(externalIds, number)) {
          const answer = await client.call('credits.grant', { params, body: { ...body, externalId } });
          ids.push(`${externalId} ${answer.body.data.id}`);
        }
        return ids.toSorted();
      }),
    );
    for (const ids of told) expect(ids).toEqual(told[0]);
    const kept = await world.store.read(async (tx) => {
      const rows = tx.selectFrom('ledgerEntries').select(['externalId', 'id']);
      return await rows.where('externalId', 'like', 'grant-%').execute();
    });
    expect(kept.map(({ externalId, id }) => `${externalId} ${id}`).toSorted()).toEqual(told[0]);
    expect(await problemsOf(world)).toEqual([]);
  }, 60_000);

  test('a budget that all of them exhaust is exhausted once, every event counts, and one webhook tells it', async () => {
    const receiver = await startReceiver(200);
    const each = await subscribe(world, { name: 'globex', contract: { startDate: monthsAgo(0) } });
    await grant(world, each, { amountCents: 1_000_000, expiresAt: '2090-01-01T00:00:00Z' });
    const budget = { eventPropertyKey: 'model', eventPropertyValue: 'large', maxCreditsCents: 40 };
    await world.call('budgets.add', { params: { contractId: each.contractId }, body: budget });
    const types = ['credit.budget.exhausted', 'customer.created'];
    await world.call('webhooks.create', { body: { url: receiver.url, allowPrivate: true, eventTypes: types } });
    const count = inTier(5, 50);
    await Promise.all(
      clients.map(async (client, number) => {
        for (let index = 0; index < count; index += 1) {
          const event = {
            eventName: 'call',
            idempotencyKey: `${number}-${index}`,
            properties: { tokens: 1, model: 'large' },
          };
          const events = [{ ...event, customerId: each.customerId, contractId: each.contractId }];
          await client.call('usage.ingestBatch', { body: { events } });
        }
        const contacts = [{ name: 'Ada', email: 'ada@acme.example', roles: ['accounts_payable'] }];
        await client.call('customers.create', { body: { name: `customer ${number}`, contacts } });
      }),
    );
    expect((await world.call('usage.events', { query: { limit: '1' } })).total).toBe(16 * count);
    const { data } = await world.call('budgets.usage', { params: { contractId: each.contractId } });
    expect(data.budgets).toMatchObject([{ isExhausted: true, consumedCents: 16 * count }]);

    const pending = async () => (await world.call('webhooks.deliveries', { query: { status: 'pending' } })).total;
    await expect.poll(pending, { timeout: 30_000, interval: 100 }).toBe(0);
    const kinds = receiver.received.map(({ body }) => (JSON.parse(body) as { readonly type: string }).type);
    expect(kinds.filter((kind) => kind === 'credit.budget.exhausted')).toHaveLength(1);
    expect(kinds.filter((kind) => kind === 'customer.created')).toHaveLength(16);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(17);
  }, 60_000);

  test.runIf(process.platform === 'linux')('no list of processes shows the password of a server', async () => {
    const words = ['--database', world.store.location.replace('//tally@', '//tally:secret@')];
    const server = await serveProgram(words, { home });
    expect(readFileSync(`/proc/${server.pid}/cmdline`, 'utf8')).not.toContain('secret');
    await server.stop();
  });

  test('each invoice that falls due is finalized once, and legal numbers have no gaps', async () => {
    const count = inTier(6, 60);
    for (let index = 0; index < count; index += 1) {
      await subscribe(world, { name: `due_${index}`, contract: { startDate: monthsAgo(3) } });
    }
    const finalized = async () =>
      await world.store.read(async (tx) => {
        const rows = tx
          .selectFrom('invoices')
          .select(['number', 'createdAt', 'finalizedAt', 'contractId', 'periodIndex']);
        return await rows.where('finalizedAt', 'is not', null).orderBy('number').execute();
      });
    await expect.poll(async () => (await finalized()).length, { timeout: 30_000, interval: 100 }).toBe(3 * count);
    const numbers = (await finalized()).map(({ number }) => number);
    expect(numbers).toEqual(numbers.map((_number, index) => `INV-${String(index + 1).padStart(6, '0')}`));
    expect(await problemsOf(world)).toEqual([]);
  }, 90_000);
});
