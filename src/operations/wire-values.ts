/** Values that a field can have, also for code that does not need its schema. */

/** The only currency there is (interface 2.8, semantics 5). */
export const currency = 'USD';

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
