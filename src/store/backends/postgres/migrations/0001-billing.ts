/** Everything that the first release stores: organizations, catalog, contracts, ledger, invoices, events and webhooks. */

import { appendOnly, column, neverEmptied, optional, references, refusal, refuseWhere, table } from './columns.ts';
import { events } from './0001-events.ts';
import { indexes } from './0001-indexes.ts';
import type { PostgresMigration } from './migration.ts';
import { webhooks } from './0001-webhooks.ts';

const {
  sequence,
  id,
  text,
  oneOf,
  json,
  instant,
  date,
  flag,
  count,
  cents,
  centsFromZero,
  creditMicros,
  balance,
  seal,
} = column;
const created = instant('createdAt');
const updated = instant('updatedAt');
const orgId = id('orgId');

/** A reference to a row of the same contract. */
function referencesInContract(name: string): string {
  return `FOREIGN KEY ("orgId", "contractId", "${name}") REFERENCES "ledgerEntries" ("orgId", "contractId", "id")`;
}

const organizations = `CREATE TABLE "organizations" (${[
  sequence,
  id('id'),
  text('name'),
  text('keyPrefix'),
  flag('salesTaxEnabled'),
  optional(text('paymentProcessor')),
  `"nextInvoiceNumber" bigint NOT NULL CHECK ("nextInvoiceNumber" >= 1)`,
  instant('lastCreatedAt'),
  `${oneOf('environment', ['sandbox', 'production'])} DEFAULT 'sandbox'`,
  created,
].join(', ')}, PRIMARY KEY ("id"))`;

/** At most one row: the instant of a simulated clock. Without a row the clock is the real one. */
const clock = `CREATE TABLE "clock" ("id" bigint PRIMARY KEY CHECK ("id" = 1), ${instant('now')})`;

const apiKeys = table('apiKeys', [
  text('name'),
  `"digest" text COLLATE "C" NOT NULL UNIQUE CHECK (length("digest") = 64)`,
  text('suffix'),
  json('scopes'),
  optional(instant('expiresAt')),
  optional(instant('revokedAt')),
  optional(instant('lastUsedAt')),
  created,
]);

const customers = table('customers', [
  text('name'),
  optional(text('legalName')),
  optional(text('externalCustomerId')),
  optional(text('paymentProvider')),
  optional(text('paymentProviderId')),
  json('tags'),
  optional(json('billingAddress')),
  optional(text('paymentMethodId')),
  optional(text('paymentMethodType')),
  optional(instant('pausedAt')),
  optional(date('pausedUntil')),
  created,
  updated,
  'UNIQUE ("orgId", "externalCustomerId")',
  'UNIQUE ("orgId", "paymentProvider", "paymentProviderId")',
  'CHECK (("paymentProvider" IS NULL) = ("paymentProviderId" IS NULL))',
  'CHECK ("pausedUntil" IS NULL OR "pausedAt" IS NOT NULL)',
]);

const contacts = table('contacts', [
  id('customerId'),
  count('position'),
  text('name'),
  text('email'),
  optional(text('phone')),
  json('roles'),
  oneOf('emailRecipientType', ['to', 'cc', 'bcc']),
  oneOf('status', ['Active', 'Unreachable']),
  oneOf('source', ['imported', 'manual']),
  created,
  updated,
  references('customerId', 'customers'),
]);

const products = table('products', [
  text('name'),
  optional(text('description')),
  optional(instant('archivedAt')),
  created,
]);

const meters = table('meters', [
  text('code'),
  text('displayName'),
  optional(text('description')),
  oneOf('aggregationType', ['SUM', 'COUNT', 'MAX', 'MIN']),
  json('eventTypeFilter'),
  json('propertyFilters'),
  optional(text('aggregationKey')),
  json('groupKeys'),
  optional(text('sql')),
  oneOf('status', ['active', 'inactive']),
  optional(instant('archivedAt')),
  created,
  updated,
]);

const rateCards = `CREATE TABLE "rateCards" (${[
  orgId,
  id('meterId'),
  json('rates'),
  optional(text('fallbackUnitAmount')),
  updated,
  'PRIMARY KEY ("orgId", "meterId")',
  references('meterId', 'meters'),
].join(', ')})`;

