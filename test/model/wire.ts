/** The model's answers in the form of the wire, with numbers as texts so that no digit can hide (see compare.ts). */

import { dateOf, dayOf, midnight, timestampOf } from './calendar.ts';
import { halfUp, one, scaledText, textOf } from './fraction.ts';
import { linesOf, usageWindows } from './rating.ts';
import type { Budget, Contract, Customer, Entry, Event, Invoice, Line, State } from './state.ts';
import { projectedCredits } from './wallet.ts';

export const creditsText = (micros: bigint): string => scaledText(micros, 6);

function isPaused(state: State, customer: Customer): boolean {
  const { paused } = customer;
  return paused !== undefined && (paused.until === null || state.now < midnight(dayOf(paused.until)));
}

export function customerWire(state: State, customer: Customer, isNew = false) {
  const paused = isPaused(state, customer) ? customer.paused : undefined;
  return {
    id: customer.id,
    name: customer.name,
    legalName: customer.legalName,
    tags: customer.tags,
    isPaused: paused !== undefined,
    pausedAt: paused === undefined ? null : timestampOf(paused.at),
    pausedUntil: paused?.until ?? null,
    metadata: { externalCustomerId: customer.externalCustomerId, externalCompanyIds: [] },
    ...(isNew
      ? {}
      : {
          externalIds: [],
          billingContacts: customer.contacts
            .filter((contact) => contact.roles.includes('accounts_payable'))
            .map((contact) => ({ name: contact.name, email: contact.email, phone: null })),
        }),
    createdAt: timestampOf(customer.createdAt),
    updatedAt: timestampOf(customer.updatedAt),
  };
}

export function isActive(state: State, contract: Contract): boolean {
  if (contract.cancelledFrom !== undefined) return false;
  return contract.end === undefined || state.now < midnight(dayOf(contract.end));
}

export function contractWire(state: State, contract: Contract) {
  return {
    id: contract.id,
    customerId: contract.customer.id,
    planId: contract.plan.id,
    name: contract.name,
    startDate: contract.start,
    ...(contract.end === undefined ? {} : { endDate: contract.end }),
    isActive: isActive(state, contract),
    createdAt: timestampOf(contract.createdAt),
    metadata: contract.metadata,
  };
}

/** All lines, credits last: frozen ones, or for a draft what they would be now. */
function allLines(state: State, invoice: Invoice): readonly Line[] {
  if (invoice.frozen !== undefined) return invoice.frozen;
  if (invoice.status !== 'Drafted') return [];
  return [...linesOf(state, invoice), ...creditLines(invoice, projectedCredits(state, invoice))];
}

/** One negative line for each grant that pays for a part of the invoice. */
export function creditLines(invoice: Invoice, appliedByGrant: ReadonlyMap<Entry, bigint>): Line[] {
  const [closed] = invoice.index === invoice.contract.closing ? usageWindows(invoice) : [];
  const period = { from: closed?.from ?? midnight(invoice.start), to: closed?.to ?? midnight(invoice.end) };
  return [...appliedByGrant.values()]
    .filter((applied) => applied !== 0n)
    .map((applied) => {
      const amount = { n: -applied, d: 100n };
      const money = { quantity: one, unit: amount, amount, cents: -applied };
      return { kind: 'credit', key: '', item: undefined, groups: {}, ...money, ...period };
    });
}

export function invoiceWire(state: State, invoice: Invoice, isWithLines = false) {
  const lines = allLines(state, invoice);
  return {
    id: invoice.id,
    invoiceNumber: invoice.number ?? 'DRAFT',
    customerId: invoice.contract.customer.id,
    contractId: invoice.contract.id,
    status: invoice.status,
    invoiceDate: dateOf(invoice.day),
    dueDate: dateOf(invoice.day + invoice.contract.netTerms),
    totalCents: String(lines.reduce((sum, line) => sum + line.cents, 0n)),
    ...(invoice.latestPaymentDate === undefined ? {} : { latestPaymentDate: invoice.latestPaymentDate }),
    createdAt: timestampOf(invoice.createdAt),
    ...(isWithLines ? { lineItems: lines.map(lineWire) } : {}),
  };
}

function lineWire(line: Line) {
  return {
    quantity: textOf(line.quantity, 12),
    unitPriceCents: String(halfUp({ n: halfUp(line.unit, 12), d: 10n ** 10n })),
    totalAmountCents: String(line.cents),
    unitPrice: scaledText(halfUp(line.unit, 12), 12),
    totalAmount: textOf(line.amount, 12),
    servicePeriod: { start: timestampOf(line.from), end: timestampOf(line.to) },
  };
}

export function entryWire(entry: Entry) {
  return {
    type: entry.type,
    amountCents: String(entry.cents),
    creditAmount: creditsText(entry.micros),
    creditRateCents: String(entry.rateCents),
    currency: 'USD',
    sourceType: entry.sourceType,
    invoiceId: entry.invoice?.id ?? null,
    grantEntryId: entry.grant?.id ?? null,
    expiresAt: entry.expiresAt === null ? null : timestampOf(entry.expiresAt),
    isPromotional: entry.isPromotional,
    createdAt: timestampOf(entry.createdAt),
  };
}

export function budgetWire(budget: Budget, index: number) {
  return {
    index: String(index),
    label: budget.label,
    eventPropertyKey: budget.key,
    eventPropertyValue: budget.value,
    meterId: budget.meterId,
    maxCredits: budget.maxMicros === null ? null : creditsText(budget.maxMicros),
    maxCreditsCents: budget.maxCents === null ? null : String(budget.maxCents),
    isExhausted: budget.isExhausted,
  };
}

export function eventWire(event: Event) {
  return {
    eventName: event.name,
    customerId: event.customer.id,
    contractId: event.contract?.id ?? null,
    idempotencyKey: event.key,
    timestamp: timestampOf(event.at),
    properties: Object.fromEntries(
      Object.entries(event.properties).map(([name, value]) => [
        name,
        typeof value === 'object' && value !== null ? value.number : value,
      ]),
    ),
    version: String(event.version),
    isLate: event.isLate,
    receivedAt: timestampOf(event.receivedAt),
  };
}
