/**
 * The calls of a diff, in an order in which each is allowed, and their making. New prices and plans are created before the old
 * ones go. Names and codes are unique, so a replaced product or meter must go before its successor is created, and whatever
 * depends on it goes first.
 */

import { assert } from '../../assert.ts';
import { BillingError, reworded } from '../../errors.ts';
import type { Billing } from '../../operations/index.ts';
import { patiently } from '../session/patiently.ts';
import type { OnWait } from '../session/patiently.ts';
import { meterBody, planBody, priceBody, productBody, rateCardBody } from './bodies.ts';
import { itemKey, planLabel, priceKey, priceLabel } from './definitions.ts';
import type { Catalog } from './definitions.ts';

export interface Archived {
  readonly operation: 'products.archive' | 'meters.archive' | 'pricing.archive' | 'plans.archive';
  readonly params: Readonly<Record<string, string>>;
  readonly name: string;
}

export interface Steps {
  /** What must go before its successor is created: plans, prices, meters, products. */
  readonly first: readonly Archived[];
  readonly create: Catalog;
  /** What goes once its successor exists: plans, prices, meters, products. */
  readonly last: readonly Archived[];
}

/** Ids of what stays, by name, code and key. */
export interface Known {
  readonly products: ReadonlyMap<string, string>;
  readonly meters: ReadonlyMap<string, string>;
  readonly pricing: ReadonlyMap<string, string>;
}

export function countSteps({ first, create, last }: Steps): number {
  return first.length + last.length + Object.values(create).reduce((sum, list) => sum + list.length, 0);
}

/**
 * Makes the calls; `onWait` is called whenever the service asks for patience. A failure names the step and how many are done:
 * the next diff continues from there.
 */
export async function takeSteps(
  steps: Steps,
  known: Known,
  { billing, onWait = () => undefined }: { readonly billing: Billing; readonly onWait?: OnWait },
): Promise<void> {
  const total = countSteps(steps);
  let done = 0;
  const step = async <T>(words: string, call: () => Promise<T>): Promise<T> => {
    try {
      const result = await patiently(call, onWait);
      done += 1;
      return result;
    } catch (error) {
      if (!(error instanceof BillingError)) throw error;
      const hint = `${done} of ${total} steps are done; once this is settled, the same command goes on from there`;
      throw reworded(error, `${words}: ${error.message}`, hint);
    }
  };
  const archive = async ({ operation, params, name }: Archived) =>
    await step(`cannot archive ${name}`, async () => await billing.call(operation, { params }));

  for (const each of steps.first) await archive(each);
  await createAll(steps.create, known, { billing, step });
  for (const each of steps.last) await archive(each);
}

interface Making {
  readonly billing: Billing;
  readonly step: <T>(words: string, call: () => Promise<T>) => Promise<T>;
}

async function createAll(create: Catalog, known: Known, { billing, step }: Making): Promise<void> {
  const products = new Map(known.products);
  const meters = new Map(known.meters);
  const pricing = new Map(known.pricing);
  const made = async (
    operation: 'products.create' | 'meters.create' | 'pricing.create' | 'plans.create',
    name: string,
    body: object,
  ) => (await step(`cannot create ${name}`, async () => await billing.call(operation, { body }))).body.data.id;

  for (const product of create.products) {
    products.set(product.name, await made('products.create', `product ${product.name}`, productBody(product)));
  }
  for (const meter of create.meters) {
    meters.set(meter.code, await made('meters.create', `meter ${meter.code}`, meterBody(meter)));
  }
  for (const card of create.rateCards) {
    const params = { meterId: get(meters, card.meter) };
    await step(
      `cannot set the rate card of ${card.meter}`,
      async () => await billing.call('meters.setRateCard', { params, body: rateCardBody(card) }),
    );
  }
  for (const price of create.pricing) {
    const ids = {
      productId: get(products, price.product),
      meterId: price.meter === undefined ? undefined : get(meters, price.meter),
    };
    pricing.set(priceKey(price), await made('pricing.create', `price ${priceLabel(price)}`, priceBody(price, ids)));
  }
  for (const plan of create.plans) {
    const ids = plan.items.map((item) => get(pricing, itemKey(item)));
    await made('plans.create', `plan ${planLabel(plan)}`, planBody(plan, ids));
  }
}

function get(ids: ReadonlyMap<string, string>, name: string): string {
  const id = ids.get(name);
  assert(id !== undefined, `the diff knows ${name}`);
  return id;
}
