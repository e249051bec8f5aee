/** Ids that examples name. The demo's database has them, so that every example runs there as it is printed. */
export const exampleIds = {
  customer: '01900000-0000-7000-8000-000000000001',
  product: '01900000-0000-7000-8000-000000000002',
  pricing: '01900000-0000-7000-8000-000000000003',
  meter: '01900000-0000-7000-8000-000000000004',
  plan: '01900000-0000-7000-8000-000000000005',
  contract: '01900000-0000-7000-8000-000000000006',
  /** A grant of the contract that nothing was taken from. */
  grant: '01900000-0000-7000-8000-00000000f007',
  /** A draft whose period is over. */
  draft: '01900000-0000-7000-8000-000000000008',
  key: '01900000-0000-7000-8000-000000000009',
  organization: '01900000-0000-7000-8000-00000000000a',
  endpoint: '01900000-0000-7000-8000-00000000000b',
  delivery: '01900000-0000-7000-8000-00000000000c',
  /** An invoice of the customer that is finalized and not paid; one of another customer that is paid. */
  invoice: '01900000-0000-7000-8000-00000000000d',
  paidInvoice: '01900000-0000-7000-8000-00000000000e',
  /** What nothing depends on, so that it can be archived. */
  freeProduct: '01900000-0000-7000-8000-000000000011',
  freePricing: '01900000-0000-7000-8000-000000000012',
  freeMeter: '01900000-0000-7000-8000-000000000013',
  trainingProduct: '01900000-0000-7000-8000-000000000014',
  event: '01900000-0000-7000-8000-000000000015',
  globexContract: '01900000-0000-7000-8000-00000000000f',
  hooliContract: '01900000-0000-7000-8000-000000000010',
} as const;