const pricings = table('pricings', [
  id('productId'),
  text('name'),
  optional(text('description')),
  oneOf('model', ['FLAT', 'TIER', 'USAGE']),
  oneOf('billingMode', ['RECURRING', 'ONE_TIME']),
  oneOf('tiering', ['NONE', 'VOLUME', 'GRADUATED']),
  optional(text('unitAmount')),
  optional(text('flatAmount')),
  optional(oneOf('priceInterval', ['WEEK', 'MONTH', 'YEAR'])),
  optional(count('priceIntervalCount')),
  optional(id('meterId')),
  json('pricingTiers'),
  optional(instant('archivedAt')),
  created,
  references('productId', 'products'),
  references('meterId', 'meters'),
]);

const plans = table('plans', [
  text('name'),
  optional(text('description')),
  text('currency'),
  text('netTerms'),
  optional(text('externalId')),
  flag('defaultAutoPayEnabled'),
  text('invoiceSendMethod'),
  optional(text('onDepletion')),
  optional(centsFromZero('defaultCreditGrantCents')),
  optional(instant('archivedAt')),
  created,
  updated,
]);

const planItems = table('planItems', [
  id('planId'),
  count('position'),
  id('pricingId'),
  text('defaultQuantity'),
  'UNIQUE ("orgId", "planId", "position")',
  references('planId', 'plans'),
  references('pricingId', 'pricings'),
]);

const contracts = table('contracts', [
  id('customerId'),
  id('planId'),
  text('name'),
  date('startDate'),
  optional(date('endDate')),
  count('netTermsDays'),
  json('metadata'),
  json('creditSettings'),
  json('items'),
  optional(centsFromZero('creditGrantCents')),
  optional(instant('cancelledAt')),
  optional(date('effectiveEndDate')),
  count('budgetsVersion'),
  optional(date('draftsDueOn')),
  optional(instant('terminatedAt')),
  created,
  updated,
  'CHECK ("endDate" IS NULL OR "endDate" > "startDate")',
  references('customerId', 'customers'),
  references('planId', 'plans'),
]);

const invoices = table('invoices', [
  text('number'),
  id('customerId'),
  id('contractId'),
  count('periodIndex'),
  date('periodStart'),
  date('periodEnd'),
  oneOf('status', ['Drafted', 'In Progress', 'In Transit', 'Paid', 'Cancelled', 'Refunded']),
  date('invoiceDate'),
  date('dueDate'),
  centsFromZero('totalCents'),
  optional(text('memo')),
  optional(date('latestPaymentDate')),
  optional(text('paymentLink')),
  optional(instant('finalizedAt')),
  optional(instant('sentAt')),
  flag('isHeld'),
  created,
  updated,
  seal('contentHash'),
  'UNIQUE ("orgId", "number")',
  'UNIQUE ("orgId", "contractId", "periodIndex")',
  'CHECK ("periodEnd" > "periodStart")',
  references('customerId', 'customers'),
  references('contractId', 'contracts'),
]);

const ledgerEntries = table('ledgerEntries', [
  id('contractId'),
  oneOf('type', ['grant', 'usage', 'adjustment', 'reversal', 'expiration']),
  cents('amountCents'),
  creditMicros('creditMicros'),
  centsFromZero('creditRateCents'),
  centsFromZero('purchaseRateCents'),
  text('currency'),
  text('description'),
  text('sourceType'),
  optional(id('invoiceId')),
  optional(text('lineKey')),
  optional(id('grantEntryId')),
  optional(id('reversesEntryId')),
  optional(instant('expiresAt')),
  flag('isPromotional'),
  optional(text('externalId')),
  optional(text('fingerprint')),
  optional(json('specifiers')),
  optional(json('metadata')),
  cents('appliedCents'),
  balance('balanceAfterCents'),
  balance('creditBalanceAfterMicros'),
  created,
  seal('hash'),
  'UNIQUE ("orgId", "contractId", "id")',
  'UNIQUE ("orgId", "contractId", "externalId")',
  'UNIQUE ("orgId", "reversesEntryId")',
  `CHECK ("type" <> 'grant' OR ("amountCents" >= 0 AND "creditMicros" >= 0))`,
  `CHECK ("type" NOT IN ('usage', 'expiration') OR
     ("amountCents" <= 0 AND "creditMicros" <= 0 AND "grantEntryId" IS NOT NULL))`,
  `CHECK (("type" = 'reversal') = ("reversesEntryId" IS NOT NULL))`,
  references('contractId', 'contracts'),
  references('invoiceId', 'invoices'),
  referencesInContract('grantEntryId'),
  referencesInContract('reversesEntryId'),
]);

