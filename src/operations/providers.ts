/** External systems by the names they have on the wire; another deployment renames them only here (semantics 1). */

/** By what the interface writes for each: `crm1` is `<crm_1>` (2.2). */
export const providers = {
  crm1: 'salesforce',
  accounting1: 'quickbooks',
  paymentProcessor1: 'stripe',
  crm2: 'hubspot',
  erp1: 'netsuite',
} as const;

/** The field that carries the processor's id of a customer in CSM assignment (interface 4.4). */
export const processorCustomerIdField = `${providers.paymentProcessor1}CustomerId` as const;
