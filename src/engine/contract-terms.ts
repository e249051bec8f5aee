/** A stored contract as calculation sees it. */

import { startOfDay } from '../calculation/billing-period.ts';
import type { BillingTerms } from '../calculation/invoice-periods.ts';
import type { ContractItem } from '../calculation/rate-card.ts';
import { keepLatest } from '../once.ts';
import type { Contract } from '../store/records/contracts.ts';

/** What of a contract decides its periods and lines. */
export type ContractTerms = Pick<Contract, 'startDate' | 'endDate' | 'effectiveEndDate' | 'items'> &
  Partial<Pick<Contract, 'creditGrantCents'>>;

/** What a contract is billed by, to its end or to the earlier end that a cancellation gave it. */
export function billingTermsOf(contract: ContractTerms): BillingTerms {
  const known = termsOfContracts.get(contract) ?? findTerms(contract);
  termsOfContracts.set(contract, known);
  return known;
}

const termsOfContracts = new WeakMap<ContractTerms, BillingTerms>();

function findTerms(contract: ContractTerms): BillingTerms {
  const { startDate, items, creditGrantCents } = contract;
  const endDate = contract.effectiveEndDate ?? contract.endDate;
  const alike = latestTerms.get(items) ?? keepLatest<BillingTerms>(mostTerms);
  latestTerms.set(items, alike);
  const isCancelled = contract.effectiveEndDate !== undefined;
  const key = `${startDate} ${endDate ?? ''} ${creditGrantCents ?? ''} ${isCancelled ? `of ${contract.endDate ?? ''}` : ''}`;
  return alike(key, () => ({
    startDate,
    endDate,
    items,
    creditGrantCents,
    uncancelled: isCancelled ? findTerms({ ...contract, effectiveEndDate: undefined }) : undefined,
  }));
}

/** The same terms for contracts that are alike, as far as they share their items: their periods are found once. */
const latestTerms = new WeakMap<readonly ContractItem[], ReturnType<typeof keepLatest<BillingTerms>>>();
const mostTerms = 64;

/** What a contract was billed by at an instant: an invoice of before a cancellation was made by the terms of before it. */
export function billingTermsAt(
  contract: ContractTerms & Pick<Contract, 'cancelledAt'>,
  at: Temporal.Instant,
): BillingTerms {
  const { cancelledAt } = contract;
  const isLater = cancelledAt !== undefined && Temporal.Instant.compare(at, cancelledAt) < 0;
  return billingTermsOf(isLater ? { ...contract, effectiveEndDate: undefined } : contract);
}

/** The instant at which service stops, exclusive; undefined for a rolling contract. */
export function serviceEndOf(contract: Pick<Contract, 'endDate' | 'effectiveEndDate'>): Temporal.Instant | undefined {
  const endDate = contract.effectiveEndDate ?? contract.endDate;
  return endDate === undefined ? undefined : startOfDay(endDate);
}
