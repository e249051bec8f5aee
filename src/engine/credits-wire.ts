/** Ledger entries as they stand on the wire (interface 2.8). */

import type { ResponseBody } from '../operations/index.ts';
import type { StoredLedgerEntry } from '../store/records/ledger.ts';
import { wireCents, wireCredits, wireTimestamp } from './wire.ts';

/** What every entry shows; a grant shows more (interface 2.8). */
export type WireEntry = ResponseBody<'credits.adjust'>['data'];

/** An entry as ledgers and reports show it. */
export function wireEntry(entry: StoredLedgerEntry): WireEntry {
  const { id, type, currency, description, sourceType, isPromotional } = entry;
  return {
    id,
    type,
    amountCents: wireCents(entry.amountCents),
    creditAmount: wireCredits(entry.creditMicros),
    creditRateCents: wireCents(entry.creditRateCents),
    currency,
    description,
    sourceType,
    invoiceId: entry.invoiceId ?? null,
    grantEntryId: entry.grantEntryId ?? null,
    expiresAt: entry.expiresAt === undefined ? null : wireTimestamp(entry.expiresAt),
    isPromotional,
    createdAt: wireTimestamp(entry.createdAt),
  };
}

/** An entry with its origin: what a grant pays for, or which entry a reversal undoes. */
export function wireEntryWithOrigin(
  entry: StoredLedgerEntry,
): ResponseBody<'credits.ledger'>['data']['entries'][number] {
  const { type, specifiers, reversesEntryId } = entry;
  return {
    ...wireEntry(entry),
    ...(type === 'grant' ? { paysFor: { ...specifiers } } : {}),
    ...(reversesEntryId === undefined ? {} : { reversesEntryId }),
  };
}

/** The entry that a grant returns, which shows more. */
export function wireGrant(entry: StoredLedgerEntry) {
  return {
    ...wireEntry(entry),
    purchaseRateCents: wireCents(entry.purchaseRateCents),
    balanceAfterCents: wireCents(entry.balanceAfterCents),
    creditBalanceAfter: wireCredits(entry.creditBalanceAfterMicros),
    metadata: entry.metadata === undefined ? null : { ...entry.metadata },
  };
}
