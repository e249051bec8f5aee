/** Invoices: reading, finalization and payment (interface 2.3, 4.5, 4.6; semantics 7). */

import * as z from 'zod';

import { limits } from '../limits.ts';
import { exampleIds } from './example-ids.ts';
import {
  cents,
  date,
  dateInput,
  dateOrTimestampInput,
  exact,
  listOf,
  one,
  page,
  pathIdOf,
  queryInclude,
  referenceTo,
  timestamp,
  uuid,
} from './fields.ts';
import { explainedInvoice } from './explanation.ts';
import { ledgerEntry, ledgerEntryColumns } from './ledger-entry.ts';
import { defineOperation } from './define-operation.ts';
import type { Operation, View } from './operation.ts';

/** Interface 3.1; which may follow which is semantics 7. */
export const invoiceStatuses = ['Drafted', 'In Progress', 'In Transit', 'Paid', 'Cancelled', 'Refunded'] as const;
export type InvoiceStatus = (typeof invoiceStatuses)[number];

const lineItem = z.strictObject({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  quantity: exact,
  unitPriceCents: cents,
  totalAmountCents: cents,
  unitPrice: z.string(),
  totalAmount: z.string(),
  servicePeriod: z.strictObject({ start: timestamp, end: timestamp }),
});

const invoice = z.strictObject({
  id: uuid,
  invoiceNumber: z.string(),
  customerId: uuid,
  contractId: uuid,
  status: z.enum(invoiceStatuses),
  invoiceDate: date,
  dueDate: date,
  totalCents: cents,
  memo: z.string().optional(),
  latestPaymentDate: date.optional(),
  paymentLink: z.string().optional(),
  externalIds: z.array(z.strictObject({ provider: z.string(), entityType: z.literal('invoice'), id: z.string() })),
  createdAt: timestamp,
  updatedAt: timestamp,
  lineItems: z.array(lineItem).optional(),
  /** What it covers: its first day, and the first day after it. */
  period: z.strictObject({ start: date, end: date }).optional(),
});

const include = queryInclude(['lineItems', 'period'])
  .optional()
  .describe('lineItems: also the lines. period: also the dates that it covers.');

const view: View = {
  rows: 'data',
  columns: [
    { header: 'ID', path: 'id' },
    { header: 'NUMBER', path: 'invoiceNumber' },
    { header: 'STATUS', path: 'status' },
    { header: 'DATE', path: 'invoiceDate', format: 'date' },
    { header: 'DUE', path: 'dueDate', format: 'date' },
    { header: 'TOTAL', path: 'totalCents', format: 'money' },
    { header: 'CUSTOMER', path: 'customerId' },
  ],
  parts: {
    lineItems: [
      { header: 'NAME', path: 'name' },
      { header: 'DESCRIPTION', path: 'description' },
      { header: 'QUANTITY', path: 'quantity', format: 'number' },
      { header: 'UNIT USD', path: 'unitPrice', format: 'number' },
      { header: 'AMOUNT', path: 'totalAmountCents', format: 'money' },
      { header: 'START', path: 'servicePeriod.start', format: 'date' },
      { header: 'END', path: 'servicePeriod.end', format: 'date' },
    ],
  },
  included: {
    lineItems: [{ header: 'LINE ITEMS', path: 'lineItems', format: 'count' }],
    period: [
      { header: 'PERIOD START', path: 'period.start', format: 'date', beside: 'period.end' },
      { header: 'PERIOD END', path: 'period.end', format: 'date' },
    ],
  },
};

const invoiceParams = z.strictObject({ invoiceId: pathIdOf('invoices').describe('Invoice id.') });
const invoiceExample = { invoiceId: exampleIds.invoice };

const shared = {
  scope: 'invoices:write',
  status: 200,
  params: invoiceParams,
  response: one(invoice),
  view,
  tellsRepetition: true,
} as const satisfies Partial<Operation>;

