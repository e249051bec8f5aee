/** What may be corrected by hand: the reversal of one entry, and the adjustment of one grant (semantics 9). */

import type { GrantState, LedgerEntry, WalletState } from './ledger.ts';
import { maximum, minimum, multiplyDivideHalfUp } from './money.ts';

/** Signed as the entry to write. */
export interface Correction {
  readonly grantId: string;
  readonly amountCents: bigint;
  readonly creditMicros: bigint;
  readonly appliedCents: bigint;
}

/** Why the current state forbids it: a conflict, with what to do instead where there is something. */
export interface Refusal {
  readonly refusal: string;
}

/**
 * The opposite of one entry, or why it may not be undone: expirations and reversals never, nothing twice, a grant only while
 * nothing of it was used. The wallet must be folded from the same entries. A return to a grant that has expired is to be
 * followed by an expiration in the same transaction.
 */
export function reversalOf(
  entry: LedgerEntry,
  entries: readonly LedgerEntry[],
  wallet: WalletState,
): Correction | Refusal {
  if (entry.type === 'reversal' || entry.type === 'expiration') {
    return { refusal: `entry ${entry.id} is a ${entry.type}, which cannot be reversed` };
  }
  if (entries.some((other) => other.reversesEntryId === entry.id)) {
    return { refusal: `entry ${entry.id} is reversed already` };
  }
  const grant = wallet.grants.find((candidate) => candidate.grantId === (entry.grantEntryId ?? entry.id));
  if (grant === undefined) return { refusal: `entry ${entry.id} has no grant in this contract` };
  const correction = {
    grantId: grant.grantId,
    amountCents: -entry.amountCents,
    creditMicros: -entry.creditMicros,
    appliedCents: -entry.appliedCents,
  };
  if (entry.type === 'grant') return isUntouched(grant) ? correction : { refusal: usedProblem(grant) };
  return rangeProblem(grant, correction) ?? correction;
}

/**
 * The correction of a grant by an amount in cents or in credits, never both; for a grant with a rate the other follows from
 * its own ratio, half-up, and a grant that is emptied or filled up keeps no dust. Refused below 0 and above the original.
 */
export function adjustmentOf(
  grant: GrantState,
  change: { readonly amountCents: bigint } | { readonly creditMicros: bigint },
): Correction | Refusal {
  if (grant.isReversed) return { refusal: `grant ${grant.grantId} is reversed` };
  // A grant that was used up before its day is closed by it too: what is added would only lapse.
  if (grant.status === 'expired' || grant.isClosed) return { refusal: `grant ${grant.grantId} has expired` };
  const movement = bothMeasures(grant, change);
  if ('refusal' in movement) return movement;
  const correction = { grantId: grant.grantId, ...movement, appliedCents: 0n };
  if (correction.amountCents === 0n && correction.creditMicros === 0n) {
    return { refusal: `grant ${grant.grantId} would not change` };
  }
  return rangeProblem(grant, correction) ?? correction;
}

function bothMeasures(
  grant: GrantState,
  change: { readonly amountCents: bigint } | { readonly creditMicros: bigint },
): { readonly amountCents: bigint; readonly creditMicros: bigint } | Refusal {
  const isInCents = 'amountCents' in change;
  if (grant.originalMicros === 0n) {
    if (isInCents) return { amountCents: change.amountCents, creditMicros: 0n };
    return { refusal: `grant ${grant.grantId} is in dollars only: adjust it in cents` };
  }
  if (grant.originalCents === 0n) {
    if (!isInCents) return { amountCents: 0n, creditMicros: change.creditMicros };
    return { refusal: `grant ${grant.grantId} is of free credits: adjust it in credits` };
  }
  if (isInCents) {
    const { amountCents } = change;
    const measure = { change: amountCents, remaining: grant.remainingCents, original: grant.originalCents };
    const other = { remaining: grant.remainingMicros, original: grant.originalMicros };
    return { amountCents, creditMicros: following(measure, other) };
  }
  const { creditMicros } = change;
  const measure = { change: creditMicros, remaining: grant.remainingMicros, original: grant.originalMicros };
  const other = { remaining: grant.remainingCents, original: grant.originalCents };
  return { amountCents: following(measure, other), creditMicros };
}

interface Measure {
  readonly remaining: bigint;
  readonly original: bigint;
}

function following(measure: Measure & { readonly change: bigint }, other: Measure): bigint {
  const after = measure.remaining + measure.change;
  if (after === 0n) return -other.remaining;
  if (after === measure.original) return other.original - other.remaining;
  const change = multiplyDivideHalfUp(measure.change, other.original, measure.original);
  if (after < 0n || after > measure.original) return change;
  // Rounding must neither empty one measure while the other has something left, nor overfill it.
  return maximum(1n, minimum(other.original, other.remaining + change)) - other.remaining;
}

function rangeProblem(grant: GrantState, correction: Correction): Refusal | undefined {
  const cents = grant.remainingCents + correction.amountCents;
  const micros = grant.remainingMicros + correction.creditMicros;
  if (cents < 0n || micros < 0n) return { refusal: `grant ${grant.grantId} has less than that left` };
  if (cents > grant.originalCents || micros > grant.originalMicros) {
    return { refusal: `grant ${grant.grantId} would hold more than was granted` };
  }
  return undefined;
}

function isUntouched(grant: GrantState): boolean {
  return grant.remainingCents === grant.originalCents && grant.remainingMicros === grant.originalMicros;
}

function usedProblem(grant: GrantState): string {
  return `grant ${grant.grantId} is partly used or has lapsed; take back the rest with an adjustment`;
}
