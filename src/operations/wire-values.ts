/** Values that a field can have, also for code that does not need its schema. */

/** The only currency there is (interface 2.8, semantics 5). */
export const currency = 'USD';

/** Interface 2.4. */
export const pricingModels = ['FLAT', 'TIER', 'USAGE'] as const;
export type PricingModelName = (typeof pricingModels)[number];
/** Semantics 1: the interface shows only `RECURRING`. */
export const billingModes = ['RECURRING', 'ONE_TIME'] as const;
export type BillingMode = (typeof billingModes)[number];
/** Semantics 1: the interface shows only `NONE`. */
export const tierings = ['NONE', 'VOLUME', 'GRADUATED'] as const;
export type Tiering = (typeof tierings)[number];
/** Semantics 1; the interface leaves them open. */
export const priceIntervals = ['WEEK', 'MONTH', 'YEAR'] as const;
export type PriceInterval = (typeof priceIntervals)[number];

/** Interface 2.9; `SUM` when not given. */
export const aggregationTypes = ['SUM', 'COUNT', 'MAX', 'MIN'] as const;
export type AggregationType = (typeof aggregationTypes)[number];
/** How the readings of a line's phases and event groups make up one quantity. An SQL meter is read anew up to each phase end. */
export const combinations = [...aggregationTypes, 'SQL'] as const;
export type Combination = (typeof combinations)[number];

/** `depleted`: nothing is left, nothing lapsed; `expired`: what was left has lapsed, or must (semantics 1 and 9). */
export const grantStatuses = ['active', 'depleted', 'expired'] as const;
export type GrantStatus = (typeof grantStatuses)[number];

/** What happens when the credits of a contract are used up. */
export const depletionActions = ['auto_invoice', 'alert_only'] as const;
export type DepletionAction = (typeof depletionActions)[number];

/** Every kind of event that is sent (semantics 1). */
export const webhookEventTypes = [
  'invoice.created',
  'invoice.updated',
  'contract.created',
  'contract.updated',
  'contract.terminated',
  'customer.created',
  'customer.updated',
  'credit.threshold_crossed',
  'credit.balance_depleted',
  'credit.budget.exhausted',
] as const;
export type WebhookEventType = (typeof webhookEventTypes)[number];
