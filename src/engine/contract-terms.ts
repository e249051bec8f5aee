/** A stored contract as calculation sees it. */

import { startOfDay } from '../calculation/billing-period.ts';
import type { BillingTerms } from '../calculation/invoice-periods.ts';
import type { ContractItem } from '../calculation/rate-card.ts';
import { keepLatest } from '../once.ts';
import type { Contract } from '../store/records/contracts.ts';

/** The parts of a contract that decide its periods and lines. */
export type ContractTerms = Pick<Contract, 'startDate' | 'endDate' | 'effectiveEndDate' | 'items'> &
  Partial<Pick<Contract, 'creditGrantCents'>>;

/** The terms that a contract is billed by, up to its end or the earlier end that a cancellation gave it. */
export function billingTermsOf(contract: ContractTerms): BillingTerms {
  return termsOfContracts.getOrInsertComputed(contract, findTerms);
}

const termsOfContracts = new WeakMap<ContractTerms, BillingTerms>();

function findTerms(contract: ContractTerms): BillingTerms {
  const { startDate, items, creditGrantCents } = contract;
  const endDate = contract.effectiveEndDate ?? contract.endDate;
  const alike = latestTerms.getOrInsertComputed(items, () => keepLatest(mostTerms));
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

/** Contracts that are alike and share their items get the same terms, so that their periods are found once. */
const latestTerms = new WeakMap<readonly ContractItem[], ReturnType<typeof keepLatest<BillingTerms>>>();
const mostTerms = 64;

/** The terms that a contract was billed by at an instant: an invoice made before a cancellation follows the earlier terms. */
export function billingTermsAt(
  contract: ContractTerms & Pick<Contract, 'cancelledAt'>,
  at: Temporal.Instant,
): BillingTerms {
  const { cancelledAt } = contract;
  const terms = billingTermsOf(contract);
  const isLater = cancelledAt !== undefined && Temporal.Instant.compare(at, cancelledAt) < 0;
  return isLater ? (terms.uncancelled ?? terms) : terms;
}

/** The instant at which service stops, exclusive; undefined for a rolling contract. */
export function serviceEndOf(contract: Pick<Contract, 'endDate' | 'effectiveEndDate'>): Temporal.Instant | undefined {
  const endDate = contract.effectiveEndDate ?? contract.endDate;
  return endDate === undefined ? undefined : startOfDay(endDate);
}
