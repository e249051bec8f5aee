/** The credits that a contract begins with, when the invoice that bills them is not going to be paid (our choice). */

import { hasExpired, standingUsageOn } from '../calculation/ledger.ts';
import { type Contract, updateContract } from '../store/records/contracts.ts';
import { type Invoice, listInvoicesOfContract } from '../store/records/invoices.ts';
import { listLedger } from '../store/records/ledger.ts';
import type { StoredLedgerEntry } from '../store/records/ledger.ts';
import type { CallContext } from './handler.ts';
import { readLedger } from './known-ledgers.ts';
import { createLedgerWriter, expireRest, ofGrant, totalsOf } from './ledger-writing.ts';
import type { LedgerWriter } from './ledger-writing.ts';
import { reverseEntry } from './settlement.ts';

/**
 * Takes back the prepaid credits that `invoice` bills, if any: all of them by a reversal of their grant, or what other invoices
 * have left of them by an adjustment. First the drafts and the invoice itself give up what they took; the settlement that must
 * follow makes other grants pay. The ledger must be swept.
 */
export async function takeBackPrepaid(context: CallContext, contract: Contract, invoice: Invoice): Promise<void> {
  if (invoice.periodIndex !== 0 || (contract.creditGrantCents ?? 0n) === 0n) return;
  const { tx, orgId, now } = context;
  const entries = await listLedger(tx, orgId, contract.id);
  // The grant was made with the contract, so it comes first.
  const [grant] = entries;
  if (grant === undefined) return;
  const drafts = (await listInvoicesOfContract(tx, orgId, contract.id)).filter(({ status }) => status === 'Drafted');
  const ids = new Set([invoice, ...drafts].map(({ id }) => id));
  const writer = createLedgerWriter(context, contract, await readLedger(context, contract.id, entries));
  const taken = standingUsageOn(entries, ids).filter(({ grantEntryId }) => grantEntryId === grant.id);
  for (const entry of taken.toReversed()) await reverseEntry(writer, entry);
  await takeBackRest(writer, grant, { now, description: `Not bought: invoice ${invoice.number} is cancelled` });
  await writer.finish();
}

/**
 * Strikes the prepaid credits from the contract, whose grant has been reversed, unless the invoice that bills them is finalized.
 * Nobody pays for credits that were taken back; what is finalized stays as it is.
 */
export async function strikePrepaid(
  { tx, orgId, now }: CallContext,
  { id }: Contract,
  invoices: readonly Invoice[],
): Promise<void> {
  if (invoices.find(({ periodIndex }) => periodIndex === 0)?.status !== 'Drafted') return;
  await updateContract(tx, orgId, { id, creditGrantCents: null, updatedAt: now });
}

async function takeBackRest(
  writer: LedgerWriter,
  grant: StoredLedgerEntry,
  { now, description }: { readonly now: Temporal.Instant; readonly description: string },
): Promise<void> {
  const { remainingCents, hasLapsed } = totalsOf(writer, grant.id);
  // Whatever comes back to expired credits lapses.
  if (hasLapsed || hasExpired(grant, now)) return await expireRest(writer, grant.id);
  if (remainingCents === grant.amountCents) {
    await reverseEntry(writer, grant, description);
  } else if (remainingCents > 0n) {
    await writer.append({
      ...ofGrant(grant),
      type: 'adjustment',
      sourceType: 'adjustment',
      description,
      amountCents: -remainingCents,
      creditMicros: 0n,
      appliedCents: 0n,
    });
  }
}
