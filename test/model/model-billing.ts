/** Contracts and invoices of the model (semantics 6, 7, 14). */

import { dateOf, dayOf, dayOfInstant, instantOf, instantOfQuery, midnight, periodStart } from './calendar.ts';
import { decimal } from './fraction.ts';
import { newestFirst, today } from './model-catalog.ts';
import { budgetOf } from './model-budgets.ts';
import { isBilledOut } from './metering.ts';
import { gridOf, linesOf, metersUsage, tiersOf, usageWindows } from './rating.ts';
import { named, Refusal, refuseIf } from './refusal.ts';
import type { ModelCall } from './refusal.ts';
import { dateDrafts, topUpDrafts } from './drafts.ts';
import { addEntry, returnCredits, settle, sweep, takeBackPrepaid, undoUsage } from './settlement.ts';
import type { Contract, Entry, Invoice, InvoiceStatus, Item, Plan, Rate, State } from './state.ts';
import { recordedCredits } from './wallet.ts';
import { contractWire, creditLines, entryWire, invoiceWire, isActive } from './wire.ts';

interface OverrideInput {
  readonly basePricingId?: string;
  readonly unitAmount?: string;
  readonly flatAmount?: string;
  readonly quantity?: string;
  readonly pricingTiers?: Record<string, string>[];
  readonly meterId?: string;
  readonly dimensions?: Record<string, string>;
}

function frozenItems(plan: Plan, overrides: readonly OverrideInput[]): Item[] {
  const bases = overrides.flatMap((override) => override.basePricingId ?? []);
  refuseIf(new Set(bases).size < bases.length, 'invalidInput');
  refuseIf(
    bases.some((base) => !plan.items.some((item) => item.pricing.id === base)),
    'invalidInput',
  );
  const meters = overrides.flatMap((override) => override.meterId ?? []);
  refuseIf(
    meters.some((id) => !plan.items.some((item) => item.pricing.meter?.id === id)),
    'invalidInput',
  );
  return plan.items.map(({ pricing, quantity }) => {
    const own = overrides.find((override) => override.basePricingId === pricing.id);
    refuseIf(own?.unitAmount !== undefined && pricing.tiers !== undefined, 'invalidInput');
    const rates = overrides
      .filter((override) => override.meterId !== undefined && override.meterId === pricing.meter?.id)
      .map((rate): Rate => ({ dimensions: rate.dimensions ?? {}, unit: decimal(rate.unitAmount ?? '0') }));
    const tiers = own?.pricingTiers === undefined ? pricing.tiers : tiersOf(own.pricingTiers);
    if (typeof tiers === 'string') throw new Refusal('invalidInput');
    return {
      pricing,
      quantity: own?.quantity === undefined ? quantity : decimal(own.quantity),
      unit: own?.unitAmount === undefined ? pricing.unit : decimal(own.unitAmount),
      flat: own?.flatAmount === undefined ? pricing.flat : decimal(own.flatAmount),
      tiers,
      rates: [...rates, ...(pricing.meter?.rates ?? [])],
      fallback: pricing.meter?.fallback,
    };
  });
}

function invoiceNamed(state: State, id: unknown): Invoice {
  return named(
    state.contracts.flatMap((contract) => contract.invoices),
    id,
    'notFound',
  );
}

/** The paid grant that a contract begins with. */
function addPaidGrant(state: State, contract: Contract, cents: bigint, expiresAt: string | undefined): Entry {
  return addEntry(state, contract, {
    type: 'grant',
    cents,
    micros: 0n,
    sourceType: 'contract',
    expiresAt: expiresAt === undefined ? null : instantOf(expiresAt),
  });
}

const transitions: Readonly<Record<string, readonly (readonly [InvoiceStatus, InvoiceStatus])[]>> = {
  finalize: [
    ['Drafted', 'In Progress'],
    ['Drafted', 'Paid'],
  ],
  initiated: [['In Progress', 'In Transit']],
  failed: [['In Transit', 'In Progress']],
  paid: [
    ['In Progress', 'Paid'],
    ['In Transit', 'Paid'],
  ],
  cancel: [
    ['Drafted', 'Cancelled'],
    ['In Progress', 'Cancelled'],
  ],
  refund: [['Paid', 'Refunded']],
};

/** Whether an action moves an invoice; false when it is there already, a refusal when it cannot be. */
function moves(invoice: Invoice, action: string): boolean {
  const table = transitions[action] ?? [];
  if (table.some(([from]) => from === invoice.status)) return true;
  refuseIf(!table.some(([, to]) => to === invoice.status), 'conflict');
  return false;
}

