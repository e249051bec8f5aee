/** A budget as it stands on the wire (interface 2.7). */

import type { BudgetUse } from '../calculation/budget.ts';
import { exactNumber } from '../exact-json.ts';
import type { Budget } from '../store/records/budgets.ts';
import { wireCents, wireDecimal } from './wire.ts';

/** `index` is the budget's place in the contract's array. */
export function wireBudget(budget: Budget, index: number) {
  const { label, eventPropertyKey, eventPropertyValue, meterId, maxCredits, maxCreditsCents, isExhausted } = budget;
  return {
    index,
    label,
    eventPropertyKey,
    eventPropertyValue,
    meterId,
    maxCredits: maxCredits === null ? null : exactNumber(maxCredits),
    maxCreditsCents: maxCreditsCents === null ? null : wireCents(maxCreditsCents),
    isExhausted,
  };
}

/** Credits with their exact digits; cents. */
export function wireConsumption({ consumedUnits, consumedCents }: BudgetUse) {
  return { consumedUnits: wireDecimal(consumedUnits), consumedCents: wireCents(consumedCents) };
}
