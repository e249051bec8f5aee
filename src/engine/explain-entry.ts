/** One ledger entry explained: what it did to its grant and to the balance, and why; usage down to its events. */

import { assert } from '../assert.ts';
import { foldLedger, grantIdOf } from '../calculation/ledger.ts';
import { sumOf } from '../calculation/money.ts';
import type { ResponseBody } from '../operations/index.ts';
import type { LedgerEntryType } from '../operations/ledger-entry.ts';
import { findInvoice, type Invoice } from '../store/records/invoices.ts';
import { findLedgerEntry, listLedger, type StoredLedgerEntry } from '../store/records/ledger.ts';
import { wireEntry } from './credits-wire.ts';
import { explainInvoice } from './explain-invoice.ts';
import type { ExplainedInvoice, ExplainedLine } from './explain-invoice.ts';
import type { CallContext } from './handler.ts';
import { isUndone } from './invoices-transitions.ts';
import { existing } from './refuse.ts';
import { reversalWords, wordsByHand } from './settlement.ts';
import { wireCents, wireCredits, wireTimestamp } from './wire.ts';

type ExplainedEntry = ResponseBody<'credits.explain'>['data'];

/** What an explanation is made of. */
interface Story {
  readonly entry: StoredLedgerEntry;
  /** The ledger of the contract, oldest entry first. */
  readonly entries: readonly StoredLedgerEntry[];
  readonly grant: StoredLedgerEntry;
  /** Entries that moved the grant before this one. */
  readonly before: readonly StoredLedgerEntry[];
  readonly target: StoredLedgerEntry | undefined;
  readonly invoice: Invoice | undefined;
  readonly line: ExplainedLine | undefined;
  readonly order: ExplainedInvoice['grants'];
}

/** Answers `credits.explain`; throws NotFoundError in the same words for an unknown id and for another tenant's. */
export async function explainEntry(context: CallContext, id: string): Promise<ExplainedEntry> {
  const { tx, orgId } = context;
  const entry = existing(await findLedgerEntry(tx, orgId, id), 'ledger entry', 'credits ledger CONTRACT-ID');
  const story = await readStory(context, entry);
  const { entries, invoice, line, order, target } = story;
  return {
    contractId: entry.contractId,
    entry: wireExplained(story),
    reason: reasons[entry.type](story),
    grant: wireGrantOf(context, story),
    ...(invoice === undefined
      ? {}
      : { invoice: { invoiceId: invoice.id, invoiceNumber: invoice.number, status: invoice.status } }),
    ...(line === undefined ? {} : { line }),
    order,
    ...(target === undefined ? {} : { target: wireEntry(target) }),
    movements: entries.filter((each) => each.grantEntryId === entry.id).map(wireEntry),
  };
}

async function readStory(context: CallContext, entry: StoredLedgerEntry): Promise<Story> {
  const { tx, orgId } = context;
  const entries = await listLedger(tx, orgId, entry.contractId);
  const grantId = grantIdOf(entry);
  const grant = entries.find((each) => each.id === grantId);
  assert(grant !== undefined, `grant ${grantId} is in its own ledger`);
  const invoice = entry.invoiceId === undefined ? undefined : await findInvoice(tx, orgId, entry.invoiceId);
  const explained =
    entry.type !== 'usage' || invoice === undefined ? undefined : await explainInvoice(context, invoice);
  return {
    entry,
    entries,
    grant,
    before: entries.filter((each) => grantIdOf(each) === grantId && each.seq < entry.seq),
    target: entries.find((each) => each.id === entry.reversesEntryId),
    invoice,
    line: explained?.lines.get(entry.lineKey ?? ''),
    order: explained?.data.grants ?? [],
  };
}

const reasons: Readonly<Record<LedgerEntryType, (story: Story) => string>> = {
  grant: ({ entry }) => {
    const kind = entry.isPromotional ? 'promotional credits' : 'paid credits';
    return entry.expiresAt === undefined ? `${kind}, which never expire` : `${kind} until ${timeOf(entry.expiresAt)}`;
  },
  usage: usageReason,
  adjustment: ({ entry }) => `the grant was corrected: ${entry.description}`,
  reversal: reversalReason,
  expiration: expirationReason,
};

