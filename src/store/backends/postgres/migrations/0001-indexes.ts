/** Indexes of the first release; those of events and webhooks are defined with their tables. */

function index(name: string, columns: string, rest = ''): string {
  return `CREATE INDEX "${name}" ON ${columns} ${rest}`;
}

/** Mainly for lists: newest first in one organization or under one parent, with `seq` to order rows of one instant. */
export const indexes: readonly string[] = [
  index('customers_created', '"customers" ("orgId", "createdAt", "seq")'),
  index('customers_paused', '"customers" ("orgId", "pausedUntil")', 'WHERE "pausedUntil" IS NOT NULL'),
  index('contacts_customer', '"contacts" ("orgId", "customerId", "position")'),
  index('products_created', '"products" ("orgId", "createdAt", "seq")'),
  index('pricings_created', '"pricings" ("orgId", "createdAt", "seq")'),
  index('pricings_product', '"pricings" ("orgId", "productId")'),
  index('pricings_meter', '"pricings" ("orgId", "meterId")', 'WHERE "meterId" IS NOT NULL'),
  index('plans_created', '"plans" ("orgId", "createdAt", "seq")'),
  index('planItems_pricing', '"planItems" ("orgId", "pricingId")'),
  index('meters_created', '"meters" ("orgId", "createdAt", "seq")'),
  'CREATE UNIQUE INDEX "meters_code" ON "meters" ("orgId", "code") WHERE "archivedAt" IS NULL',
  index('contracts_created', '"contracts" ("orgId", "createdAt", "seq")'),
  index('contracts_seq', '"contracts" ("orgId", "seq")'),
  index('contracts_customer', '"contracts" ("orgId", "customerId", "createdAt", "seq")'),
  index('contracts_plan', '"contracts" ("orgId", "planId")'),
  index('contracts_draftsDue', '"contracts" ("orgId", "draftsDueOn")', 'WHERE "draftsDueOn" IS NOT NULL'),
  index(
    'contracts_ending',
    '"contracts" ("orgId", (coalesce("effectiveEndDate", "endDate")))',
    'WHERE "terminatedAt" IS NULL',
  ),
  index('invoices_created', '"invoices" ("orgId", "createdAt", "seq")'),
  index('invoices_customer', '"invoices" ("orgId", "customerId", "createdAt", "seq")'),
  index('invoices_drafts', '"invoices" ("orgId", "invoiceDate")', `WHERE "status" = 'Drafted'`),
  index('ledgerEntries_contract', '"ledgerEntries" ("orgId", "contractId", "seq")'),
  index('ledgerEntries_grant', '"ledgerEntries" ("orgId", "grantEntryId")', 'WHERE "grantEntryId" IS NOT NULL'),
  index('ledgerEntries_invoice', '"ledgerEntries" ("orgId", "invoiceId")', 'WHERE "invoiceId" IS NOT NULL'),
  index('grantExpiries_due', '"grantExpiries" ("orgId", "expiresAt")'),
];
