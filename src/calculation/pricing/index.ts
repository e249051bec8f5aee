/** The pricing models. A new one is a file here and a line in this table. */

import type { PricingModelName } from '../../operations/wire-values.ts';
import type { Big } from '../money.ts';
import { flat } from './flat.ts';
import type { Price, PricedQuantity, PricingModel } from './pricing-model.ts';
import { tiered } from './tiered.ts';
import { usage } from './usage.ts';

const pricingModels: Readonly<Record<PricingModelName, PricingModel>> = {
  FLAT: flat,
  TIER: tiered,
  USAGE: usage,
};

/** The exact amount that a price asks for a quantity, with its breakdown. */
export function priceQuantity(price: Price, quantity: Big): PricedQuantity {
  return pricingModels[price.model].price(price, quantity);
}
