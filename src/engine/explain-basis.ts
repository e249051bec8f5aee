/**
 * What an invoice is made of, for explanations: its lines beside what events and prices give now, the usage that credits
 * could pay, and the grants and draws as they stood. Drafts are read as of now, finalized invoices as of finalization.
 */

import { startOfDay } from '../calculation/billing-period.ts';
import { centsOfLines, draftInvoice, type InvoiceLine } from '../calculation/invoice-draft.ts';
import { invoicePeriodAt, usageWindowsOf } from '../calculation/invoice-periods.ts';
import type { UsageWindow } from '../calculation/invoice-periods.ts';
import {
  type Draw,
  drawKey,
  drawsOn,
  foldLedger,
  type GrantState,
  type OpenDraw,
  valuationRateOf,
} from '../calculation/ledger.ts';
import { sumOf } from '../calculation/money.ts';
import type { RatedLine } from '../calculation/rating.ts';
import { rateMeteredUsage, type UsageAtom } from '../calculation/usage-atoms.ts';
import { type Budget, listBudgets } from '../store/records/budgets.ts';
import type { Contract } from '../store/records/contracts.ts';
import { type FrozenLine, type Invoice, listInvoiceLines, listInvoicesOfContract } from '../store/records/invoices.ts';
import { listLedger, type StoredLedgerEntry } from '../store/records/ledger.ts';
import { billingTermsAt } from './contract-terms.ts';
import { getContract } from './contract-lookup.ts';
import type { CallContext } from './handler.ts';
import { frozenLine } from './invoices-wire.ts';
import { hasBegun, readOpenBilling } from './open-billing.ts';
import { meteringFor } from './usage-metering-options.ts';
import { meterContract } from './usage-metering.ts';

/** A line as it is billed, and as it is computed now. */
export interface BasisLine {
  readonly billed: FrozenLine;
  /** Undefined for a frozen line that events and prices no longer give. */
  readonly computed: InvoiceLine | undefined;
}

/** What a grant paid on a line, with the ledger entries that are written for it. */
export interface BasisDraw extends Draw {
  readonly entryIds: readonly string[];
}

/**
 * What an explanation is made of. `live` lines are computed now; `frozen` ones are as finalized, with what computing them
 * again gives beside them.
 */
export interface InvoiceBasis {
  readonly basis: 'live' | 'frozen' | 'none';
  readonly contract: Contract;
  readonly asOf: Temporal.Instant;
  readonly totalCents: bigint;
  readonly lines: readonly BasisLine[];
  /** Lines that events and prices give now, but that were not frozen. */
  readonly missing: readonly InvoiceLine[];
  readonly windows: readonly UsageWindow[];
  readonly rated: ReadonlyMap<string, RatedLine>;
  readonly atoms: readonly UsageAtom[];
  /** In deduction order, before any open invoice drew on them and before their rest lapsed. */
  readonly grants: readonly GrantState[];
  /** On this invoice; `earlierDraws` on earlier ones that were open at that instant. */
  readonly draws: readonly BasisDraw[];
  readonly earlierDraws: readonly BasisDraw[];
  readonly budgets: readonly Budget[];
  readonly valuationRateCents: bigint | undefined;
}

/** The basis of an invoice that the organization has. */
export async function readInvoiceBasis(context: CallContext, invoice: Invoice): Promise<InvoiceBasis> {
  const contract = await getContract(context, invoice.contractId);
  const budgets = await listBudgets(context.tx, context.orgId, contract.id);
  if (invoice.finalizedAt !== undefined) {
    return await frozenBasis(context, { contract, budgets, invoice, finalizedAt: invoice.finalizedAt });
  }
  if (invoice.status === 'Drafted') return await liveBasis(context, { contract, budgets, invoice });
  return {
    basis: 'none',
    contract,
    asOf: context.now,
    totalCents: 0n,
    lines: [],
    missing: [],
    windows: [],
    rated: new Map(),
    atoms: [],
    grants: [],
    draws: [],
    earlierDraws: [],
    budgets,
    valuationRateCents: undefined,
  };
}

interface Subject {
  readonly contract: Contract;
  readonly budgets: readonly Budget[];
  readonly invoice: Invoice;
}

async function liveBasis(context: CallContext, { contract, budgets, invoice }: Subject): Promise<InvoiceBasis> {
  const billing = await readOpenBilling(context, contract);
  const draft = billing.draftOf(invoice.id);
  const { openInvoiceIds } = billing;
  const { grants } = foldLedger(beforeLapse(billing.ledger.entries, invoice), { at: context.now, openInvoiceIds });
  const usage = await rateUsageOf(context, { contract, budgets, invoice }, { grants, until: context.now });
  const written = new Map(billing.openDraws.map((draw) => [drawKey(draw), draw]));
  const draws = billing.draws.map((draw) => withEntries(draw, written.get(drawKey(draw))));
  return {
    ...usage,
    basis: 'live',
    contract,
    asOf: context.now,
    totalCents: draft.totalCents,
    lines: draft.lines.map((computed) => ({ billed: frozenLine(invoice.id, computed), computed })),
    missing: [],
    grants,
    ...splitDraws(draws, invoice, billing.invoices),
    budgets,
    valuationRateCents: valuationRateOf(billing.ledger.entries, contract.creditSettings.creditRateCents),
  };
}

