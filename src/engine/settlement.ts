/**
 * The one routine that moves credits for usage (semantics 9, Settlement), and the return of what an invoice has taken.
 * It may run at any time, and again: it writes only what is owed and not written yet.
 */

import type { InvoiceLine } from '../calculation/invoice-draft.ts';
import { invoicePeriodAt } from '../calculation/invoice-periods.ts';
import { nextExpiryIn } from '../calculation/ledger-fold.ts';
import { type Draw, grantIdOf, hasExpired, type LedgerEntry, standingUsageOn } from '../calculation/ledger.ts';
import { planSettlement } from '../calculation/settlement-plan.ts';
import type { Contract } from '../store/records/contracts.ts';
import { closeExpiries } from '../store/records/due-work.ts';
import type { Invoice } from '../store/records/invoices.ts';
import { listLedger } from '../store/records/ledger.ts';
import type { StoredLedgerEntry } from '../store/records/ledger.ts';
import type { Wallet } from '../store/records/wallets.ts';
import { getContract, getWallet } from './contract-lookup.ts';
import { billingTermsOf } from './contract-terms.ts';
import { topUpDrafts } from './draft-periods.ts';
import type { CallContext } from './handler.ts';
import { knownMeters } from './known-catalog.ts';
import { ledgerUpTo, readLedger } from './known-ledgers.ts';
import type { KnownLedger } from './known-ledgers.ts';
import { createLedgerWriter, expireRest, ofGrant, totalsOf } from './ledger-writing.ts';
import type { EntryFacts, LedgerWriter } from './ledger-writing.ts';
import { readOpenBilling } from './open-billing.ts';
import type { KnownOfContract, OpenBilling } from './open-billing.ts';

export interface SettlementOptions extends KnownOfContract {
  /**
   * Invoices that are finalized with what is written, by id: the numbers that they get, which descriptions name. Missing drafts
   * have been made before.
   */
  readonly numbers?: ReadonlyMap<string, string>;
  /** The newest ledger entry before this call wrote any, if it has: webhooks tell of what has fallen since. */
  readonly since?: LedgerEntry | undefined;
}

export interface Settlement {
  /** What the open invoices come to; written in full by now. */
  readonly billing: OpenBilling;
  /** Entries that were written, oldest first. */
  readonly written: readonly StoredLedgerEntry[];
  /** The ledger, with what was written. */
  readonly ledger: KnownLedger;
}

/**
 * Writes what usage up to now owes, on the open invoices of a contract: the differences to what is written already, as
 * `usage` entries, and reversals where usage has shrunk. Grants that have expired are settled in the order of their expiry:
 * first usage before it, then the rest lapses. With the last invoice of a contract, what is left of all others lapses, too.
 * Missing drafts are made first, except where invoices are finalized.
 */
export async function settle(
  context: CallContext,
  contract: Contract,
  options: SettlementOptions = {},
): Promise<Settlement> {
  if (options.numbers === undefined) await topUpDrafts(context, contract);
  const billing = await readOpenBilling(context, contract, { ...options, isOnce: true });
  const plan = planSettlement(billing.draws, billing.openDraws);
  const { entries, head } = billing.ledger;
  const writer = createLedgerWriter(context, contract, await ledgerUpTo(context, { id: contract.id, head }, entries));
  for (const entry of plan.reversals) await reverseEntry(writer, entry);
  const describe = await descriptions(context, contract, { billing, numbers: options.numbers });
  const drawsByGrant = Map.groupBy(plan.usage, (draw) => draw.grantId);
  // In deduction order, which begins with the soonest expiry: nothing later draws on a grant that has lapsed here.
  for (const grant of billing.wallet.grants) {
    for (const draw of drawsByGrant.get(grant.grantId) ?? []) await drawDown(writer, draw, describe(draw));
    if (hasExpired(grant, context.now)) await expireRest(writer, grant.grantId);
  }
  if (isBilledOut(contract, billing.invoices, options.numbers)) await lapseLeftovers(writer);
  await writer.finish(options.since);
  // Even where nothing was written: usage that comes from now on must not revive what has expired.
  if (billing.wallet.grants.some((grant) => hasExpired(grant, context.now))) {
    const next = nextExpiryIn(writer.ledger.fold, context.now);
    await closeExpiries(context.tx, context.orgId, { contractId: contract.id, until: context.now, next });
  }
  return { billing, written: writer.written, ledger: writer.ledger };
}

/**
 * Settles if the expiry of a grant has come and is not settled yet, so that the next decision sees the ledger as it should stand
 * now and changes nothing that the grant has paid. That goes for a grant that drafts have emptied, too: it may owe other usage
 * by now. Returns the ledger.
 */
export async function sweepExpired(context: CallContext, { id }: Contract): Promise<KnownLedger> {
  return await sweepWallet(context, await getWallet(context, id));
}

/** The same with the wallet alone: the contract is read only where something is settled. */
export async function sweepWallet(context: CallContext, wallet: Wallet): Promise<KnownLedger> {
  if (!hasExpired({ expiresAt: wallet.nextExpiryAt }, context.now)) return await ledgerUpTo(context, wallet);
  return (await settle(context, await getContract(context, wallet.id))).ledger;
}

