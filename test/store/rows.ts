/** The smallest rows that the schema takes, so that a test names only what it is about. */

import type { Insertable } from 'kysely';

import { decimalText } from '../../src/calculation/money.ts';
import type { MeterRules } from '../../src/calculation/usage-fold.ts';
import { type ConstraintRule, ConstraintViolation } from '../../src/store/constraint-violation.ts';
import type { ContractsTable, InvoicesTable, LedgerEntriesTable, Transaction } from '../../src/store/database.ts';
import type { EventAggregation, EventReadings, EventStore, NewEvent } from '../../src/store/event-store.ts';
import type { NewLedgerEntry } from '../../src/store/records/ledger.ts';
import type { Store } from '../../src/store/store.ts';

/** What meters of a test read, unless it says otherwise. */
export const sumOfTokens: MeterRules = {
  aggregationType: 'SUM',
  aggregationKey: 'tokens',
  eventTypeFilter: { include: [], exclude: [] },
  propertyFilters: [],
  groupKeys: [],
};

export const at = '2026-01-01T00:00:00.000Z';

export const row = {
  organization: (id: string) => ({
    id,
    name: id,
    keyPrefix: 'tally',
    salesTaxEnabled: false,
    nextInvoiceNumber: 1,
    lastCreatedAt: at,
    createdAt: at,
  }),
  customer: (orgId: string, id: string) => ({ orgId, id, name: id, tags: '[]', createdAt: at, updatedAt: at }),
  plan: (orgId: string, id: string) => ({
    orgId,
    id,
    name: id,
    currency: 'USD',
    netTerms: '30',
    defaultAutoPayEnabled: false,
    invoiceSendMethod: 'auto',
    createdAt: at,
    updatedAt: at,
  }),
};

export function contractRow(orgId: string, id: string, customerId: string): Insertable<ContractsTable> {
  return {
    orgId,
    id,
    customerId,
    planId: 'plan',
    name: id,
    startDate: '2026-01-01',
    netTermsDays: 30,
    metadata: '{}',
    creditSettings: '{}',
    items: '[]',
    budgetsVersion: 0,
    createdAt: at,
    updatedAt: at,
  };
}

export function invoiceRow(
  orgId: string,
  id: string,
  changes: Partial<Insertable<InvoicesTable>> = {},
): Insertable<InvoicesTable> {
  return {
    orgId,
    id,
    number: id,
    customerId: 'customer',
    contractId: 'contract',
    periodIndex: 0,
    periodStart: '2026-01-01',
    periodEnd: '2026-02-01',
    status: 'Drafted',
    invoiceDate: '2026-02-01',
    dueDate: '2026-03-03',
    totalCents: 100n,
    isHeld: false,
    createdAt: at,
    updatedAt: at,
    ...changes,
  };
}

export function entryRow(
  id: string,
  changes: Partial<Insertable<LedgerEntriesTable>> = {},
): Insertable<LedgerEntriesTable> {
  return {
    orgId: 'org-a',
    id,
    contractId: 'contract',
    type: 'grant',
    amountCents: 0n,
    creditMicros: 0n,
    creditRateCents: 0n,
    purchaseRateCents: 0n,
    currency: 'USD',
    description: id,
    sourceType: 'promotional',
    isPromotional: true,
    appliedCents: 0n,
    balanceAfterCents: 0n,
    creditBalanceAfterMicros: 0n,
    createdAt: at,
    ...changes,
  };
}

/** A grant of `contract`, as it is written. */
export const newGrant: NewLedgerEntry = {
  id: 'g1',
  contractId: 'contract',
  type: 'grant',
  amountCents: 100n,
  creditMicros: 0n,
  creditRateCents: 0n,
  purchaseRateCents: 0n,
  currency: 'USD',
  description: 'Sorry',
  sourceType: 'promotional',
  isPromotional: true,
  appliedCents: 0n,
  balanceAfterCents: 100n,
  creditBalanceAfterMicros: 0n,
  createdAt: Temporal.Instant.from(at),
};

/** Organizations org-a and org-b, each with a customer, a plan and a contract of the same ids. */
export async function insertTwoOrganizations(tx: Transaction): Promise<void> {
  for (const orgId of ['org-a', 'org-b']) {
    await tx.insertInto('organizations').values(row.organization(orgId)).execute();
    await tx.insertInto('customers').values(row.customer(orgId, 'customer')).execute();
    await tx.insertInto('plans').values(row.plan(orgId, 'plan')).execute();
    await tx
      .insertInto('contracts')
      .values(contractRow(orgId, 'contract', 'customer'))
      .execute();
  }
  await tx.insertInto('customers').values(row.customer('org-a', 'only-in-a')).execute();
}

export function eventOf(idempotencyKey: string, changes: Partial<NewEvent> = {}): NewEvent {
  return {
    id: `id-of-${idempotencyKey}`,
    idempotencyKey,
    customerId: 'customer',
    contractId: null,
    eventName: 'request',
    timestampEpochMs: 1_000,
    propertiesJson: '{"tokens":1}',
    receivedAtEpochMs: 5_000,
    isLate: false,
    ...changes,
  };
}

/** Each reading as `group/event/properties: quantity of count`, an interval a list. */
export function rowsOfReadings(readings: EventReadings): string[][] {
  return readings.map((interval) =>
    interval.map(({ groupValues, eventName, properties, quantity, count }) => {
      const dimensions = [Object.values(groupValues).join(','), eventName, Object.entries(properties).join(',')];
      return `${dimensions.join('/')}: ${decimalText(quantity)} of ${count}`;
    }),
  );
}

/** What one meter reads. */
export async function aggregateOne(
  events: EventStore,
  tx: Transaction,
  { rules, ...of }: EventAggregation,
): Promise<EventReadings> {
  const [readings = []] = await events.aggregate(tx, of, [rules]);
  return readings;
}

/** The rule of the schema that a change breaks; `none` where it breaks none. */
export async function ruleBroken(
  store: Store,
  change: (tx: Transaction) => Promise<unknown>,
): Promise<ConstraintRule | 'none'> {
  try {
    await store.write(change);
    return 'none';
  } catch (error) {
    if (error instanceof ConstraintViolation) return error.rule;
    throw error;
  }
}
