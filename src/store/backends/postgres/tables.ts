/** The tables of a book on PostgreSQL, without the one that holds the version. */

/** What a backup holds: every table after those that it refers to, with the columns that order its rows; entries refer to earlier ones. */
export const dumpedTables: Readonly<Record<string, string>> = {
  bookFacts: 'name',
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
  budgets: 'seq',
  frozenUsage: 'orgId contractId itemId startEpochMs',
  events: 'seq',
  eventVersions: 'orgId idempotencyKey version',
  eventHeads: 'orgId',
  stagedEvents: 'orgId batch',
  webhookEndpoints: 'seq',
  webhookEvents: 'seq',
  webhookDeliveries: 'seq',
};

/** Those, and what the server derives from them as they are written. */
export const allTables: readonly string[] = [...Object.keys(dumpedTables), 'eventDays'];
