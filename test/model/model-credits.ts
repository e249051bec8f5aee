/** Grants, corrections and balances of the model (interface 4.15, 4.16; semantics 9, 14). */

import { textOfNumber } from '../../src/exact-json.ts';
import type { ExactNumber } from '../../src/exact-json.ts';
import { dayMilliseconds, instantOf, timestampOf } from './calendar.ts';
import { topUpDrafts } from './drafts.ts';
import { decimal, divide, halfUp, least, most, whole } from './fraction.ts';
import { isBilledOut } from './metering.ts';
import { named, refuseIf } from './refusal.ts';
import type { ModelCall, ModelInput } from './refusal.ts';
import { addEntry, lapseUnending, reverseEntry, settle, sweep } from './settlement.ts';
import type { Contract, Entry, Specifiers, State } from './state.ts';
import { balanceOf, grantsOf, isExpired, isReversed, remainderOf } from './grants.ts';
import { burnOrder, drawDown } from './wallet.ts';
import type { Money } from './grants.ts';
import { creditsText, entryWire } from './wire.ts';

export const microsOf = (credits: ExactNumber): bigint => halfUp(decimal(textOfNumber(credits)), 6);

export const contractOf = (state: State, input: ModelInput): Contract =>
  named(state.contracts, input.params['contractId'], 'notFound');

function grant(state: State, input: ModelInput, isPromotional: boolean): unknown {
  const { body, as } = input;
  refuseIf((body.creditRateCents === undefined) !== (body.creditAmount === undefined), 'invalidInput');
  refuseIf(body.amountCents === undefined && body.creditAmount === undefined, 'invalidInput');
  const contract = contractOf(state, input);
  const { cents, micros, rateCents } = amountsOf(body);
  const existing = grantsOf(contract).find(
    (entry) => body.externalId !== undefined && entry.externalId === body.externalId,
  );
  if (existing !== undefined) return { data: { ...entryWire(existing), id: existing.id }, isReplay: true };
  const expiresAt = body.expiresAt === undefined || body.expiresAt === null ? null : instantOf(body.expiresAt);
  refuseIf(expiresAt !== null && expiresAt <= state.now, 'invalidInput');
  checkSpecifiers(state, body.specifiers);
  refuseIf(isBilledOut(contract), 'conflict');
  sweep(state, contract);
  const entry = addEntry(state, contract, {
    id: as,
    type: 'grant',
    cents,
    micros,
    rateCents,
    sourceType: isPromotional ? 'promotional' : 'contract',
    isPromotional,
    expiresAt,
    externalId: body.externalId,
    purchaseRateCents: isPromotional ? 0n : rateCents,
    specifiers: body.specifiers,
  });
  const after = balanceOf(contract);
  return {
    data: {
      ...entryWire(entry),
      id: as,
      purchaseRateCents: String(entry.purchaseRateCents),
      balanceAfterCents: String(after.cents),
      creditBalanceAfter: creditsText(after.micros),
    },
    isReplay: false,
  };
}

/** Dollar-only or rate mode; both together only where they agree. */
function amountsOf(body: { amountCents?: number; creditRateCents?: number; creditAmount?: ExactNumber }) {
  const { amountCents, creditRateCents, creditAmount } = body;
  if (creditRateCents === undefined || creditAmount === undefined) {
    return { cents: BigInt(amountCents ?? 0), micros: 0n, rateCents: 0n };
  }
  const micros = microsOf(creditAmount);
  const cents = halfUp(divide(whole(micros * BigInt(creditRateCents)), whole(1_000_000n)));
  refuseIf(amountCents !== undefined && BigInt(amountCents) !== cents, 'invalidInput');
  refuseIf(cents > 10n ** 15n, 'invalidInput');
  return { cents, micros, rateCents: BigInt(creditRateCents) };
}

function checkSpecifiers(state: State, specifiers: Specifiers | undefined): void {
  for (const id of specifiers?.meterIds ?? []) named(state.meters, id, 'invalidInput');
  for (const id of specifiers?.pricingIds ?? []) named(state.pricings, id, 'invalidInput');
  for (const id of specifiers?.productIds ?? []) {
    refuseIf(!state.pricings.some((pricing) => pricing.productId === id), 'invalidInput');
  }
}

