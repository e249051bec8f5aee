/** The credits that a contract begins with, when the invoice that bills them is not going to be paid (our choice). */

import { hasExpired, standingUsageOn } from '../calculation/ledger.ts';
import { minimum, sumOf } from '../calculation/money.ts';
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
  const taken = standingUsageOn(entries, ids).filter(({ grantEntryId }) => grantEntryId === grant.id);
  const writer = createLedgerWriter(context, contract, await readLedger(context, contract.id, entries));
  await takeBack(writer, grant, { now, unbought: invoice, taken });
}

/**
 * The same for what `invoice` had kept of prepaid credits when the one that bills them was cancelled: it was finalized, and is
 * about to give back what it took. The ledger must be swept, and a settlement must follow.
 */
export async function takeBackKept(context: CallContext, contract: Contract, invoice: Invoice): Promise<void> {
  if (invoice.status === 'Drafted' || (contract.creditGrantCents ?? 0n) === 0n) return;
  const { tx, orgId, now } = context;
  const unbought = (await listInvoicesOfContract(tx, orgId, contract.id)).find(({ periodIndex }) => periodIndex === 0);
  if (unbought?.status !== 'Cancelled') return;
  const entries = await listLedger(tx, orgId, contract.id);
  const [grant] = entries;
  if (grant === undefined) return;
  // What was used later came from an adjustment that somebody made since.
  const kept = standingUsageOn(entries, new Set([invoice.id])).filter(
    ({ grantEntryId, createdAt }) =>
      grantEntryId === grant.id && Temporal.Instant.compare(createdAt, unbought.updatedAt) <= 0,
  );
  const writer = createLedgerWriter(context, contract, await readLedger(context, contract.id, entries));
  const atMostCents = -sumOf(kept.map(({ amountCents }) => amountCents));
  await takeBack(writer, grant, { now, unbought, taken: kept, atMostCents });
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

interface TakeBack {
  readonly now: Temporal.Instant;
  /** The cancelled invoice. */
  readonly unbought: Invoice;
  /** What was taken from the grant and returns first. */
  readonly taken: readonly StoredLedgerEntry[];
  /** All that the grant has left when not given. */
  readonly atMostCents?: bigint;
}

async function takeBack(
  writer: LedgerWriter,
  grant: StoredLedgerEntry,
  { now, unbought, taken, atMostCents = grant.amountCents }: TakeBack,
): Promise<void> {
  for (const entry of taken.toReversed()) await reverseEntry(writer, entry);
  const { remainingCents, hasLapsed } = totalsOf(writer, grant.id);
  const cents = minimum(remainingCents, atMostCents);
  const description = `Not bought: invoice ${unbought.number} is cancelled`;
  if (hasLapsed || hasExpired(grant, now)) {
    // Whatever comes back to expired credits lapses.
    await expireRest(writer, grant.id);
  } else if (cents === grant.amountCents) {
    await reverseEntry(writer, grant, description);
  } else if (cents > 0n) {
    await writer.append({
      ...ofGrant(grant),
      type: 'adjustment',
      sourceType: 'adjustment',
      description,
      amountCents: -cents,
      creditMicros: 0n,
      appliedCents: 0n,
    });
  }
  writer.close();
}
