import { beforeAll, expect, test } from 'vitest';

import { made, saved, stage, useStage } from '../../support/use-stage.ts';

useStage('embedded');

const seatOf = (amount: number) =>
  `{ product: Seats, name: Seat, model: FLAT, priceInterval: MONTH, unitAmount: ${amount} }`;
const planOf = 'plans: [{ name: Standard, items: [{ product: Seats, price: Seat }] }]';
const catalogOf = (amount: number) => `products: [{ name: Seats }]\npricing: [${seatOf(amount)}]\n${planOf}\n`;

/** A seat of 10.00 a month, of a plan whose successor by its name has one of 20.00. */
beforeAll(async () => {
  await stage.tally(['catalog', 'apply', saved('first.yaml', catalogOf(10)), '--yes']);
  const contact = ['--contact', 'name=Ada,email=ada@example.com,roles=accounts_payable'];
  const customer = await made('customers', 'create', '--name', 'Acme', '--external-customer-id', 'acme', ...contact);
  const plan = await made('plans', 'list');
  await made('contracts', 'create', '--customer-id', customer, '--plan-id', plan, '--start-date', '2026-03-01');
  await stage.tally(['catalog', 'apply', saved('second.yaml', catalogOf(20)), '--yes']);
  stage.clock.set('2026-04-02T00:00:00Z');
  await stage.tally(['bill', 'run']);
});

const unrelated = '{ product: Support, name: Hours, model: FLAT, priceInterval: MONTH, unitAmount: 90 }';

test.each([
  ['stays where a catalog says nothing of it', `products: [{ name: Support }]\npricing: [${unrelated}]\n`, 1000],
  ['is the plan of its name where a catalog has that', planOf, 2000],
  ['is the plan of its name where a catalog has a price of that', `pricing: [${seatOf(20)}]`, 2000],
  ['is the plan of its name where a catalog changes a price of that', `pricing: [${seatOf(30)}]`, 3000],
])('a plan that is archived %s', async (_what, catalog, afterCents) => {
  const path = saved('other.yaml', catalog);
  const compare = ['simulate', 'compare', '--catalog', path, '--to', '2026-04-01', '-o', 'json'];
  const { stdout } = await stage.tally(compare);
  const { data } = JSON.parse(stdout) as { data: { customers: unknown[]; notes: unknown[] } };
  expect(data).toMatchObject({ customers: [{ customer: 'acme', beforeCents: 1000, afterCents }], notes: [] });
});
