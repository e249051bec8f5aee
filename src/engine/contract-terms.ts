/** A stored contract as calculation sees it. */

import { startOfDay } from '../calculation/billing-period.ts';
import type { BillingTerms } from '../calculation/invoice-draft.ts';
import type { ContractItem } from '../calculation/rate-card.ts';
import type { Contract } from '../store/records/contracts.ts';

/** The prices that were frozen into a contract. */
export function itemsOf(contract: Contract): readonly ContractItem[] {
  return contract.items as readonly ContractItem[];
}

/** What a contract is billed by, to its end or to the earlier end that a cancellation gave it. */
export function billingTermsOf(contract: Contract): BillingTerms {
  return {
    startDate: contract.startDate,
    endDate: contract.effectiveEndDate ?? contract.endDate,
    items: itemsOf(contract),
    creditGrantCents: contract.creditGrantCents,
  };
}

/** The instant at which service stops, exclusive; undefined for a rolling contract. */
export function serviceEndOf(contract: Contract): Temporal.Instant | undefined {
  const endDate = contract.effectiveEndDate ?? contract.endDate;
  return endDate === undefined ? undefined : startOfDay(endDate);
}
