/** Which plan of a catalog a scenario means: by externalId, or by a name that one plan alone has. */

import { expect, test } from 'vitest';

import { saved, stage, useStage } from '../../support/use-stage.ts';

useStage('embedded');

const small = '[{ product: Seats, price: Small }]';
const large = '[{ product: Seats, price: Large }]';

/** A contract of the plan `Team`, with these plans in the catalog. */
async function play(...plans: readonly string[]) {
  const path = saved(
    'scenario.yaml',
    `start: 2026-03-01
until: 2026-04-02
catalog:
  products: [{ name: Seats }]
  pricing:
    - { product: Seats, name: Small, model: FLAT, priceInterval: MONTH, unitAmount: 1 }
    - { product: Seats, name: Large, model: FLAT, priceInterval: MONTH, unitAmount: 9 }
  plans:
${plans.map((plan) => `    - ${plan}\n`).join('')}customers: [{ id: acme }]
contracts: [{ customer: acme, plan: Team }]
expect: [{ invoice: { customer: acme, period: 2026-03-01 }, equals: 900 }]
`,
  );
  return await stage.tally(['simulate', 'run', path, '--show', 'expectations']);
}

test('an externalId goes before the name of another plan, whichever was made first', async () => {
  const plans = [
    `{ name: Team, externalId: old, items: ${small} }`,
    `{ name: Other, externalId: Team, items: ${large} }`,
  ];
  for (const order of [plans, plans.toReversed()]) expect(await play(...order)).toMatchObject({ exitCode: 0 });
});

test('a name that two plans have is refused', async () => {
  const { exitCode, stderr } = await play(
    `{ name: Team, externalId: a, items: ${large} }`,
    `{ name: Team, externalId: b, items: ${small} }`,
  );
  expect(exitCode).toBe(8);
  expect(stderr).toContain('contracts create: several plans are called Team\n  hint: say which by its externalId');
});
