/** What a field may name: the list to choose from, and how a record of it reads to a person. */

const entries = {
  operation: 'credits.ledger',
  value: 'id',
  label: ['type', 'amountCents', 'description', 'createdAt'],
} as const;

/**
 * By what a field names. `query` picks the records, and `types`, where a list takes only one of them; `value` is the id that
 * goes into the field, `label` what tells records apart. In a label, the id of a customer reads as the name, and cents as
 * dollars.
 */
export const referenced = {
  customers: { operation: 'customers.list', value: 'id', label: ['name'] },
  externalCustomers: { operation: 'customers.list', value: 'metadata.externalCustomerId', label: ['name'] },
  contracts: { operation: 'contracts.list', value: 'id', label: ['name', 'startDate', 'endDate'] },
  plans: { operation: 'plans.list', value: 'id', label: ['name'] },
  pricing: { operation: 'pricing.list', value: 'id', label: ['name', 'model'] },
  products: { operation: 'products.list', value: 'id', label: ['name'] },
  meters: { operation: 'meters.list', value: 'id', label: ['code', 'displayName'] },
  invoices: {
    operation: 'invoices.list',
    value: 'id',
    label: ['customerId', 'invoiceNumber', 'status', 'invoiceDate', 'totalCents'],
  },
  entries,
  reversibleEntries: { ...entries, types: ['grant', 'usage', 'adjustment'] },
  grants: {
    operation: 'credits.ledger',
    query: { type: 'grant' },
    value: 'id',
    label: ['amountCents', 'description', 'createdAt'],
  },
  keys: { operation: 'keys.list', value: 'id', label: ['name'] },
  organizations: { operation: 'orgs.list', value: 'id', label: ['name'] },
  endpoints: { operation: 'webhooks.list', value: 'id', label: ['url'] },
  deliveries: { operation: 'webhooks.deliveries', value: 'id', label: ['eventType', 'status'] },
} as const;

export type ReferenceKind = keyof typeof referenced;
