/** A stage for the running test, with the customer that the files of these tests name, and what it buys. */

import type { Surface } from '../../support/stage.ts';
import { named, openStage, stage } from '../../support/use-stage.ts';

export async function openStageWithAcme(surface: Surface): Promise<void> {
  await openStage(surface);
  const contact = ['--contact', 'name=Ada,email=ada@acme.example,roles=primary'];
  await stage.tally(['customers', 'create', '--name', 'Acme', '--external-customer-id', 'acme', ...contact]);
}

/** Sells the customer every token of its events at 1 USD, from a date on. */
export async function subscribeAcme(startDate: string): Promise<{ customer: string; contract: string }> {
  const meter = await named('meters create --code TOKENS --display-name Tokens --aggregation-key tokens');
  const usage = `--model USAGE --meter-id ${meter} --unit-amount 1 --price-interval MONTH`;
  const price = await named(`pricing create --product-name Inference --name Tokens ${usage}`);
  const plan = await named(`plans create --name Standard --item pricingId=${price}`);
  const customer = await named('customers list');
  const terms = `--customer-id ${customer} --plan-id ${plan} --start-date ${startDate}`;
  return { customer, contract: await named(`contracts create ${terms}`) };
}
