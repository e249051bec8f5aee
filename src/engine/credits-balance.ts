/** A wallet as `credits.balance` answers it (semantics 1). */

import { type GrantState, hasExpired, type WalletState } from '../calculation/ledger.ts';
import { currency } from '../operations/wire-values.ts';
import { wireCents, wireCredits, wireTimestamp } from './wire.ts';

/** Balance and blocks at `at`, the instant at which the wallet was folded. */
export function wireBalance(wallet: WalletState, at: Temporal.Instant) {
  return {
    balance: {
      balanceCents: wireCents(wallet.balanceCents),
      creditBalance: wireCredits(wallet.creditMicros),
      // A mirror may be of a service that has others.
      currency: wallet.grants[0]?.currency ?? currency,
      blockCount: wallet.grants.length,
      asOf: wireTimestamp(at),
    },
    blocks: wallet.grants.map((grant, index) => {
      const { status } = grant;
      return { id: grant.grantId, status, priority: index + 1, ...wireHolding(grant, at) };
    }),
  };
}

/** What a grant holds of what was granted, and until when. */
export function wireHolding(grant: GrantState, now: Temporal.Instant) {
  // An expired grant holds nothing, whether or not its expiration is written yet (semantics 9, Expiry).
  const isGone = hasExpired(grant, now);
  return {
    daysUntilExpiry: grant.expiresAt === undefined ? null : wholeDaysUntil(now, grant.expiresAt),
    originalCents: wireCents(grant.originalCents),
    originalCredits: wireCredits(grant.originalMicros),
    remainingCents: wireCents(isGone ? 0n : grant.remainingCents),
    remainingCredits: wireCredits(isGone ? 0n : grant.remainingMicros),
    creditRateCents: wireCents(grant.creditRateCents),
    currency: grant.currency,
    description: grant.description,
    isPromotional: grant.isPromotional,
    expiresAt: grant.expiresAt === undefined ? null : wireTimestamp(grant.expiresAt),
    createdAt: wireTimestamp(grant.createdAt),
  };
}

/** Days of 24 hours, rounded down; 0 once the instant has passed (our choice). */
function wholeDaysUntil(now: Temporal.Instant, instant: Temporal.Instant): number {
  return Math.max(0, Math.floor(now.until(instant, { largestUnit: 'hour' }).hours / 24));
}
