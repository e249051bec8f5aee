/** What every pricing model offers: a quantity and a price in, an exact amount and how it came about out. */

import type { PricingModelName, Tiering } from '../../operations/wire-values.ts';
import type { Big } from '../money.ts';

/** One step of a price. Amounts and bounds are decimal strings (interface 2.4), so that a tier can be stored as it is. */
export interface PricingTier {
  readonly unitAmount: string;
  /** Exclusive lower bound; `0` for the first tier, which includes 0. */
  readonly minQty: string;
  /** Inclusive upper bound; empty for the last tier, which has none. */
  readonly maxQty: string;
  readonly flatAmount: string;
}

/** A price as stored; amounts are decimal strings of dollars. */
export interface Price {
  readonly model: PricingModelName;
  /** One price, all units at the tier that holds them, or slice by slice (semantics 5). */
  readonly tiering: Tiering;
  readonly unitAmount?: string | undefined;
  readonly flatAmount?: string | undefined;
  readonly tiers: readonly PricingTier[];
}

/** What one tier added to an amount. */
export interface TierShare {
  /** Exclusive, except 0 in the first tier. */
  readonly from: Big;
  /** Inclusive; undefined for the last tier. */
  readonly to: Big | undefined;
  readonly quantity: Big;
  readonly unitAmount: Big;
  readonly flatAmount: Big;
  /** Dollars, unrounded. */
  readonly exactAmount: Big;
}

/** What a price asks for a quantity, not yet rounded to cents. */
export interface PricedQuantity {
  /** The quantity that was priced: never negative. */
  readonly quantity: Big;
  /** Dollars, unrounded. */
  readonly exactAmount: Big;
  /** Dollars a unit; with tiers the amount over the quantity, half-up at twelve decimals (semantics 12). */
  readonly unitPrice: Big;
  /** Empty for a price without tiers. */
  readonly breakdown: readonly TierShare[];
}

/** How one model prices a quantity; exact in everything but `unitPrice`. */
export interface PricingModel {
  /** Prices a quantity; a negative one counts as 0 and owes no flat amount of a tier (semantics 5). */
  readonly price: (price: Price, quantity: Big) => PricedQuantity;
}
