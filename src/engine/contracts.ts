/** Contracts between a customer and a plan (interface 2.6, 4.10, 4.11; semantics 1 and 6). */

import { isDeepStrictEqual } from 'node:util';

import { assert } from '../assert.ts';
import { dateOf, isBefore } from '../calculation/billing-period.ts';
import { endOfPeriodAt, invoicePeriodAt } from '../calculation/invoice-periods.ts';
import { ConflictError } from '../errors.ts';
import type { contractOperations } from '../operations/contracts.ts';
import { listContracts, updateContract } from '../store/records/contracts.ts';
import type { Contract } from '../store/records/contracts.ts';
import { closeContract } from '../store/records/due-work.ts';
import { listInvoicesOfContract, updateInvoice } from '../store/records/invoices.ts';
import type { Invoice } from '../store/records/invoices.ts';
import { getContract } from './contract-lookup.ts';
import { billingTermsOf } from './contract-terms.ts';
import { createContract } from './contracts-create.ts';
import { invoiceDatesOf, tellOfDrafts, topUpDrafts } from './draft-periods.ts';
import type { CallContext, HandlersOf } from './handler.ts';
import { cancelInvoices } from './invoices.ts';
import { tellOfInvoices } from './invoices-wire.ts';
import { listBody, pageOf } from './listing.ts';
import { sweepExpired } from './settlement.ts';
import { emit } from './webhooks-emit.ts';
import { wireCents, wireTimestamp } from './wire.ts';

export const contractHandlers: HandlersOf<typeof contractOperations> = {
  'contracts.create': async (context, { body }) => {
    const { contract, drafts } = await createContract(context, body);
    const data = wireContract(contract, context.now);
    await emit(context, 'contract.created', () => data);
    await tellOfDrafts(context, drafts);
    return { body: { data } };
  },

  'contracts.get': async (context, { params, query }) => {
    const contract = await getContract(context, params.contractId);
    return { body: { data: wireIncluding(contract, context.now, query.include) } };
  },

  'contracts.list': async (context, { query }) => {
    const page = pageOf(query);
    const found = await listContracts(context.tx, context.orgId, { ...query, ...page, today: dateOf(context.now) });
    const data = found.rows.map((contract) => wireIncluding(contract, context.now, query.include));
    return { body: listBody(found, page, data) };
  },

  'contracts.update': async (context, { params, body }) => {
    const contract = await getContract(context, params.contractId);
    const metadata = body.metadata ?? {};
    if (isDeepStrictEqual(metadata, contract.metadata)) return { body: { data: wireContract(contract, context.now) } };
    await updateContract(context.tx, context.orgId, { id: contract.id, metadata, updatedAt: context.now });
    const data = wireContract({ ...contract, metadata }, context.now);
    await emit(context, 'contract.updated', () => data);
    return { body: { data } };
  },

  'contracts.cancel': async (context, { params }) => {
    const contract = await getContract(context, params.contractId);
    if (!isActive(contract, context.now)) throw hasEnded(contract);
    await topUpDrafts(context, contract);
    // Before the end is set: usage is metered by the periods of the drafts, and later ones will lie past the end.
    await sweepExpired(context, contract);
    const effectiveEndDate = endOfCurrentPeriod(contract, dateOf(context.now));
    const cancelled: Contract = { ...contract, cancelledAt: context.now, effectiveEndDate };
    await updateContract(context.tx, context.orgId, {
      id: contract.id,
      cancelledAt: context.now,
      effectiveEndDate,
      updatedAt: context.now,
    });
    const invoices = await listInvoicesOfContract(context.tx, context.orgId, contract.id);
    const drafts = invoices.filter((invoice) => invoice.status === 'Drafted');
    const terms = billingTermsOf(cancelled);
    const isKept = ({ periodIndex }: Invoice) => invoicePeriodAt(terms, periodIndex) !== undefined;
    const dropped = drafts.filter((invoice) => !isKept(invoice));
    // An earlier end puts usage of a longer period on a draft that is kept.
    await cancelInvoices(context, cancelled, { invoices: dropped, isUsageMoved: true });
    // After that: a webhook tells what the drafts come to, without the dropped ones.
    for (const invoice of drafts.filter(isKept)) await redate(context, cancelled, invoice);
    await emit(context, 'contract.updated', () => wireContract(cancelled, context.now));
    return {
      body: {
        data: {
          id: contract.id,
          isActive: false,
          effectiveCancellationDate: effectiveEndDate.toString(),
          cancelledInvoiceCount: dropped.length,
        },
      },
    };
  },
};

