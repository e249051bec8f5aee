/** Webhooks for a balance that has fallen: to a threshold that the contract names or below, or to 0 (semantics 1). */

import type { LedgerEntry } from '../calculation/ledger.ts';
import type { WalletHolder } from '../store/records/wallets.ts';
import type { CallContext } from './handler.ts';
import { emit } from './webhooks-emit.ts';
import { wireCents, wireCredits } from './wire.ts';

type Balance = Pick<LedgerEntry, 'balanceAfterCents' | 'creditBalanceAfterMicros' | 'currency'>;

/**
 * Emits a webhook for each threshold from the balance after (inclusive) to the balance before (exclusive), the highest first,
 * and one for a balance that is used up, in cents and in credits.
 */
export async function tellOfFall(
  context: CallContext,
  contract: WalletHolder,
  { before, after }: { readonly before: Balance | undefined; readonly after: Balance },
): Promise<void> {
  const dataOf = () => ({
    contractId: contract.id,
    customerId: contract.customerId,
    currency: after.currency,
    balanceCents: wireCents(after.balanceAfterCents),
    creditBalance: wireCredits(after.creditBalanceAfterMicros),
  });
  for (const threshold of thresholdsOf(contract)) {
    if ((before?.balanceAfterCents ?? 0n) <= threshold || after.balanceAfterCents > threshold) continue;
    await emit(context, 'credit.threshold_crossed', () => ({ ...dataOf(), thresholdCents: wireCents(threshold) }));
  }
  if (before === undefined || isNothing(before) || !isNothing(after)) return;
  await emit(context, 'credit.balance_depleted', dataOf);
}

function thresholdsOf({ creditSettings }: WalletHolder): bigint[] {
  const thresholds = [...new Set(creditSettings.alertThresholdsCents)];
  return thresholds.sort((one, other) => Number(other - one));
}

function isNothing({ balanceAfterCents, creditBalanceAfterMicros }: Balance): boolean {
  return balanceAfterCents === 0n && creditBalanceAfterMicros === 0n;
}
