/**
 * What the open invoices of a contract come to, computed now: metered, rated, and paid by its grants as far as they reach.
 * Nothing is written here: drafts and projected balances are read from the result, and settlement writes it.
 */

import { assert } from '../assert.ts';

import type { BudgetCap } from '../calculation/budget.ts';
import { burnDown } from '../calculation/burn-down.ts';
import { draftInvoice, withCredits } from '../calculation/invoice-draft.ts';
import { invoicePeriodAt, usageWindowsOf } from '../calculation/invoice-periods.ts';
import type { InvoiceDraft } from '../calculation/invoice-draft.ts';
import type { BillingTerms, UsageWindow } from '../calculation/invoice-periods.ts';
import { drawsOn, foldLedger, valuationRateOf } from '../calculation/ledger.ts';
import type { Draw, GrantState, OpenDraw, WalletState } from '../calculation/ledger.ts';
import { rateMeteredUsage } from '../calculation/usage-atoms.ts';
import type { RatedUsageItem } from '../calculation/usage-atoms.ts';
import { type Budget, listBudgets } from '../store/records/budgets.ts';
import type { Contract } from '../store/records/contracts.ts';
import { readNotedDue } from '../store/records/due-work.ts';
import { listInvoicesOfContract } from '../store/records/invoices.ts';
import type { Invoice } from '../store/records/invoices.ts';
import { readStoredLedger } from '../store/records/ledger.ts';
import type { StoredLedger } from '../store/records/ledger.ts';
import { consumedCents } from './budget-consumption.ts';
import { billingTermsOf } from './contract-terms.ts';
import type { CallContext } from './handler.ts';
import { meteringFor } from './usage-metering-options.ts';
import { meterContract } from './usage-metering.ts';
import type { MeteredContract, MeteringOptions } from './usage-metering-options.ts';
import type { MeteredTogether } from './usage-together.ts';

export type BillingContext = Pick<CallContext, 'tx' | 'events' | 'orgId' | 'organization' | 'now' | 'sqlReadings'>;

/** What the open invoices of a contract come to now, with what was read for it. */
export interface OpenBilling extends BillingFacts {
  readonly metered: MeteredFacts;
  readonly wallet: WalletState;
  /** What is written on open invoices so far. */
  readonly openDraws: readonly OpenDraw[];
  readonly openInvoiceIds: ReadonlySet<string>;
  /** What each grant pays on each line of the open invoices. */
  readonly draws: readonly Draw[];
  /** An open invoice with its credits, made on demand because a contract may have a thousand. */
  readonly draftOf: (invoiceId: string) => InvoiceDraft;
}

/** What the books say of a contract that is billed. */
export interface BillingFacts {
  /** Every invoice, in the order of periods. */
  readonly invoices: readonly Invoice[];
  readonly ledger: StoredLedger;
  readonly budgets: readonly Budget[];
  /** Absent where nothing has been metered yet. */
  readonly metered?: MeteredFacts | undefined;
}

/** What meters have read for a contract. Holds for one instant, as long as no event is recorded and no grant made or undone. */
export interface MeteredFacts {
  /** Usage on open invoices, by invoice id. */
  readonly usage: ReadonlyMap<string, readonly RatedUsageItem[]>;
  /** What budgets have consumed on finalized invoices, in cents by budget id. */
  readonly billedCents: ReadonlyMap<string, bigint>;
}

/** What is known of a contract already. */
export interface KnownOfContract {
  /** Facts that still hold. */
  readonly facts?: BillingFacts | undefined;
  /** Contracts of the customer that were made before it, oldest first; metering looks them up where they are left out. */
  readonly earlier?: readonly Contract[] | undefined;
  /** Others of the customer that are billed with it. */
  readonly together?: MeteredTogether | undefined;
}

/** `isOnce` where the result is written down, so that the same is not metered again. */
export async function readOpenBilling(
  context: BillingContext,
  contract: Contract,
  { facts, earlier, together, isOnce }: KnownOfContract & { readonly isOnce?: boolean } = {},
): Promise<OpenBilling> {
  const terms = billingTermsOf(contract);
  const { invoices, ledger, budgets: stored, metered: known } = facts ?? (await readFacts(context, contract));
  const { entries } = ledger;
  const subject = { id: contract.id, customerId: contract.customerId, earlier, together };
  const open = invoices.filter(isOpen);
  const openInvoiceIds = new Set(open.map((invoice) => invoice.id));
  const openDraws = drawsOn(entries, openInvoiceIds);
  const folded = foldLedger(entries, { at: context.now, openInvoiceIds });
  const wallet = await reopenUnswept(context, contract, { wallet: folded, openDraws });
  const metering = { ...meteringFor(wallet.grants, stored), isOnce };
  const metered = known ?? (await meterAll(context, subject, { terms, invoices, budgets: stored, metering }));
  const budgets = stored.map((budget): BudgetCap => ({
    ...budget,
    consumedBeforeCents: metered.billedCents.get(budget.id) ?? 0n,
  }));
  const draws = burnDown({
    usage: open.flatMap(({ id }) => (metered.usage.get(id) ?? []).flatMap(({ atoms }) => atoms)),
    grants: wallet.grants,
    openDraws,
    budgets,
    valuationRateCents: valuationRateOf(entries, contract.creditSettings.creditRateCents),
  });
  const byId = new Map(open.map((invoice) => [invoice.id, invoice]));
  return {
    invoices,
    ledger,
    budgets: stored,
    metered,
    wallet,
    openDraws,
    openInvoiceIds,
    draws,
    draftOf: (id) => {
      const invoice = byId.get(id);
      assert(invoice !== undefined, `invoice ${id} is open`);
      return draftOf(invoice, { terms, usage: metered.usage.get(id) ?? [], draws, wallet });
    },
  };
}

