/**
 * USAGE: metered quantity x unit amount, or tiers where the price has them (semantics 5).
 * The price's own flat amount is not here: it is a line of its own, which credits cannot pay.
 */

import { flat } from './flat.ts';
import type { PricingModel } from './pricing-model.ts';
import { tiered } from './tiered.ts';

/**
 * A negative quantity counts as 0. The unit price is the unit amount, 0 where the price lacks it, or what tiers make
 * it.
 */
export const usage: PricingModel = {
  price(price, quantity) {
    if (price.tiering !== 'NONE') return tiered.price(price, quantity);
    return flat.price({ ...price, flatAmount: undefined }, quantity);
  },
};
