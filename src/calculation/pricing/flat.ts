/** FLAT: quantity x unit amount, plus the flat amount once (semantics 5). */

import { decimal, zero } from '../money.ts';
import type { PricingModel } from './pricing-model.ts';

/** A negative quantity counts as 0, and still owes the flat amount. An amount that the price lacks is 0. */
export const flat: PricingModel = {
  price(price, quantity) {
    const unitPrice = decimal(price.unitAmount ?? '0');
    const billed = quantity.lt(zero) ? zero : quantity;
    const exactAmount = billed.times(unitPrice).plus(decimal(price.flatAmount ?? '0'));
    return { quantity: billed, exactAmount, unitPrice, breakdown: [] };
  },
};
