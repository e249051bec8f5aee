/** The chart of a ledger and the balance agree at every instant, whether or not what expired has been swept. */

import { expect, test } from 'vitest';

import { openStageWithAcme, subscribeAcme } from '../import/acme.ts';
import { named, stage } from '../../support/use-stage.ts';

test.each(['embedded', 'http'] as const)('%s: before and after the sweep', async (surface) => {
  await openStageWithAcme(surface);
  const { customer, contract } = await subscribeAcme(stage.clock.now().toString().slice(0, 10));
  const inHours = (hours: number) => stage.clock.now().add({ hours }).toString();
  const expiresAt = inHours(2);
  const grant = `credits grant ${contract} --reason Trial --amount-cents`;
  await named(`${grant} 10000 --expires-at ${expiresAt}`);
  await named(`${grant} 5000 --expires-at ${inHours(10_000)}`);
  await stage.tally(`usage ingest --event-name request --customer-id ${customer} --property tokens=40`.split(' '));
  const charts = async () => {
    const lines = await Promise.all(
      ['ledger', 'balance'].map(async (verb) =>
        (await stage.tally(['credits', verb, contract, '--chart'])).stdout.split('\n'),
      ),
    );
    return { told: lines.map(([first]) => first), last: lines[0]?.at(-2) };
  };
  expect(await charts()).toMatchObject({ told: ['Balance: 150.00 USD', 'Balance: 150.00 USD'] });
  stage.clock.set(expiresAt);
  expect(await charts()).toEqual({
    told: ['Balance: 50.00 USD', 'Balance: 50.00 USD'],
    last: 'expired, and not yet in the ledger: 100.00 USD',
  });
  expect(await stage.tally(['bill', 'run'])).toMatchObject({ exitCode: 0 });
  expect(await charts()).toEqual({
    told: ['Balance: 50.00 USD', 'Balance: 50.00 USD'],
    last: 'opening 0.00 USD, highest 150.00 USD, movements 4',
  });
});
