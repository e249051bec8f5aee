import { expect, test } from 'vitest';

import { grant, settle, subscribe, use } from '../support/billing-scenario.ts';
import { listen, outboxOf } from '../support/outbox.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld({ start: '2026-03-01T00:00:00.000Z' });

test('a wallet of free credits alone, which are worth no cents, is told to be used up with the last of them', async () => {
  const acme = await subscribe(world, { contract: { creditSettings: { creditRateCents: 10 } } });
  await grant(world, acme, { creditRateCents: 0, creditAmount: 5 });
  await listen(world, ['credit.balance_depleted']);
  const spend = async (tokens: number) => {
    await use(world, acme, { tokens, at: '2026-03-01T00:00:00Z' });
    await settle(world, acme);
    return (await outboxOf(world)).map(({ data }) => [data['balanceCents'], data['creditBalance']]);
  };
  expect(await spend(40)).toEqual([]);
  expect(await spend(10)).toEqual([[0, 0]]);
});
