/**
 * USAGE: metered quantity x unit amount, or tiers where the price has them (semantics 5).
 * The price's own flat amount is not here: it is a line of its own, which credits cannot pay.
 */

import { decimal, zero } from '../money.ts';
import type { PricingModel } from './pricing-model.ts';
import { tiered } from './tiered.ts';

/**
 * A negative quantity counts as 0. The unit price is the unit amount, 0 where the price lacks it, or what tiers make
 * it.
 */
export const usage: PricingModel = {
  price(price, quantity) {
    if (price.tiering !== 'NONE') return tiered.price(price, quantity);
    const unitPrice = decimal(price.unitAmount ?? '0');
    const billed = quantity.lt(zero) ? zero : quantity;
    return { quantity: billed, exactAmount: billed.times(unitPrice), unitPrice, breakdown: [] };
  },
};