/** Adjustments of a grant that stand. */
function adjustedOf(contract: Contract, grant: Entry): Money {
  const standing = contract.entries.filter(
    (entry) => entry.type === 'adjustment' && entry.grant === grant && !isReversed(contract, entry),
  );
  const sum = (list: readonly bigint[]) => list.reduce((a, b) => a + b, 0n);
  return { cents: sum(standing.map((entry) => entry.cents)), micros: sum(standing.map((entry) => entry.micros)) };
}

/** Never below nothing; and never above what was granted, even if all that usage took came back. */
function refuseOutOfBounds(contract: Contract, grant: Entry, change: Money): void {
  const rest = remainderOf(contract, grant);
  const adjusted = adjustedOf(contract, grant);
  refuseIf(rest.cents + change.cents < 0n || rest.micros + change.micros < 0n, 'conflict');
  refuseIf(adjusted.cents + change.cents > 0n || adjusted.micros + change.micros > 0n, 'conflict');
}

function adjust(state: State, input: ModelInput): Entry {
  const contract = contractOf(state, input);
  const { body } = input;
  const target = named(grantsOf(contract), body.grantEntryId, 'invalidInput');
  const isByCredits = body.creditAmount !== undefined;
  const hasCents = target.cents > 0n || target.micros === 0n;
  refuseIf(isByCredits ? target.micros === 0n : !hasCents, 'conflict');
  sweep(state, contract);
  const hasLapsed = contract.entries.some((entry) => entry.type === 'expiration' && entry.grant === target);
  refuseIf(hasLapsed || isExpired(target, state.now) || isReversed(contract, target), 'conflict');
  const own = isByCredits ? microsOf(body.creditAmount) : BigInt(body.amountCents);
  const other = following(contract, target, { of: isByCredits ? 'micros' : 'cents', change: own });
  const change = isByCredits ? { cents: other, micros: own } : { cents: own, micros: other };
  refuseOutOfBounds(contract, target, change);
  refuseIf((change.cents > 0n || change.micros > 0n) && isBilledOut(contract), 'conflict');
  const { rateCents, isPromotional } = target;
  return addEntry(state, contract, {
    id: input.as,
    type: 'adjustment',
    sourceType: 'adjustment',
    ...change,
    grant: target,
    rateCents,
    isPromotional,
  });
}

/**
 * Credits that go with cents of a grant, or the other way round: in proportion, without dust where it is emptied or made
 * whole, or nearly so.
 */
function following(contract: Contract, grant: Entry, { of, change }: { of: keyof Money; change: bigint }): bigint {
  const other = of === 'cents' ? 'micros' : 'cents';
  const rest = remainderOf(contract, grant);
  const adjusted = adjustedOf(contract, grant);
  if (grant[other] === 0n) return 0n;
  if (rest[of] + change === 0n) return -rest[other];
  if (adjusted[of] + change === 0n) return -adjusted[other];
  const share = halfUp(divide(whole(change * grant[other]), whole(grant[of])));
  return least(change < 0n ? 0n : -adjusted[other], most(1n - rest[other], share));
}

function reverse(state: State, input: ModelInput): Entry {
  const contract = contractOf(state, input);
  const target = named(contract.entries, input.params['entryId'], 'notFound');
  sweep(state, contract);
  refuseIf(target.type === 'reversal' || target.type === 'expiration' || isReversed(contract, target), 'conflict');
  const isFrozen = target.invoice?.status !== 'Drafted' && target.invoice?.status !== 'Refunded';
  refuseIf(target.type === 'usage' && isFrozen, 'conflict');
  if (target.type === 'grant') {
    const rest = remainderOf(contract, target);
    refuseIf(rest.cents !== target.cents || rest.micros !== target.micros, 'conflict');
  }
  if (target.type === 'adjustment' && target.grant !== null) {
    refuseOutOfBounds(contract, target.grant, { cents: -target.cents, micros: -target.micros });
    const rest = remainderOf(contract, target.grant);
    const isRated = target.grant.cents > 0n && target.grant.micros > 0n;
    refuseIf(isRated && rest.cents === target.cents && rest.micros > target.micros, 'conflict');
  }
  const reversal = reverseEntry(state, contract, target);
  if (target === contract.prepaid && contract.invoices[0]?.status === 'Drafted') contract.prepaid = undefined;
  if (isBilledOut(contract)) lapseUnending(state, contract);
  return reversal;
}