/** Emits, once, the webhook that service of a contract has stopped. What is still to be billed follows in its time. */
export async function endContract(context: CallContext, contract: Contract): Promise<void> {
  await closeContract(context.tx, context.orgId, { id: contract.id, terminatedAt: context.now });
  await emit(context, 'contract.terminated', () => wireContract(contract, context.now));
}

/** Neither cancelled nor at its end; true before its start (semantics 6). */
function isActive(contract: Contract, now: Temporal.Instant): boolean {
  if (contract.cancelledAt !== undefined) return false;
  return contract.endDate === undefined || isBefore(dateOf(now), contract.endDate);
}

function hasEnded(contract: Contract): ConflictError {
  const words = contract.cancelledAt === undefined ? 'has ended' : 'is cancelled already';
  const { endDate } = billingTermsOf(contract);
  return new ConflictError(`contract ${contract.id} ${words}, with ${endDate?.toString() ?? 'no end'} as its end`);
}

/** The date on which a cancellation ends service: the end of the current period, or the start where service has not begun. */
function endOfCurrentPeriod(contract: Contract, today: Temporal.PlainDate): Temporal.PlainDate {
  if (isBefore(today, contract.startDate)) return contract.startDate;
  return endOfPeriodAt(billingTermsOf(contract), today);
}

/** With another end, usage of a longer period may fall due on this invoice, which is then dated at the end of service. */
async function redate(context: CallContext, contract: Contract, invoice: Invoice): Promise<void> {
  const terms = billingTermsOf(contract);
  const period = invoicePeriodAt(terms, invoice.periodIndex);
  assert(period !== undefined, `invoice ${invoice.id} starts before its contract ends`);
  const dates = invoiceDatesOf(contract, terms, period);
  if (dates.invoiceDate.equals(invoice.invoiceDate)) return;
  await updateInvoice(context.tx, context.orgId, { id: invoice.id, ...dates, updatedAt: context.now });
  await tellOfInvoices(context, 'invoice.updated', [invoice.id]);
}

function wireContract(contract: Contract, now: Temporal.Instant) {
  const { id, customerId, planId, name, startDate, endDate, createdAt, metadata } = contract;
  return {
    id,
    customerId,
    planId,
    name,
    startDate: startDate.toString(),
    ...(endDate === undefined ? {} : { endDate: endDate.toString() }),
    isActive: isActive(contract, now),
    createdAt: wireTimestamp(createdAt),
    metadata: { ...metadata },
  };
}

function wireIncluding(contract: Contract, now: Temporal.Instant, include: readonly string[] = []) {
  return { ...wireContract(contract, now), ...(include.includes('terms') && { terms: wireTerms(contract) }) };
}

function wireTerms(contract: Contract) {
  const { netTermsDays, effectiveEndDate, creditGrantCents, creditSettings } = contract;
  const { onDepletion, creditRateCents, expiresAt, alertThresholdsCents } = creditSettings;
  return {
    netTerms: netTermsDays,
    effectiveEndDate: effectiveEndDate?.toString() ?? null,
    creditGrantCents: creditGrantCents === undefined ? null : wireCents(creditGrantCents),
    creditSettings: {
      ...(onDepletion === undefined ? {} : { onDepletion }),
      ...(creditRateCents === undefined ? {} : { creditRateCents: wireCents(creditRateCents) }),
      ...(expiresAt === undefined ? {} : { expiresAt: wireTimestamp(expiresAt) }),
      ...(alertThresholdsCents === undefined ? {} : { alertThresholdsCents: alertThresholdsCents.map(wireCents) }),
    },
    items: contract.items.map((item) => ({
      pricingId: item.pricingId,
      quantity: item.quantity,
      unitAmount: item.unitAmount ?? null,
      flatAmount: item.flatAmount ?? null,
      pricingTiers: item.tiers.map((tier) => ({ ...tier })),
      meterId: item.meterId ?? null,
      rates: item.dimensionRates.map(({ dimensions, unitAmount }) => ({ dimensions: { ...dimensions }, unitAmount })),
      fallbackUnitAmount: item.fallbackUnitAmount ?? null,
    })),
  };
}