const invoiceLines = `CREATE TABLE "invoiceLines" (${[
  orgId,
  id('invoiceId'),
  count('position'),
  id('id'),
  text('lineKey'),
  oneOf('kind', ['fixed', 'metered', 'prepaid', 'credit']),
  text('name'),
  text('description'),
  text('quantity'),
  text('unitPrice'),
  cents('unitPriceCents'),
  text('totalAmount'),
  cents('totalCents'),
  instant('serviceStart'),
  instant('serviceEnd'),
  optional(id('pricingId')),
  optional(id('meterId')),
  optional(id('productId')),
  optional(json('groupValues')),
  optional(id('grantId')),
  'PRIMARY KEY ("orgId", "invoiceId", "position")',
  'UNIQUE ("orgId", "id")',
  references('invoiceId', 'invoices'),
  references('pricingId', 'pricings'),
  references('meterId', 'meters'),
  references('productId', 'products'),
  references('grantId', 'ledgerEntries'),
].join(', ')})`;

/** Grants whose expiry is still to be settled. */
const grantExpiries = `CREATE TABLE "grantExpiries" (${[
  orgId,
  id('contractId'),
  id('grantId'),
  instant('expiresAt'),
  'PRIMARY KEY ("orgId", "contractId", "expiresAt", "grantId")',
  referencesInContract('grantId'),
].join(', ')})`;

const budgets = table('budgets', [
  id('contractId'),
  count('position'),
  text('label'),
  text('eventPropertyKey'),
  text('eventPropertyValue'),
  optional(id('meterId')),
  optional(text('maxCredits')),
  optional(centsFromZero('maxCreditsCents')),
  flag('isExhausted'),
  created,
  'UNIQUE ("orgId", "contractId", "eventPropertyKey", "eventPropertyValue")',
  references('contractId', 'contracts'),
  references('meterId', 'meters'),
]);

const frozenInvoiceColumns =
  'id orgId number customerId contractId periodIndex periodStart periodEnd invoiceDate dueDate totalCents finalizedAt createdAt';

const changed = (names: string): string =>
  names
    .split(' ')
    .map((name) => `NEW."${name}" IS DISTINCT FROM OLD."${name}"`)
    .join(' OR ');

const frozenInvoices = [
  refuseWhere('invoices_update', {
    table: 'invoices',
    action: 'UPDATE',
    condition: `OLD."finalizedAt" IS NOT NULL AND (${changed(frozenInvoiceColumns)})`,
    words: 'a finalized invoice cannot be changed',
  }),
  refuseWhere('invoices_delete', {
    table: 'invoices',
    action: 'DELETE',
    condition: 'OLD."finalizedAt" IS NOT NULL',
    words: 'a finalized invoice cannot be removed',
  }),
  refuseWhere('invoices_seal', {
    table: 'invoices',
    action: 'UPDATE',
    condition: `OLD."contentHash" <> '' AND (${changed('contentHash')})`,
    words: 'the seal of a finalized invoice cannot be changed',
  }),
  ...neverEmptied('invoices', 'finalized invoices'),
];

export const billing: PostgresMigration = {
  version: 1,
  statements: [
    refusal,
    organizations,
    clock,
    apiKeys,
    customers,
    contacts,
    products,
    meters,
    rateCards,
    pricings,
    plans,
    planItems,
    contracts,
    invoices,
    ledgerEntries,
    invoiceLines,
    grantExpiries,
    budgets,
    ...indexes,
    ...frozenInvoices,
    ...appendOnly('invoiceLines', 'a line of a finalized invoice'),
    ...appendOnly('ledgerEntries', 'a ledger entry'),
    ...events,
    ...webhooks,
  ],
};
