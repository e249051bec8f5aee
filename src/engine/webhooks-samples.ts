/** A made-up resource for each type of event, so that a receiver can be tried before anything happens. */

import { draftNumberOf, legalNumberOf } from '../operations/invoice-number.ts';
import { currency, type WebhookEventType } from '../operations/wire-values.ts';
import type { WebhookData } from './webhooks-emit.ts';

const sampleId = (number: number): string => `00000000-0000-7000-8000-00000000000${number}`;
const customerId = sampleId(1);
const contractId = sampleId(2);

/** The data of a sample event: the form of the real thing, with ids that name nothing. */
export function sampleData(type: WebhookEventType, timestamp: string): WebhookData {
  return samples[type](timestamp);
}

const invoice = (timestamp: string): WebhookData => ({
  id: sampleId(3),
  invoiceNumber: draftNumberOf('00000000'),
  customerId,
  contractId,
  status: 'Drafted',
  invoiceDate: timestamp.slice(0, 10),
  dueDate: timestamp.slice(0, 10),
  totalCents: 12_500,
  externalIds: [],
  createdAt: timestamp,
  updatedAt: timestamp,
});

const contract = (timestamp: string): WebhookData => ({
  id: contractId,
  customerId,
  planId: sampleId(4),
  name: 'Sample customer - Sample plan',
  startDate: timestamp.slice(0, 10),
  isActive: true,
  createdAt: timestamp,
  metadata: {},
});

const customer = (timestamp: string): WebhookData => ({
  id: customerId,
  name: 'Sample customer',
  legalName: null,
  tags: [],
  isPaused: false,
  pausedAt: null,
  pausedUntil: null,
  metadata: { externalCustomerId: null, externalCompanyIds: [] },
  createdAt: timestamp,
  updatedAt: timestamp,
  externalIds: [],
  billingContacts: [{ name: 'Sample contact', email: 'billing@customer.example', phone: null }],
});

const balance = { contractId, customerId, currency };

const samples: Readonly<Record<WebhookEventType, (timestamp: string) => WebhookData>> = {
  'invoice.created': invoice,
  'invoice.updated': (timestamp) => ({
    ...invoice(timestamp),
    invoiceNumber: legalNumberOf(0n),
    status: 'In Progress',
  }),
  'contract.created': contract,
  'contract.updated': contract,
  'contract.terminated': (timestamp) => ({ ...contract(timestamp), isActive: false }),
  'customer.created': customer,
  'customer.updated': customer,
  'credit.threshold_crossed': () => ({ ...balance, thresholdCents: 10_000, balanceCents: 9_500, creditBalance: 950 }),
  'credit.balance_depleted': () => ({ ...balance, balanceCents: 0, creditBalance: 0 }),
  'credit.budget.exhausted': () => ({
    contractId,
    customerId,
    budget: {
      index: 0,
      label: 'model=large',
      eventPropertyKey: 'model',
      eventPropertyValue: 'large',
      meterId: null,
      maxCredits: null,
      maxCreditsCents: 50_000,
      isExhausted: true,
    },
    consumedUnits: 0,
    consumedCents: 50_010,
  }),
};