/** Usage of a draft is written as it stood then; the next settlement writes what has changed since. */
function usageReason({ entry, entries, invoice, line, order }: Story): string {
  const number = invoice?.number ?? entry.invoiceId ?? '';
  const place = order.find((each) => each.grantId === entry.grantEntryId);
  const paid = line?.grants.find((each) => each.grantId === entry.grantEntryId);
  if (line === undefined) return `it paid usage on invoice ${number}, which bills nothing any more`;
  const object = `"${line.name} - ${line.description}" on invoice ${number}`;
  if (place !== undefined && paid?.entryIds.includes(entry.id) === true) {
    return `it pays ${object}: number ${place.rank} in the order (${place.reason}), ${paid.why}`;
  }
  const unused = line.unusedGrants?.find(({ ranks }) =>
    ranks.some(({ from, to }) => place !== undefined && from <= place.rank && place.rank <= to),
  );
  const reversal = entries.find((each) => each.reversesEntryId === entry.id);
  if (reversal !== undefined) return `it paid ${object} until ${timeOf(reversal.createdAt)}, when it was undone`;
  return `it was written for ${object}, and the next settlement undoes it: ${paid?.why ?? unused?.why ?? 'usage of earlier invoices takes all that the grant has'}`;
}

/** A cancelled or refunded invoice changed last when that happened, and gave its credits back in the same instant. */
function reversalReason({ entry, target, invoice }: Story): string {
  if (target === undefined) return entry.description;
  // Not always by hand: a cancelled invoice takes back the prepaid credits that it billed, and its words say so.
  if (target.type !== 'usage' || invoice === undefined) return `the ${target.type} was undone: ${entry.description}`;
  if (entry.description === wordsByHand(target)) return 'the usage was undone by hand';
  // Only a person gives the reversal of usage other words.
  if (entry.description !== reversalWords(target)) return `the usage was undone by hand: ${entry.description}`;
  const order = Temporal.Instant.compare(entry.createdAt, invoice.updatedAt);
  if (isUndone(invoice) && order === 0) {
    return `invoice ${invoice.number} was ${invoice.status.toLowerCase()}, so what it had taken went back`;
  }
  if (isUndone(invoice) && order > 0) return `the usage was undone by hand: ${entry.description}`;
  return `less of invoice ${invoice.number} was due from this grant than had been written; what is still due is written again`;
}

function expirationReason({ grant, before }: Story): string {
  if (grant.expiresAt === undefined) {
    return 'the last invoice of the contract is finalized or cancelled, so what was left of the grant lapsed';
  }
  const at = timeOf(grant.expiresAt);
  const last = before.at(-1);
  const isReturn = last?.type === 'reversal' && Temporal.Instant.compare(grant.expiresAt, last.createdAt) <= 0;
  return isReturn
    ? `the grant had expired at ${at} already, so what came back to it lapsed at once`
    : `what usage before ${at} had left of the grant lapsed then`;
}

function wireExplained({ entry, entries }: Story): ExplainedEntry['entry'] {
  return {
    ...wireEntry(entry),
    appliedCents: wireCents(entry.appliedCents),
    balanceBeforeCents: wireCents(entry.balanceAfterCents - entry.amountCents),
    balanceAfterCents: wireCents(entry.balanceAfterCents),
    creditBalanceBefore: wireCredits(entry.creditBalanceAfterMicros - entry.creditMicros),
    creditBalanceAfter: wireCredits(entry.creditBalanceAfterMicros),
    reversesEntryId: entry.reversesEntryId ?? null,
    reversedByEntryId: entries.find((each) => each.reversesEntryId === entry.id)?.id ?? null,
  };
}

function wireGrantOf({ now }: CallContext, { entry, entries, grant, before }: Story): ExplainedEntry['grant'] {
  const wallet = foldLedger(entries, { at: now, openInvoiceIds: new Set() });
  const status = wallet.grants.find((each) => each.grantId === grant.id)?.status ?? 'depleted';
  const cents = sumOf(before.map((each) => each.amountCents));
  const micros = sumOf(before.map((each) => each.creditMicros));
  return {
    grantId: grant.id,
    description: grant.description,
    isPromotional: grant.isPromotional,
    status,
    expiresAt: grant.expiresAt === undefined ? null : wireTimestamp(grant.expiresAt),
    paysFor: { ...grant.specifiers },
    originalCents: wireCents(grant.amountCents),
    originalCredits: wireCredits(grant.creditMicros),
    beforeCents: wireCents(cents),
    beforeCredits: wireCredits(micros),
    afterCents: wireCents(cents + entry.amountCents),
    afterCredits: wireCredits(micros + entry.creditMicros),
  };
}

/** An instant as reasons name it: `2026-06-01T00:00:00Z`. */
function timeOf(instant: Temporal.Instant): string {
  return instant.toString();
}