/** A grant that was used up stays depleted when its expiry comes. */
function statusOf(state: State, contract: Contract, each: Entry): string {
  const lapsed = contract.entries.some((entry) => entry.type === 'expiration' && entry.grant === each);
  const rest = remainderOf(contract, each);
  if (!lapsed && rest.cents === 0n && rest.micros === 0n) return 'depleted';
  return lapsed || isExpired(each, state.now) ? 'expired' : 'active';
}

/** What a grant gives at an instant: nothing from its expiry on, swept or not. */
function usable(state: State, contract: Contract, each: Entry): Money {
  return isExpired(each, state.now) ? { cents: 0n, micros: 0n } : remainderOf(contract, each);
}

function balance(state: State, contract: Contract): unknown {
  const grants = burnOrder(grantsOf(contract), contract.entries);
  const rests = grants.map((each) => usable(state, contract, each));
  const sum = (list: readonly bigint[]) => list.reduce((a, b) => a + b, 0n);
  const balanceCents = sum(rests.map((rest) => rest.cents));
  const micros = sum(rests.map((rest) => rest.micros));
  const drafted = contract.invoices.length;
  topUpDrafts(state, contract);
  const draws = drawDown(state, contract).filter((draw) => !isExpired(draw.grant, state.now));
  // Nothing is written by a reading: only what is billed of later periods is foreseen.
  contract.invoices.splice(drafted);
  const recorded = contract.entries.filter(
    (entry) => entry.invoice?.status === 'Drafted' && entry.grant !== null && !isExpired(entry.grant, state.now),
  );
  return {
    balance: { balanceCents: String(balanceCents), creditBalance: creditsText(micros) },
    blocks: grants.map((each, index) => ({
      id: each.id,
      status: statusOf(state, contract, each),
      daysUntilExpiry:
        each.expiresAt === null
          ? null
          : String(Math.max(0, Math.floor((each.expiresAt - state.now) / dayMilliseconds))),
      originalCents: String(each.cents),
      originalCredits: creditsText(each.micros),
      remainingCents: String(rests[index]?.cents),
      remainingCredits: creditsText(rests[index]?.micros ?? 0n),
      creditRateCents: String(each.rateCents),
      isPromotional: each.isPromotional,
      expiresAt: each.expiresAt === null ? null : timestampOf(each.expiresAt),
      createdAt: timestampOf(each.createdAt),
    })),
    projected: {
      balanceCents: String(balanceCents - sum(draws.map((d) => d.cents)) - sum(recorded.map((entry) => entry.cents))),
      creditBalance: creditsText(micros - sum(draws.map((d) => d.micros)) - sum(recorded.map((entry) => entry.micros))),
    },
  };
}

export const creditCalls: Readonly<Record<string, ModelCall>> = {
  'credits.grant': (state, input) => grant(state, input, true),
  'credits.grantPaid': (state, input) => grant(state, input, false),
  'credits.adjust': (state, input) => ({ data: entryWire(adjust(state, input)) }),
  'credits.reverse': (state, input) => ({ data: entryWire(reverse(state, input)) }),
  'credits.settle': (state, input) => {
    const entries = settle(state, contractOf(state, input));
    return { data: { totalCount: String(entries.length) } };
  },
  'credits.ledger': (state, input) => {
    const contract = contractOf(state, input);
    return { data: { totalCount: String(contract.entries.length), entries: contract.entries.map(entryWire) } };
  },
  'credits.balance': (state, input) => ({ data: balance(state, contractOf(state, input)) }),
};