/** The end of the period of a day; months go on where a rolling contract bills nothing more. */
function endOfService(contract: Contract, last: Invoice, day: number): number {
  if (contract.grid !== undefined || contract.end !== undefined) return last.end;
  for (let k = 1; ; k += 1) {
    const end = periodStart(contract.start, { unit: 'MONTH', count: 1 }, k);
    if (end > day) return end;
  }
}

function move(state: State, invoice: Invoice, action: string): void {
  const to = transitions[action]?.find(([from]) => from === invoice.status)?.[1];
  if (to === undefined) throw new TypeError(`${action} does not move a ${invoice.status} invoice`);
  Object.assign(invoice, { status: to, updatedAt: state.now });
}

export const billingCalls: Readonly<Record<string, ModelCall>> = {
  'contracts.create': (state, { body, as }) => {
    const customer = named(state.customers, body.customerId, 'invalidInput');
    const plan = named(state.plans, body.planId, 'invalidInput');
    const settings = body.creditSettings ?? {};
    refuseIf(body.endDate !== undefined && body.endDate <= body.startDate, 'invalidInput');
    const items = frozenItems(plan, body.overrides ?? []);
    const recurring = items.flatMap((item) => item.pricing.interval ?? []);
    const contract: Contract = {
      id: as,
      name: `${customer.name} - ${plan.name}`,
      customer,
      plan,
      start: body.startDate,
      end: body.endDate,
      cancelledFrom: undefined,
      closing: undefined,
      createdAt: state.now,
      netTerms: body.netTerms ?? plan.netTerms,
      grid: recurring.length === 0 ? undefined : gridOf(recurring),
      items,
      creditRateCents: settings.creditRateCents === undefined ? undefined : BigInt(settings.creditRateCents),
      metadata: body.metadata ?? {},
      budgets: (settings.budgets ?? []).map(budgetOf),
      invoices: [],
      entries: [],
      swept: new Set(),
      prepaid: undefined,
    };
    const cents: bigint =
      body.creditGrantCents === undefined ? (plan.grantCents ?? 0n) : BigInt(body.creditGrantCents ?? 0);
    const isPast = settings.expiresAt !== undefined && instantOf(settings.expiresAt) <= state.now;
    refuseIf(cents > 0n && isPast, 'invalidInput');
    if (cents > 0n) contract.prepaid = addPaidGrant(state, contract, cents, settings.expiresAt);
    state.contracts.push(contract);
    topUpDrafts(state, contract);
    return { data: contractWire(state, contract) };
  },

  'contracts.get': (state, { params }) => ({
    data: contractWire(state, named(state.contracts, params['contractId'], 'notFound')),
  }),

  'contracts.list': (state, { query }) => ({
    data: newestFirst(state.contracts)
      .filter(
        (contract) =>
          (query['customerId'] === undefined || contract.customer.id === query['customerId']) &&
          (query['externalCustomerId'] === undefined ||
            contract.customer.externalCustomerId === query['externalCustomerId']) &&
          (query['planId'] === undefined || contract.plan.id === query['planId']) &&
          (query['isActive'] === undefined || String(isActive(state, contract)) === query['isActive']),
      )
      .map((contract) => contractWire(state, contract)),
  }),

  'contracts.update': (state, { params, body }) => {
    const contract = named(state.contracts, params['contractId'], 'notFound');
    contract.metadata = body.metadata ?? {};
    return { data: contractWire(state, contract) };
  },

  'contracts.cancel': (state, { params }) => {
    const contract = named(state.contracts, params['contractId'], 'notFound');
    refuseIf(!isActive(state, contract), 'conflict');
    topUpDrafts(state, contract);
    sweep(state, contract);
    const day = dayOfInstant(state.now);
    const last = contract.invoices.findLast((invoice) => invoice.start <= day);
    const isCut = last !== undefined && metersUsage(contract) && usageWindows(last).length === 0;
    contract.cancelledFrom = last === undefined ? contract.start : dateOf(endOfService(contract, last, day));
    contract.closing = isCut ? last.index + 1 : undefined;
    const later = contract.invoices.filter(
      (invoice) =>
        invoice.status === 'Drafted' &&
        invoice.index !== contract.closing &&
        invoice.start >= dayOf(contract.cancelledFrom ?? ''),
    );
    for (const invoice of later) {
      takeBackPrepaid(state, contract, invoice);
      move(state, invoice, 'cancel');
      undoUsage(state, contract, invoice);
    }
    dateDrafts(contract);
    settle(state, contract);
    return {
      data: {
        id: contract.id,
        isActive: false,
        effectiveCancellationDate: contract.cancelledFrom,
        cancelledInvoiceCount: String(later.length),
      },
    };
  },

  'invoices.get': (state, { params }) => ({ data: invoiceWire(state, invoiceNamed(state, params['invoiceId']), true) }),

  'invoices.list': (state, { query }) => ({
    data: state.contracts
      .flatMap((contract) => contract.invoices)
      .sort((a, b) => b.seq - a.seq)
      .filter(
        (invoice) =>
          (query['customerId'] === undefined || invoice.contract.customer.id === query['customerId']) &&
          (query['status'] === undefined || invoice.status === query['status']) &&
          (query['createdAfter'] === undefined || invoice.createdAt >= instantOfQuery(query['createdAfter'])) &&
          (query['createdBefore'] === undefined || invoice.createdAt < instantOfQuery(query['createdBefore'])),
      )
      .map((invoice) => ({ id: invoice.id, status: invoice.status })),
  }),

  'invoices.finalize': (state, { params }) => {
    const invoice = invoiceNamed(state, params['invoiceId']);
    if (!moves(invoice, 'finalize')) return { data: invoiceWire(state, invoice) };
    refuseIf(state.now < midnight(invoice.day), 'conflict');
    const earlier = invoice.contract.invoices.slice(0, invoice.index);
    refuseIf(
      earlier.some((each) => each.status === 'Drafted'),
      'conflict',
    );
    finalize(state, invoice);
    return { data: invoiceWire(state, invoice) };
  },

  'bill.run': (state) => {
    let finalizedCount = 0;
    for (const customer of state.customers) {
      const until = customer.paused?.until ?? null;
      if (until === null || state.clock < midnight(dayOf(until))) continue;
      Object.assign(customer, { paused: undefined, updatedAt: state.now });
    }
    for (const contract of state.contracts) {
      topUpDrafts(state, contract);
      sweep(state, contract, state.clock);
      for (;;) {
        const next = contract.invoices.find((invoice) => invoice.status === 'Drafted');
        if (next === undefined || midnight(next.day) > state.clock) break;
        finalize(state, next);
        finalizedCount += 1;
      }
    }
    return { data: { finalizedCount: String(finalizedCount), failedCount: '0' } };
  },

  'invoices.pay': (state, { params, body }) => {
    const invoice = invoiceNamed(state, params['invoiceId']);
    const status: string = body.status ?? 'paid';
    if (!moves(invoice, status)) return { data: invoiceWire(state, invoice) };
    const date: string = body.date ?? today(state);
    refuseIf(dayOf(date) < invoice.day, 'invalidInput');
    move(state, invoice, status);
    if (status === 'paid') invoice.latestPaymentDate = date;
    return { data: invoiceWire(state, invoice) };
  },

  'invoices.cancel': (state, { params }) => {
    const invoice = invoiceNamed(state, params['invoiceId']);
    if (moves(invoice, 'cancel')) {
      sweep(state, invoice.contract);
      takeBackPrepaid(state, invoice.contract, invoice);
      move(state, invoice, 'cancel');
      returnCredits(state, invoice.contract, invoice);
      settle(state, invoice.contract);
    }
    return { data: invoiceWire(state, invoice) };
  },

  'invoices.refund': (state, { params, body }) => {
    const invoice = invoiceNamed(state, params['invoiceId']);
    if (!moves(invoice, 'refund')) return { data: invoiceWire(state, invoice) };
    refuseIf(dayOf(body.date ?? today(state)) < invoice.day, 'invalidInput');
    move(state, invoice, 'refund');
    if (body.restoreCredits === true) {
      sweep(state, invoice.contract);
      returnCredits(state, invoice.contract, invoice);
      settle(state, invoice.contract);
    }
    return { data: invoiceWire(state, invoice) };
  },

  'invoices.creditReport': (state, { params }) => {
    const invoice = invoiceNamed(state, params['invoiceId']);
    const entries = invoice.contract.entries.filter((entry) => entry.invoice === invoice);
    return { data: { invoiceId: invoice.id, entries: entries.map(entryWire) } };
  },
};

function finalize(state: State, invoice: Invoice): void {
  const { contract } = invoice;
  settle(state, contract);
  invoice.frozen = [...linesOf(state, invoice), ...creditLines(invoice, recordedCredits(invoice))];
  state.finalized.push(invoice);
  invoice.number = `INV-${String(state.finalized.length).padStart(6, '0')}`;
  const total = invoice.frozen.reduce((sum, line) => sum + line.cents, 0n);
  invoice.status = total === 0n ? 'Paid' : 'In Progress';
  if (total === 0n) invoice.latestPaymentDate = dateOf(invoice.day);
  topUpDrafts(state, contract);
  if (isBilledOut(contract)) settle(state, contract);
}
