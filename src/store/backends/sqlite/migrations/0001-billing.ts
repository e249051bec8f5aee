/** Organizations, keys, customers, catalog, contracts, invoices, ledger and budgets. */

import { appendOnly, column, optional } from './columns.ts';
import type { Migration } from './migration.ts';

const { sequence, id, text, oneOf, json, instant, date, flag, count, cents, centsFromZero, creditMicros, balance } =
  column;
const created = instant('createdAt');
const updated = instant('updatedAt');
const orgId = id('orgId');

/** A table whose rows belong to an organization. Its key is (orgId, id), which references name. */
function table(name: string, columns: readonly string[]): string {
  return `CREATE TABLE "${name}" (${[sequence, orgId, id('id'), ...columns].join(', ')},
    UNIQUE ("orgId", "id"),
    FOREIGN KEY ("orgId") REFERENCES "organizations" ("id")) STRICT`;
}

function references(name: string, parent: string): string {
  return `FOREIGN KEY ("orgId", "${name}") REFERENCES "${parent}" ("orgId", "id")`;
}

/** A reference to a row of the same contract. */
function referencesInContract(name: string): string {
  return `FOREIGN KEY ("orgId", "contractId", "${name}") REFERENCES "ledgerEntries" ("orgId", "contractId", "id")`;
}

function index(name: string, columns: string, rest = ''): string {
  return `CREATE INDEX "${name}" ON ${columns} ${rest}`;
}

const organizations = `CREATE TABLE "organizations" (${[
  sequence,
  id('id'),
  text('name'),
  text('keyPrefix'),
  flag('salesTaxEnabled'),
  optional(text('paymentProcessor')),
  `"nextInvoiceNumber" INTEGER NOT NULL CHECK ("nextInvoiceNumber" >= 1)`,
  instant('lastCreatedAt'),
  created,
].join(', ')}, UNIQUE ("id")) STRICT`;

const apiKeys = table('apiKeys', [
  text('name'),
  `"digest" TEXT NOT NULL UNIQUE CHECK (length("digest") = 64)`,
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
].join(', ')}) STRICT, WITHOUT ROWID`;

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

/** Without a reference to a grant. */
export const invoiceLineColumns = [
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
];

const invoiceLines = `CREATE TABLE "invoiceLines" (${[
  ...invoiceLineColumns,
  references('grantId', 'ledgerEntries'),
].join(', ')}) STRICT, WITHOUT ROWID`;

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

const frozenInvoiceColumns = [
  'id',
  'orgId',
  'number',
  'customerId',
  'contractId',
  'periodIndex',
  'periodStart',
  'periodEnd',
  'invoiceDate',
  'dueDate',
  'totalCents',
  'finalizedAt',
  'createdAt',
];

const frozenInvoices = [
  `CREATE TRIGGER "invoices_update" BEFORE UPDATE ON "invoices"
   WHEN OLD."finalizedAt" IS NOT NULL AND
     (${frozenInvoiceColumns.map((name) => `NEW."${name}" IS NOT OLD."${name}"`).join(' OR ')})
   BEGIN SELECT RAISE(ABORT, 'append-only: a finalized invoice cannot be changed'); END`,
  `CREATE TRIGGER "invoices_delete" BEFORE DELETE ON "invoices" WHEN OLD."finalizedAt" IS NOT NULL
   BEGIN SELECT RAISE(ABORT, 'append-only: a finalized invoice cannot be removed'); END`,
];

/** Mainly for lists: newest first in one organization or under one parent. Every index ends with `seq` by itself. */
const indexes = [
  index('customers_created', '"customers" ("orgId", "createdAt")'),
  index('contacts_customer', '"contacts" ("orgId", "customerId", "position")'),
  index('products_created', '"products" ("orgId", "createdAt")'),
  index('pricings_created', '"pricings" ("orgId", "createdAt")'),
  index('pricings_product', '"pricings" ("orgId", "productId")'),
  index('pricings_meter', '"pricings" ("orgId", "meterId")', 'WHERE "meterId" IS NOT NULL'),
  index('plans_created', '"plans" ("orgId", "createdAt")'),
  index('planItems_pricing', '"planItems" ("orgId", "pricingId")'),
  index('meters_created', '"meters" ("orgId", "createdAt")'),
  'CREATE UNIQUE INDEX "meters_code" ON "meters" ("orgId", "code") WHERE "archivedAt" IS NULL',
  index('contracts_created', '"contracts" ("orgId", "createdAt")'),
  index('contracts_customer', '"contracts" ("orgId", "customerId")'),
  index('contracts_plan', '"contracts" ("orgId", "planId")'),
  index('invoices_created', '"invoices" ("orgId", "createdAt")'),
  index('invoices_customer', '"invoices" ("orgId", "customerId")'),
  index('invoices_drafts', '"invoices" ("orgId", "invoiceDate")', `WHERE "status" = 'Drafted'`),
  index('ledgerEntries_contract', '"ledgerEntries" ("orgId", "contractId")'),
  index('ledgerEntries_grant', '"ledgerEntries" ("orgId", "grantEntryId")', 'WHERE "grantEntryId" IS NOT NULL'),
  index('ledgerEntries_invoice', '"ledgerEntries" ("orgId", "invoiceId")', 'WHERE "invoiceId" IS NOT NULL'),
];

export const frozenLines = appendOnly('invoiceLines', 'a line of a finalized invoice');

export const billing: Migration = {
  version: 1,
  statements: [
    organizations,
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
    budgets,
    ...indexes,
    ...frozenInvoices,
    ...frozenLines,
    ...appendOnly('ledgerEntries', 'a ledger entry'),
  ],
};