/**
 * A grant that drafts had emptied before its expiry has nothing left to lapse. Yet it may owe other usage from before its
 * expiry by now, because drafts change. So it is closed only once credits have been settled after its expiry, which is noted
 * until then.
 */
async function reopenUnswept(
  { tx, orgId }: BillingContext,
  { id }: Contract,
  { wallet, openDraws }: Pick<OpenBilling, 'wallet' | 'openDraws'>,
): Promise<WalletState> {
  const drawn = new Set(openDraws.map(({ grantId }) => grantId));
  const isDoubtful = (grant: GrantState) => grant.isClosed && grant.status === 'depleted' && drawn.has(grant.grantId);
  if (!wallet.grants.some(isDoubtful)) return wallet;
  const { expiresAt: unsettledFrom } = await readNotedDue(tx, orgId, id);
  const isUnsettled = ({ expiresAt }: GrantState) =>
    unsettledFrom !== undefined && expiresAt !== undefined && Temporal.Instant.compare(expiresAt, unsettledFrom) >= 0;
  return {
    ...wallet,
    grants: wallet.grants.map((grant) =>
      isDoubtful(grant) && isUnsettled(grant) ? { ...grant, isClosed: false } : grant,
    ),
  };
}

/** What the books say of a contract now. */
export async function readFacts(
  { tx, orgId }: Pick<BillingContext, 'tx' | 'orgId'>,
  { id }: Pick<Contract, 'id'>,
): Promise<BillingFacts> {
  return {
    invoices: await listInvoicesOfContract(tx, orgId, id),
    ledger: await readStoredLedger(tx, orgId, id),
    budgets: await listBudgets(tx, orgId, id),
  };
}

function isOpen({ status }: Invoice): boolean {
  return status === 'Drafted';
}

/** Finalized, and not voided: its usage stays rated. */
function isBilled(invoice: Invoice): boolean {
  return invoice.finalizedAt !== undefined && invoice.status !== 'Cancelled';
}

interface MeteringQuestion extends Pick<BillingFacts, 'invoices' | 'budgets'> {
  readonly terms: BillingTerms;
  readonly metering: MeteringOptions;
}

async function meterAll(
  context: BillingContext,
  subject: MeteredContract,
  question: MeteringQuestion,
): Promise<MeteredFacts> {
  const { terms, invoices, budgets, metering } = question;
  const usage = await meterOpen(context, subject, question);
  const windows = budgets.length === 0 ? [] : invoices.filter(isBilled).flatMap((invoice) => windowsOf(terms, invoice));
  return { usage, billedCents: await consumedCents(context, subject, { budgets, windows, metering }) };
}

async function meterOpen(
  context: BillingContext,
  subject: MeteredContract,
  { terms, invoices, metering }: MeteringQuestion,
): Promise<MeteredFacts['usage']> {
  const asked = invoices.filter(isOpen).map((invoice) => ({
    invoice,
    windows: windowsOf(terms, invoice).filter((window) => hasBegun(window, context.now)),
  }));
  const usage = await meterContract(
    context,
    subject,
    asked.flatMap(({ windows }) => windows),
    metering,
  );
  return new Map(
    asked.map(({ invoice, windows }) => {
      const reference = { invoiceId: invoice.id, periodIndex: invoice.periodIndex };
      const own = windows.flatMap((window) => usage.get(window) ?? []);
      return [invoice.id, own.map((each) => rateMeteredUsage(each, reference))];
    }),
  );
}

/** Usage that lies ahead draws no credits yet, not even for a flat amount that is owed without usage. */
export function hasBegun({ start }: UsageWindow, at: Temporal.Instant): boolean {
  return Temporal.Instant.compare(start, at) <= 0;
}

function windowsOf(terms: BillingTerms, invoice: Invoice): readonly UsageWindow[] {
  return usageWindowsOf(terms, periodOf(terms, invoice));
}

function periodOf(terms: BillingTerms, invoice: Invoice) {
  const period = invoicePeriodAt(terms, invoice.periodIndex);
  assert(period?.end.equals(invoice.periodEnd) === true, `invoice ${invoice.id} has the period of its contract`);
  return period;
}

interface DraftParts {
  readonly terms: BillingTerms;
  readonly usage: readonly RatedUsageItem[];
  readonly draws: readonly Draw[];
  readonly wallet: WalletState;
}

function draftOf(invoice: Invoice, { terms, usage, draws, wallet }: DraftParts): InvoiceDraft {
  const rated = new Map(usage.map(({ itemId, lines }) => [itemId, lines]));
  const draft = draftInvoice(terms, periodOf(terms, invoice), rated);
  return withCredits(draft, invoice.id, draws, wallet.grants);
}
