import { join } from 'node:path';

import { beforeEach, describe, expect, test } from 'vitest';

import { createEngine } from '../../src/engine/engine.ts';
import { openStore } from '../../src/store/open.ts';
import { subscribe, use } from '../support/billing-scenario.ts';
import type { Subscription } from '../support/billing-scenario.ts';
import { listen, outboxOf } from '../support/outbox.ts';
import { newDirectory } from '../support/temporary-files.ts';
import { createContract, send } from '../support/usage-scenario.ts';
import { countedBytes, createWorld } from '../support/world.ts';
import type { World } from '../support/world.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld();

describe('budgets', () => {
  const budgets = [{ eventPropertyKey: 'model', eventPropertyValue: 'large', maxCreditsCents: 100 }];
  const contract = { creditSettings: { budgets } };
  const at = '2026-03-01T00:00:00Z';

  test('one that reaches its cap tells once, with what was consumed', async () => {
    await listen(world, ['credit.budget.exhausted']);
    const acme = await subscribe(world, { contract });
    await use(world, acme, { tokens: 99, at, model: 'large' });
    await use(world, acme, { tokens: 500, at, model: 'small' });
    expect(await outboxOf(world)).toEqual([]);
    await use(world, acme, { tokens: 1, at, model: 'large' });
    await use(world, acme, { tokens: 50, at, model: 'large' });
    await world.call('budgets.usage', { params: { contractId: acme.contractId } });
    const { data } = await world.call('budgets.list', { params: { contractId: acme.contractId } });
    expect(await outboxOf(world)).toEqual([
      {
        type: 'credit.budget.exhausted',
        timestamp: '2026-03-01T00:00:00.000Z',
        data: {
          contractId: acme.contractId,
          customerId: acme.customerId,
          budget: data.budgets[0],
          consumedUnits: 0,
          consumedCents: 100,
        },
      },
    ]);
  });

  test('those of two contracts of a customer that one batch reaches are told each', async () => {
    await listen(world, ['credit.budget.exhausted']);
    const acme = await subscribe(world, { contract });
    const { customerId, pricingId } = acme;
    const terms = { customerId, pricingIds: [pricingId], startDate: '2026-03-01', ...contract };
    const both = [acme, { ...acme, contractId: await createContract(world, terms) }];
    await send(world, ...both.flatMap((each) => eventsOfIngester(each, at, 50)));
    expect((await outboxOf(world)).map(({ data }) => data['contractId'])).toEqual(both.map((each) => each.contractId));
  });

  test('of events that name no contract, the one of the oldest contract that takes them is told', async () => {
    await listen(world, ['credit.budget.exhausted']);
    const acme = await subscribe(world, { contract });
    const { customerId, pricingId, contractId } = acme;
    await createContract(world, { customerId, pricingIds: [pricingId], startDate: '2026-03-01', ...contract });
    await send(world, { customerId, timestamp: at, properties: { tokens: 100, model: 'large' } });
    expect((await outboxOf(world)).map(({ data }) => data['contractId'])).toEqual([contractId]);
  });

  test('another cap arms it again, and the next evaluation tells again', async () => {
    await listen(world, ['credit.budget.exhausted']);
    const acme = await subscribe(world, { contract });
    const params = { contractId: acme.contractId, index: '0' };
    await use(world, acme, { tokens: 120, at, model: 'large' });
    await world.call('budgets.update', { params, body: { label: 'big', maxCreditsCents: 100 } });
    await use(world, acme, { tokens: 1, at, model: 'large' });
    expect(await outboxOf(world)).toHaveLength(1);
    await world.call('budgets.update', { params, body: { maxCreditsCents: 110 } });
    await world.call('budgets.usage', { params: { contractId: acme.contractId } });
    await world.call('budgets.usage', { params: { contractId: acme.contractId } });
    expect((await outboxOf(world)).map(({ data }) => data['consumedCents'])).toEqual([120, 121]);
  });

  test.each([
    ['in cents', { maxCreditsCents: 100 }, { maxCreditsCents: 1000 }],
    ['in credits', { maxCredits: 100 }, { maxCredits: 1000 }],
    ['of another meter', { maxCreditsCents: 100 }, { meterId: 'other' }],
  ])('one that gets a cap %s while its usage is read is not told by the one it had', async (_which, low, high) => {
    await listen(world, ['credit.budget.exhausted']);
    const other = await subscribe(world, { name: 'other' });
    const uncapped = [{ eventPropertyKey: 'model', eventPropertyValue: 'large' }];
    const acme = await subscribe(world, { contract: { creditSettings: { creditRateCents: 1, budgets: uncapped } } });
    const { contractId } = acme;
    await use(world, acme, { tokens: 120, at, model: 'large' });
    const change = async (body: Record<string, unknown>) =>
      await world.call('budgets.update', { params: { contractId, index: '0' }, body });
    // A first reading has more to load than the change, which then comes before it.
    await world.call('budgets.usage', { params: { contractId } });
    await change(low);
    await Promise.all([
      world.call('budgets.usage', { params: { contractId } }),
      change('meterId' in high ? { meterId: other.meterId } : high),
    ]);
    expect(await outboxOf(world)).toEqual([]);
    const { data } = await world.call('budgets.list', { params: { contractId } });
    expect(data.budgets[0]?.isExhausted).toBe(false);
  });

  describe('over four connections to one database', () => {
    let first: World;
    let acme: Subscription;
    let callers: World['call'][];

    beforeEach(async () => {
      const database = join(newDirectory(), 'shared.db');
      first = await createWorld({ start: at, database });
      await listen(first, ['credit.budget.exhausted']);
      acme = await subscribe(first, { contract });
      const engines = await Promise.all(Array.from({ length: 4 }, async () => await connect(database)));
      callers = engines.flatMap(({ call }) => [call, call, call, call]);
      return async () => {
        await Promise.all(engines.map(async ({ close }) => await close()));
        await first.close();
      };
    });

    async function connect(database: string): Promise<Pick<World, 'call' | 'close'>> {
      const engine = createEngine({
        store: await openStore(database),
        now: first.clock.now,
        newId: () => crypto.randomUUID(),
        randomBytes: countedBytes(),
        finalizationGraceHours: 0,
      });
      const billing = engine.as(await engine.owner());
      return {
        call: async (name, input) => (await billing.call(name, input)).body,
        close: async () => await engine.close(),
      };
    }

    async function everyone(work: (call: World['call']) => Promise<unknown>): Promise<void> {
      await Promise.all(callers.map(work));
    }

    async function setCap(maxCreditsCents: number): Promise<void> {
      const params = { contractId: acme.contractId, index: '0' };
      await first.call('budgets.update', { params, body: { maxCreditsCents } });
    }

    test('sixteen ingesters that cross one cap tell once an arming', async () => {
      const flood = async () =>
        await everyone(async (call) => await send({ ...first, call }, ...eventsOfIngester(acme, at)));
      await flood();
      expect(await outboxOf(first)).toHaveLength(1);
      await setCap(500);
      await flood();
      expect((await outboxOf(first)).map(({ data }) => data['consumedCents'])).toEqual([100, 500]);
    });

    test('sixteen readers that find one cap reached tell once', async () => {
      await send(first, ...eventsOfIngester(acme, at));
      await setCap(15);
      await everyone(async (call) => await call('budgets.usage', { params: { contractId: acme.contractId } }));
      expect((await outboxOf(first)).map(({ data }) => data['consumedCents'])).toEqual([20]);
    });
  });
});

/** Cents of the budget's dimension, twenty if not given otherwise, in two events. */
function eventsOfIngester({ customerId, contractId }: Subscription, timestamp: string, tokens = 10) {
  const event = { customerId, contractId, timestamp, properties: { tokens, model: 'large' } };
  return [event, event];
}
