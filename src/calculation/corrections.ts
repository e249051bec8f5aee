/** What may be corrected by hand: the reversal of one entry, and the adjustment of one grant (semantics 9). */

import { grantIdOf } from './ledger.ts';
import type { GrantState, LedgerEntry, WalletState } from './ledger.ts';
import { multiplyDivideHalfUp } from '../whole-amounts.ts';
import { maximum, minimum } from './money.ts';

/** Signed as the entry to write. */
export interface Correction {
  readonly grantId: string;
  readonly amountCents: bigint;
  readonly creditMicros: bigint;
}

/** Why the current state forbids a correction: a conflict, with what to do instead if anything can be done. */
export interface Refusal {
  readonly refusal: string;
}

/**
 * The opposite of one entry, or why it may not be undone. Expirations and reversals are never undone, and nothing is
 * undone twice; a grant only while none of it was used, an adjustment only where its grant stays between 0 and what was
 * granted. The wallet must be folded from the same entries. A return to an expired grant must be followed by an
 * expiration in the same transaction.
 */
export function reversalOf(
  entry: LedgerEntry,
  entries: readonly LedgerEntry[],
  wallet: WalletState,
): Correction | Refusal {
  if (entry.type === 'reversal' || entry.type === 'expiration') {
    return { refusal: `entry ${entry.id} is of type ${entry.type}, which cannot be reversed` };
  }
  const earlier = entries.find((other) => other.reversesEntryId === entry.id);
  if (earlier !== undefined) return { refusal: `entry ${entry.id} is reversed already, by entry ${earlier.id}` };
  const grant = wallet.grants.find((candidate) => candidate.grantId === grantIdOf(entry));
  if (grant === undefined) return { refusal: `entry ${entry.id} has no grant in this contract` };
  const correction = {
    grantId: grant.grantId,
    amountCents: -entry.amountCents,
    creditMicros: -entry.creditMicros,
  };
  if (entry.type === 'grant') return isUntouched(grant) ? correction : { refusal: usedProblem(grant) };
  // What usage took always fits back in, whatever was adjusted meanwhile.
  if (entry.type === 'usage') return correction;
  return rangeProblem(grant, correction) ?? dustProblem(grant, correction) ?? correction;
}

/**
 * The correction of a grant by an amount in cents or in credits, never both. For a grant with a rate, the other follows from
 * the grant's own ratio, half-up; a grant that is emptied or filled up keeps no dust. Refused below 0 and above the original.
 * What usage took counts as still there, because it comes back when usage shrinks or an invoice is voided.
 */
export function adjustmentOf(
  grant: GrantState,
  change: { readonly amountCents: bigint } | { readonly creditMicros: bigint },
): Correction | Refusal {
  if (grant.isReversed) return { refusal: `grant ${grant.grantId} is reversed` };
  // Its expiry also closes a grant that was used up before: anything added would only lapse.
  if (grant.status === 'expired' || grant.isClosed) return { refusal: `grant ${grant.grantId} has expired` };
  const movement = bothMeasures(grant, change);
  if ('refusal' in movement) return movement;
  const correction = { grantId: grant.grantId, ...movement };
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
    return { refusal: `grant ${grant.grantId} is in free credits only: adjust it in credits` };
  }
  if (isInCents) {
    const { amountCents } = change;
    return { amountCents, creditMicros: following(amountCents, centsOf(grant), creditsOf(grant)) };
  }
  const { creditMicros } = change;
  return { amountCents: following(creditMicros, creditsOf(grant), centsOf(grant)), creditMicros };
}

/** A grant in cents, or in credits. */
interface Measure {
  readonly original: bigint;
  readonly remaining: bigint;
  readonly adjusted: bigint;
}

function centsOf(grant: GrantState): Measure {
  return { original: grant.originalCents, remaining: grant.remainingCents, adjusted: grant.adjustedCents };
}

function creditsOf(grant: GrantState): Measure {
  return { original: grant.originalMicros, remaining: grant.remainingMicros, adjusted: grant.adjustedMicros };
}

function following(change: bigint, own: Measure, other: Measure): bigint {
  if (own.remaining + change === 0n) return -other.remaining;
  if (own.adjusted + change === 0n) return -other.adjusted;
  const share = multiplyDivideHalfUp(change, other.original, own.original);
  // Rounding must neither empty one measure while the other has something left, nor overfill it, nor give back where
  // something is taken: credits can be gone before their cents are.
  const most = change < 0n ? 0n : -other.adjusted;
  return minimum(most, maximum(1n - other.remaining, share));
}

/** Why a grant takes no more although there seems to be room, and what to do instead. */
const overfilled = ' if the credits that usage took came back: grant new credits instead';

function rangeProblem(grant: GrantState, correction: Correction): Refusal | undefined {
  const [cents, credits] = [centsOf(grant), creditsOf(grant)];
  if (cents.remaining + correction.amountCents < 0n || credits.remaining + correction.creditMicros < 0n) {
    return { refusal: `grant ${grant.grantId} has less than that left` };
  }
  if (cents.adjusted + correction.amountCents > 0n || credits.adjusted + correction.creditMicros > 0n) {
    const isFull = cents.remaining + correction.amountCents > cents.original;
    const when = isFull || credits.remaining + correction.creditMicros > credits.original ? '' : overfilled;
    return { refusal: `grant ${grant.grantId} would hold more than was granted${when}` };
  }
  return undefined;
}

/** An adjustment of credits that were worth no cent cannot be undone once the last cent is gone. */
function dustProblem(grant: GrantState, correction: Correction): Refusal | undefined {
  const isDust =
    grant.remainingCents + correction.amountCents === 0n && grant.remainingMicros + correction.creditMicros > 0n;
  return isDust && grant.originalCents !== 0n
    ? { refusal: `grant ${grant.grantId} has no cents left for these credits` }
    : undefined;
}

function isUntouched(grant: GrantState): boolean {
  return grant.remainingCents === grant.originalCents && grant.remainingMicros === grant.originalMicros;
}

function usedProblem(grant: GrantState): string {
  return `grant ${grant.grantId} is partly used, was adjusted or has lapsed; take back the rest with an adjustment`;
}
