/** What must hold of a contract beside its credits and invoices (reliability 5, invariants 12, 22, 23 and 25). */

import { normaliseTiers } from '../../calculation/pricing/tiered.ts';
import { counted } from '../../counted.ts';
import type { ContractBooks, Problem } from './check.ts';

/** Where an entry does not fit the seal before it, it was changed, or an entry before it was removed or inserted. */
export function chainProblems({ ledger }: ContractBooks): Problem[] {
  return ledger.brokenIds.map((id) => ({ objectId: id, problem: `entry ${id} does not fit the one before it` }));
}

/** Entries stand in the order of their instants, so that stored time never goes backwards. */
export function entryTimeProblems({ ledger: { entries } }: ContractBooks): Problem[] {
  return entries.flatMap(({ id, createdAt }, index) => {
    const before = entries[index - 1];
    if (before === undefined || Temporal.Instant.compare(before.createdAt, createdAt) <= 0) return [];
    return [{ objectId: id, problem: `entry ${id} is older than ${before.id}, which comes before it` }];
  });
}

/** Tiers begin at 0, each where the last one ended, and the last has no end. */
export function tierProblems({ contract }: ContractBooks): Problem[] {
  return contract.items.flatMap(({ id, tiering, tiers }) => {
    if (tiering === 'NONE') return [];
    const normalised = normaliseTiers(tiers);
    const isNormal =
      'tiers' in normalised &&
      normalised.tiers.every((tier, index) => {
        const own = tiers[index];
        return tier.minQty === own?.minQty && tier.maxQty === own.maxQty;
      });
    if (isNormal) return [];
    return [
      { objectId: contract.id, problem: `item ${id} of contract ${contract.id} has tiers with a gap or overlap` },
    ];
  });
}

/** Budgets are numbered without gaps, and only one with a cap can be exhausted. */
export function budgetProblems({ contract, budgets, budgetPositions }: ContractBooks): Problem[] {
  const isNumbered = budgetPositions.every((position, index) => position === index);
  const uncapped = budgets.filter(
    (budget) => budget.isExhausted && budget.maxCredits === null && budget.maxCreditsCents === null,
  );
  return [
    ...(isNumbered
      ? []
      : [
          {
            objectId: contract.id,
            problem: `budgets of contract ${contract.id} are numbered ${budgetPositions.join(', ')}`,
          },
        ]),
    ...uncapped.map(({ id, label }) => ({ objectId: id, problem: `budget ${label} is exhausted, but has no cap` })),
  ];
}

/** Prices and grants name meters, prices and products of their own organization; invoices name the contract's own customer. */
export function tenancyProblems({ contract, unknownIds, invoices }: ContractBooks): Problem[] {
  const strangers = invoices.filter(({ invoice }) => invoice.customerId !== contract.customerId);
  return [
    ...unknownIds.map((id) => ({
      objectId: contract.id,
      problem: `contract ${contract.id} or a grant of it names ${id}, which its organization does not have`,
    })),
    ...strangers.map(({ invoice }) => ({
      objectId: invoice.id,
      problem: `invoice ${invoice.number} is for another customer than its contract`,
    })),
  ];
}

/** Several contracts price the same usage, and the events do not say which contract is meant. */
export function attributionProblems({ contract, disputed }: ContractBooks): Problem[] {
  return disputed.map(({ meterId, eventCount }) => ({
    objectId: contract.id,
    problem: `${counted(eventCount, 'event')} of meter ${meterId} ${eventCount === 1 ? 'counts' : 'count'} on an earlier contract than ${contract.id}, which prices ${eventCount === 1 ? 'it' : 'them'} too`,
  }));
}