/**
 * Gives back what invoices have taken from grants; what comes back to an expired grant lapses at once. The ledger must be
 * swept, or what an expired grant still owes to usage would lapse with it. A settlement must follow: it makes grants pay for
 * other usage, and webhooks tell of the outcome. Where `isUsageMoved`, other drafts bill the usage of these invoices: nothing
 * lapses, and the settlement makes each grant pay for the same usage there.
 */
export async function returnCredits(
  context: CallContext,
  contract: Contract,
  { invoiceIds, isUsageMoved = false }: { readonly invoiceIds: ReadonlySet<string>; readonly isUsageMoved?: boolean },
): Promise<void> {
  const entries = await listLedger(context.tx, context.orgId, contract.id);
  const writer = createLedgerWriter(context, contract, await readLedger(context, contract.id, entries));
  const taken = standingUsageOn(entries, invoiceIds);
  for (const entry of taken.toReversed()) await reverseEntry(writer, entry);
  const givers = new Set(taken.map(({ grantEntryId }) => grantEntryId));
  const lapsing = entries.filter((grant) => !isUsageMoved && givers.has(grant.id) && hasExpired(grant, context.now));
  for (const grant of lapsing) await expireRest(writer, grant.id);
  writer.close();
}

/**
 * Whether nothing of a contract can be billed any more: it has an end, and no invoice is open or still to come. Those in
 * `finalizing`, by id, are open no more.
 */
export function isBilledOut(
  contract: Contract,
  invoices: readonly Invoice[],
  finalizing?: ReadonlyMap<string, unknown>,
): boolean {
  const terms = billingTermsOf(contract);
  const isOpen = ({ id, status }: Invoice) => status === 'Drafted' && finalizing?.has(id) !== true;
  if (terms.endDate === undefined || invoices.some(isOpen)) return false;
  return invoicePeriodAt(terms, (invoices.at(-1)?.periodIndex ?? -1) + 1) === undefined;
}

/** What a reversal says where nobody says anything else. */
export function reversalWords({ description }: Pick<LedgerEntry, 'description'>): string {
  return `Reversal: ${description}`;
}

/** The same for one that a person asked for, which an explanation must not take for that of a settlement. */
export function wordsByHand({ description }: Pick<LedgerEntry, 'description'>): string {
  return `Reversal by hand: ${description}`;
}

/** Writes the opposite of one entry. */
export async function reverseEntry(
  writer: LedgerWriter,
  entry: StoredLedgerEntry,
  description: string = reversalWords(entry),
): Promise<StoredLedgerEntry> {
  const facts: EntryFacts = {
    type: 'reversal',
    sourceType: 'reversal',
    description,
    amountCents: -entry.amountCents,
    creditMicros: -entry.creditMicros,
    appliedCents: -entry.appliedCents,
    creditRateCents: entry.creditRateCents,
    purchaseRateCents: entry.purchaseRateCents,
    isPromotional: entry.isPromotional,
    invoiceId: entry.invoiceId,
    lineKey: entry.lineKey,
    grantEntryId: grantIdOf(entry),
    reversesEntryId: entry.id,
  };
  return await writer.append(facts, entry);
}

async function drawDown(writer: LedgerWriter, draw: Draw, description: string): Promise<void> {
  await writer.append({
    ...ofGrant(totalsOf(writer, draw.grantId).grant),
    type: 'usage',
    sourceType: 'invoice',
    description,
    amountCents: -draw.amountCents,
    creditMicros: -draw.creditMicros,
    appliedCents: draw.appliedCents,
    invoiceId: draw.invoiceId,
    lineKey: draw.lineKey,
  });
}

/**
 * Lapses what is left of grants without an expiry (semantics 6), since all others lapse on their own day. The contract must be
 * billed out.
 */
export async function lapseLeftovers(writer: LedgerWriter): Promise<void> {
  for (const { grant } of writer.ledger.fold.grants.values()) {
    if (grant.expiresAt === undefined) await expireRest(writer, grant.id);
  }
}

/** Names the invoice and the meter of a draw (semantics 1). */
async function descriptions(
  context: CallContext,
  contract: Contract,
  { billing, numbers }: { readonly billing: OpenBilling; readonly numbers: SettlementOptions['numbers'] },
): Promise<(draw: Pick<LedgerEntry, 'invoiceId' | 'lineKey'>) => string> {
  const meterIds = contract.items.flatMap((item) => item.meterId ?? []);
  const meters = new Map((await knownMeters(context, meterIds)).map((meter) => [meter.id, meter]));
  // By their keys, because an invoice may have a line, with a draw on it, for each of thousands of combinations.
  const lines = new Map<string, ReadonlyMap<string, InvoiceLine>>();
  const linesOf = (id: string) => new Map(billing.draftOf(id).lines.map((line) => [line.lineKey, line]));
  const drafted = new Map(billing.invoices.map(({ id, number }) => [id, number]));
  return ({ invoiceId = '', lineKey = '' }) => {
    const number = numbers?.get(invoiceId) ?? drafted.get(invoiceId);
    const line = lines.getOrInsertComputed(invoiceId, linesOf).get(lineKey);
    const meter = meters.get(line?.meterId ?? '');
    return `Usage of ${meter?.displayName ?? line?.name ?? 'a meter'} on invoice ${number ?? invoiceId}`;
  };
}