/** Interface 4.5 and 4.6; moving an invoice on and its credit report are semantics 3, its explanation our choice. */
export const invoiceOperations = [
  defineOperation({
    name: 'invoices.list',
    summary: 'List invoices, newest first',
    description: 'Amounts of drafts are calculated when they are read.',
    route: { method: 'GET', path: '/v1/invoices' },
    scope: 'invoices:read',
    status: 200,
    query: z.strictObject({
      customerId: referenceTo('customers').optional().describe('Only invoices of this customer.'),
      status: z.enum(invoiceStatuses).optional().describe('Only invoices of this status.'),
      createdAfter: dateOrTimestampInput.optional().describe('Created from this instant, included.'),
      createdBefore: dateOrTimestampInput.optional().describe('Created up to this instant, excluded.'),
      include,
      ...page(),
    }),
    response: listOf(invoice),
    errors: [],
    command: { group: 'invoices', verb: 'list' },
    view,
    examples: [{ about: 'Drafts', input: { query: { status: 'Drafted' } } }],
    documented: true,
  }),
  defineOperation({
    name: 'invoices.get',
    summary: 'Show one invoice',
    route: { method: 'GET', path: '/v1/invoices/{invoiceId}' },
    scope: 'invoices:read',
    status: 200,
    params: invoiceParams,
    query: z.strictObject({ include }),
    response: one(invoice),
    errors: ['notFound'],
    command: { group: 'invoices', verb: 'get', positional: ['invoiceId'] },
    view,
    examples: [
      { about: 'One invoice with its lines', input: { params: invoiceExample, query: { include: 'lineItems' } } },
    ],
    documented: true,
  }),
  defineOperation({
    ...shared,
    name: 'invoices.finalize',
    summary: 'Finalize a draft: meter, rate, apply credits, number and freeze it',
    description: `Refused before ${limits.finalizationGraceHours}:00 UTC of the invoice date; where time is simulated, before that date. An invoice of 0.00 is paid at once.`,
    route: { method: 'POST', path: '/v1/invoices/{invoiceId}/finalize' },
    errors: ['notFound', 'conflict'],
    command: { group: 'invoices', verb: 'finalize', positional: ['invoiceId'] },
    examples: [{ about: 'Finalize a draft', input: { params: { invoiceId: exampleIds.draft } } }],
    movesMoney: true,
    repeatable: 'always',
  }),
  defineOperation({
    ...shared,
    name: 'invoices.send',
    summary: 'Send a finalized invoice that waits to be sent',
    route: { method: 'POST', path: '/v1/invoices/{invoiceId}/send' },
    errors: ['notFound', 'conflict'],
    command: { group: 'invoices', verb: 'send', positional: ['invoiceId'] },
    examples: [{ about: 'Send it', input: { params: invoiceExample } }],
    repeatable: 'always',
  }),
  defineOperation({
    ...shared,
    name: 'invoices.pay',
    summary: 'Record a payment: begun, failed or paid',
    route: { method: 'POST', path: '/v1/invoices/{invoiceId}/payments' },
    body: z.strictObject({
      status: z.enum(['initiated', 'failed', 'paid']).default('paid').describe('What happened.'),
      date: dateInput.optional().describe('Day of the payment; today when not given.'),
    }),
    errors: ['notFound', 'conflict', 'invalidInput'],
    command: { group: 'invoices', verb: 'pay', positional: ['invoiceId'] },
    examples: [{ about: 'Paid', input: { params: invoiceExample, body: { status: 'paid' } } }],
    movesMoney: true,
    repeatable: 'always',
  }),
  defineOperation({
    ...shared,
    name: 'invoices.cancel',
    summary: 'Cancel a draft, or void an invoice that is not paid',
    description:
      'Credits that were taken for it go back to their grants; what is left of prepaid credits that it bills is taken back. What it billed, usage included, goes on no other invoice.',
    route: { method: 'POST', path: '/v1/invoices/{invoiceId}/cancel' },
    errors: ['notFound', 'conflict'],
    command: { group: 'invoices', verb: 'cancel', positional: ['invoiceId'] },
    examples: [{ about: 'Void it', input: { params: invoiceExample } }],
    movesMoney: true,
    repeatable: 'always',
  }),
  defineOperation({
    ...shared,
    name: 'invoices.refund',
    summary: 'Refund a paid invoice in full',
    route: { method: 'POST', path: '/v1/invoices/{invoiceId}/refund' },
    body: z.strictObject({
      date: dateInput.optional().describe('Day of the refund, not before the invoice date; checked, but not kept.'),
      restoreCredits: z.boolean().default(false).describe('Also give the credits back to their grants.'),
    }),
    errors: ['notFound', 'conflict', 'invalidInput'],
    command: { group: 'invoices', verb: 'refund', positional: ['invoiceId'] },
    examples: [
      {
        about: 'Refund, credits too',
        input: { params: { invoiceId: exampleIds.paidInvoice }, body: { restoreCredits: true } },
      },
    ],
    movesMoney: true,
    repeatable: 'always',
  }),
  defineOperation({
    name: 'invoices.creditReport',
    summary: 'Show the credits that were applied to an invoice',
    route: { method: 'GET', path: '/v1/invoices/{invoiceId}/credit-report' },
    scope: 'invoices:read',
    status: 200,
    params: invoiceParams,
    response: one(
      z.strictObject({
        invoiceId: uuid,
        entries: z.array(ledgerEntry),
        summary: z.strictObject({ totalCredits: exact, totalCents: cents, entryCount: z.int() }),
      }),
    ),
    errors: ['notFound'],
    command: { group: 'invoices', verb: 'credit-report', positional: ['invoiceId'] },
    view: { rows: 'data.entries', columns: ledgerEntryColumns },
    examples: [{ about: 'Credits of an invoice', input: { params: invoiceExample } }],
    published: true,
  }),
  defineOperation({
    name: 'invoices.explain',
    summary: 'Trace each cent of an invoice: events, quantity, price, rounding, credits',
    description:
      'Drafts are explained as they stand now, finalized invoices as they were frozen, compared with what events and prices give.',
    route: { method: 'GET', path: '/v1/invoices/{invoiceId}/explanation' },
    scope: 'invoices:read',
    status: 200,
    params: invoiceParams,
    response: one(explainedInvoice),
    errors: ['notFound'],
    command: { group: 'invoices', verb: 'explain', positional: ['invoiceId'] },
    view: {
      rows: 'data.lines',
      columns: [
        { header: 'KIND', path: 'kind' },
        { header: 'NAME', path: 'name' },
        { header: 'DESCRIPTION', path: 'description' },
        { header: 'EVENTS', path: 'usage.eventCount', format: 'number' },
        { header: 'QUANTITY', path: 'quantity', format: 'number' },
        { header: 'EXACT USD', path: 'exactAmount', format: 'number' },
        { header: 'TOTAL', path: 'totalAmountCents', format: 'money' },
        { header: 'CREDITS', path: 'creditCents', format: 'money' },
      ],
      layout: 'invoiceExplanation',
    },
    examples: [{ about: 'Where every cent comes from', input: { params: invoiceExample } }],
  }),
] as const;
