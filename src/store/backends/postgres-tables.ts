/** The tables of a book on PostgreSQL, but for the one that holds the version. */

/** Every table behind those that it refers to, with what its rows are ordered by; entries refer to earlier ones. */
export const dumpedTables: Readonly<Record<string, string>> = {
  organizations: 'seq',
  clock: 'id',
  apiKeys: 'seq',
  customers: 'seq',
  contacts: 'seq',
  products: 'seq',
  meters: 'seq',
  rateCards: 'orgId meterId',
  pricings: 'seq',
  plans: 'seq',
  planItems: 'seq',
  contracts: 'seq',
  invoices: 'seq',
  ledgerEntries: 'seq',
  invoiceLines: 'orgId invoiceId position',
  grantExpiries: 'orgId contractId expiresAt grantId',
  budgets: 'seq',
  events: 'seq',
  eventVersions: 'orgId idempotencyKey version',
  webhookEndpoints: 'seq',
  webhookEvents: 'seq',
  webhookDeliveries: 'seq',
};