async function frozenBasis(
  context: CallContext,
  { contract, budgets, invoice, finalizedAt }: Subject & { readonly finalizedAt: Temporal.Instant },
): Promise<InvoiceBasis> {
  const { tx, orgId } = context;
  const invoices = await listInvoicesOfContract(tx, orgId, contract.id);
  const billed = await listInvoiceLines(tx, orgId, invoice.id);
  const creditCents = -centsOfLines(billed.filter(({ kind }) => kind === 'credit'));
  const frozen = { id: invoice.id, finalizedAt, creditCents };
  const entries = entriesAtFinalization(await listLedger(tx, orgId, contract.id), frozen);
  const openInvoiceIds = new Set(invoices.filter((each) => wasOpen(each, finalizedAt)).map((each) => each.id));
  const { grants } = foldLedger(beforeLapse(entries, invoice), { at: finalizedAt, openInvoiceIds });
  const usage = await rateUsageOf(context, { contract, budgets, invoice }, { grants, until: finalizedAt });
  const draws = drawsOn(entries, openInvoiceIds).map((draw) => withEntries(draw, draw));
  const computed = new Map(usage.lines.map((line) => [line.lineKey, line]));
  const frozenKeys = new Set(billed.map((line) => line.lineKey));
  return {
    ...usage,
    basis: 'frozen',
    contract,
    asOf: finalizedAt,
    totalCents: invoice.totalCents,
    lines: billed.map((line) => ({ billed: line, computed: computed.get(line.lineKey) })),
    missing: usage.lines.filter(({ lineKey }) => !frozenKeys.has(lineKey)),
    grants,
    ...splitDraws(draws, invoice, invoices),
    budgets,
    valuationRateCents: valuationRateOf(entries, contract.creditSettings.creditRateCents),
  };
}

/** The lines without credits and the usage behind them, metered now; usage windows that had not begun are left out. */
async function rateUsageOf(
  context: CallContext,
  { contract, budgets, invoice }: Subject,
  { grants, until }: { readonly grants: readonly GrantState[]; readonly until: Temporal.Instant },
) {
  const terms = billingTermsAt(contract, until);
  const period = invoicePeriodAt(terms, invoice.periodIndex);
  if (period === undefined) return { windows: [], rated: new Map<string, RatedLine>(), atoms: [], lines: [] };
  const windows = usageWindowsOf(terms, period).filter((window) => hasBegun(window, until));
  const usages = await meterContract(context, contract, windows, meteringFor(grants, budgets));
  const reference = { invoiceId: invoice.id, periodIndex: invoice.periodIndex };
  const rated = [...usages.values()].map((usage) => rateMeteredUsage(usage, reference));
  return {
    windows,
    rated: new Map(rated.flatMap(({ lines }) => lines).map((line) => [line.lineKey, line])),
    atoms: rated.flatMap(({ atoms }) => atoms),
    lines: draftInvoice(terms, period, new Map(rated.map(({ itemId, lines }) => [itemId, lines]))).lines,
  };
}

/**
 * The ledger as of the invoice's finalization: without what happened later, above all without the return of its credits. Where
 * the clock stands still, the usage that finalization wrote tells what came after it, and the credits on the frozen invoice how
 * many of its reversals did: the newest ones.
 */
function entriesAtFinalization(
  entries: readonly StoredLedgerEntry[],
  {
    id,
    finalizedAt,
    creditCents,
  }: { readonly id: string; readonly finalizedAt: Temporal.Instant; readonly creditCents: bigint },
): readonly StoredLedgerEntry[] {
  const until = entries.filter(({ createdAt }) => Temporal.Instant.compare(createdAt, finalizedAt) <= 0);
  const isThen = ({ createdAt }: StoredLedgerEntry) => createdAt.equals(finalizedAt);
  const own = until.filter(({ invoiceId }) => invoiceId === id);
  const lastUsage = own.findLast(({ type }) => type === 'usage');
  const settledSeq = lastUsage !== undefined && isThen(lastUsage) ? lastUsage.seq : Number.POSITIVE_INFINITY;
  let missingCents = creditCents - sumOf(own.map(({ appliedCents }) => appliedCents));
  const returns = new Set<StoredLedgerEntry>();
  for (const entry of own.filter((each) => each.type === 'reversal' && isThen(each)).toReversed()) {
    if (missingCents <= 0n) break;
    returns.add(entry);
    missingCents += entry.appliedCents;
  }
  return until.filter((entry) => {
    if (entry.invoiceId === id) return !returns.has(entry);
    return entry.type === 'usage' || !isThen(entry) || entry.seq < settledSeq;
  });
}

/** The entries without what lapsed since the period began: usage of the period could still draw on that. */
function beforeLapse(entries: readonly StoredLedgerEntry[], invoice: Invoice): readonly StoredLedgerEntry[] {
  const start = startOfDay(invoice.periodStart);
  return entries.filter(
    ({ type, expiresAt }) =>
      type !== 'expiration' || (expiresAt !== undefined && Temporal.Instant.compare(expiresAt, start) <= 0),
  );
}

/** A draft that has been cancelled since counts, too: its cancellation has reversed what it drew. */
function wasOpen({ finalizedAt }: Invoice, instant: Temporal.Instant): boolean {
  return finalizedAt === undefined || Temporal.Instant.compare(finalizedAt, instant) >= 0;
}

function splitDraws(draws: readonly BasisDraw[], invoice: Invoice, invoices: readonly Invoice[]) {
  const places = new Map(invoices.map((each) => [each.id, each.periodIndex]));
  return {
    draws: draws.filter((draw) => draw.invoiceId === invoice.id),
    earlierDraws: draws.filter((draw) => (places.get(draw.invoiceId) ?? 0) < invoice.periodIndex),
  };
}

function withEntries(draw: Draw, written: OpenDraw | undefined): BasisDraw {
  const { invoiceId, lineKey, grantId, appliedCents, amountCents, creditMicros } = draw;
  const entryIds = (written?.entries ?? []).map((entry) => entry.id);
  return { invoiceId, lineKey, grantId, appliedCents, amountCents, creditMicros, entryIds };
}
