/** Reads what is stored of one contract, and computes again what its finalized invoices should say. */

import { draftInvoice } from '../../calculation/invoice-draft.ts';
import { invoicePeriodAt, usageWindowsOf } from '../../calculation/invoice-periods.ts';
import type { BillingTerms } from '../../calculation/invoice-periods.ts';
import { rateUsage } from '../../calculation/rating.ts';
import { meteredQuantitiesOf } from '../../calculation/usage-atoms.ts';
import type { EpochInterval } from '../../store/event-store.ts';
import { listBudgetPositions, listBudgets } from '../../store/records/budgets.ts';
import { type CatalogIds, catalogMembers, findCatalogIds } from '../../store/records/census.ts';
import type { Contract } from '../../store/records/contracts.ts';
import type { FrozenLine, Invoice } from '../../store/records/invoices.ts';
import { readNotedDue } from '../../store/records/due-work.ts';
import { readSealedInvoices, readSealedLedger } from '../../store/records/seals.ts';
import type { SealedLedger } from '../../store/records/seals.ts';
import { billingTermsOf } from '../contract-terms.ts';
import { frozenLines } from '../invoices-wire.ts';
import { knownMeters } from '../known-catalog.ts';
import type { BillingContext } from '../open-billing.ts';
import { takenBy } from '../usage-attribution.ts';
import { type MeteredContract, plainMetering } from '../usage-metering-options.ts';
import { meterContract } from '../usage-metering.ts';
import type { ContractBooks, DisputedUsage } from './check.ts';
import { contractsBefore, countUnnamed, readCustomerBooks } from './customer-books.ts';
import type { CustomerBooks, KnownOfOrganization } from './customer-books.ts';

/** Throws where something that is stored cannot be read or rated. */
export async function readBooks(
  context: BillingContext,
  contract: Contract,
  known: KnownOfOrganization,
): Promise<ContractBooks> {
  const { tx, orgId, now } = context;
  const customer = await readCustomerBooks(context, contract.customerId, known);
  const { together } = customer;
  const metered = { ...contract, earlier: contractsBefore(customer, contract.id), together };
  const ledger = await readSealedLedger(tx, orgId, contract.id);
  const invoices = await readSealedInvoices(tx, orgId, contract.id);
  const finalized = invoices.map(({ invoice }) => invoice).filter((invoice) => invoice.finalizedAt !== undefined);
  const current = billingTermsOf(contract);
  const terms = current.uncancelled === undefined ? [current] : [current, current.uncancelled];
  const recomputed = new Map<string, FrozenLine[][]>(finalized.map((invoice) => [invoice.id, []]));
  for (const each of terms) {
    const lines = await computeLines(context, metered, { terms: each, invoices: finalized });
    for (const [id, own] of lines) recomputed.get(id)?.push(own);
  }
  return {
    contract,
    terms,
    ledger,
    invoices,
    recomputed,
    noted: await readNotedDue(tx, orgId, contract.id),
    budgets: await listBudgets(tx, orgId, contract.id),
    budgetPositions: await listBudgetPositions(tx, orgId, contract.id),
    disputed: await findDisputedUsage(context, contract, customer),
    unknownIds: await findUnknownIds(context, { contract, ledger, known: known.catalogIds }),
    now,
  };
}

async function findUnknownIds(
  { tx, orgId }: BillingContext,
  {
    contract,
    ledger,
    known,
  }: { readonly contract: Contract; readonly ledger: SealedLedger; readonly known: KnownOfOrganization['catalogIds'] },
): Promise<string[]> {
  const named: readonly { readonly [Member in keyof CatalogIds]?: readonly string[] | undefined }[] = [
    ...contract.items.map(({ meterId, pricingId, productId }) => ({
      meterIds: meterId === undefined ? [] : [meterId],
      pricingIds: [pricingId],
      productIds: [productId],
    })),
    ...ledger.entries.flatMap(({ specifiers }) => specifiers ?? []),
  ];
  const sought = (member: keyof CatalogIds) => [
    ...new Set(named.flatMap((each) => each[member] ?? []).filter((id) => !known.has(`${member} ${id}`))),
  ];
  const ids = {
    meterIds: sought('meterIds'),
    pricingIds: sought('pricingIds'),
    productIds: sought('productIds'),
  };
  const found = await findCatalogIds(tx, orgId, ids);
  return catalogMembers.flatMap((member) => {
    for (const id of found[member]) known.add(`${member} ${id}`);
    return ids[member].filter((id) => !known.has(`${member} ${id}`));
  });
}

/** The lines of these invoices without their credits, by invoice id; all metered at once. */
async function computeLines(
  context: BillingContext,
  contract: MeteredContract,
  { terms, invoices }: { readonly terms: BillingTerms; readonly invoices: readonly Invoice[] },
): Promise<ReadonlyMap<string, FrozenLine[]>> {
  const asked = invoices.flatMap((invoice) => {
    const period = invoicePeriodAt(terms, invoice.periodIndex);
    return period === undefined ? [] : [{ invoice, period, windows: usageWindowsOf(terms, period) }];
  });
  const usage = await meterContract(
    context,
    contract,
    asked.flatMap(({ windows }) => windows),
    plainMetering(),
  );
  return new Map(
    asked.map(({ invoice, period, windows }) => {
      const own = windows.flatMap((window) => usage.get(window) ?? []);
      const rated = new Map(own.map((each) => [each.item.id, rateUsage(each.item, meteredQuantitiesOf(each))]));
      return [invoice.id, frozenLines(invoice.id, draftInvoice(terms, period, rated))];
    }),
  );
}

/** Counts events that this contract would bill, too, if an earlier contract of the customer did not (semantics 8). */
async function findDisputedUsage(
  context: BillingContext,
  contract: Contract,
  customer: CustomerBooks,
): Promise<DisputedUsage[]> {
  const { coverages } = customer;
  const own = coverages.find((coverage) => coverage.contractId === contract.id);
  if (own === undefined || coverages.length === 1) return [];
  const disputed: DisputedUsage[] = [];
  for (const meter of await knownMeters(context, [...own.meterIds])) {
    const taken = takenBy(coverages.slice(0, coverages.indexOf(own)), meter.id);
    let eventCount = 0;
    for (const interval of taken.flatMap((each) => common(each, own))) {
      eventCount += await countUnnamed(context, customer, { meter, interval });
    }
    if (eventCount > 0) disputed.push({ meterId: meter.id, eventCount });
  }
  return disputed;
}

function common(a: EpochInterval, b: EpochInterval): EpochInterval[] {
  const fromEpochMs = Math.max(a.fromEpochMs, b.fromEpochMs);
  const toEpochMs = Math.min(a.toEpochMs, b.toEpochMs);
  return fromEpochMs < toEpochMs ? [{ fromEpochMs, toEpochMs }] : [];
}
