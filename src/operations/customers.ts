/** Customers, their contacts, pauses and customer success managers (interface 4.1 to 4.4). */

import * as z from 'zod';

import { limits } from '../limits.ts';
import { countryCodes } from './countries.ts';
import { crossRules } from './cross-rules.ts';
import { exampleIds } from './example-ids.ts';
import {
  date,
  dateInput,
  emailInput,
  id,
  listOf,
  one,
  page,
  pathIdOf,
  referenceTo,
  text,
  timestamp,
  uuid,
} from './fields.ts';
import { defineOperation } from './define-operation.ts';
import type { View } from './operation.ts';
import { underRule } from './plain.ts';
import { processorCustomerIdField, providers } from './providers.ts';

/** Interface 2.2. Only contacts with `accounts_payable` are shown as billing contacts. */
export const contactRoles = ['accounts_payable', 'primary', 'signatory', 'csm', 'account_manager', 'other'] as const;
export type ContactRole = (typeof contactRoles)[number];
/** Interface 4.1. */
export const paymentMethodTypes = ['card', 'us_bank_account'] as const;

const customer = z.strictObject({
  id: uuid,
  name: z.string(),
  legalName: z.string().nullable(),
  tags: z.array(z.string()),
  isPaused: z.boolean(),
  pausedAt: timestamp.nullable(),
  pausedUntil: date.nullable(),
  metadata: z.strictObject({ externalCustomerId: z.string().nullable(), externalCompanyIds: z.array(z.string()) }),
  externalIds: z
    .array(z.strictObject({ provider: z.enum(Object.values(providers)), entityType: z.literal('customer'), id }))
    .optional(),
  billingContacts: z
    .array(z.strictObject({ name: z.string(), email: z.string(), phone: z.string().nullable() }))
    .optional(),
  createdAt: timestamp,
  updatedAt: timestamp,
});

const contactInput = z.strictObject({
  name: text().describe('Full name.'),
  email: emailInput,
  roles: z.array(z.enum(contactRoles)).min(1).max(contactRoles.length).describe('What the contact is for.'),
  emailRecipientType: z.enum(['to', 'cc', 'bcc']).default('to').describe('How invoice emails reach the contact.'),
});

const billingAddressInput = z.strictObject({
  address1: text(),
  address2: text().optional(),
  city: text(),
  region: text().describe('State, province or region code.'),
  postalCode: text(20),
  country: z
    .string()
    .regex(/^[A-Za-z]{2}$/, 'must be an ISO 3166-1 alpha-2 code such as US')
    .transform((code) => code.toUpperCase())
    .refine((code) => countryCodes.has(code), 'must be an ISO 3166-1 alpha-2 code such as US')
    .describe('ISO 3166-1 alpha-2 code.'),
});

const billingAddress = z.strictObject({
  address1: z.string(),
  address2: z.string().optional(),
  city: z.string(),
  region: z.string(),
  postalCode: z.string(),
  country: z.string(),
});

const tags = z.array(text(limits.tagCharacters)).max(limits.tags);
const processor = z.literal(providers.paymentProcessor1).describe('Payment processor; goes with paymentProviderId.');
const paymentMethodType = z.enum(paymentMethodTypes).describe('Kind of the payment method; goes with paymentMethodId.');

const customerView: View = {
  rows: 'data',
  columns: [
    { header: 'ID', path: 'id' },
    { header: 'NAME', path: 'name' },
    { header: 'EXTERNAL ID', path: 'metadata.externalCustomerId' },
    { header: 'TAGS', path: 'tags', format: 'list' },
    { header: 'PAUSED', path: 'isPaused', format: 'boolean' },
    { header: 'CREATED', path: 'createdAt', format: 'timestamp' },
  ],
};

const customerParams = z.strictObject({ customerId: pathIdOf('customers').describe('Customer id.') });
const customerExample = { customerId: exampleIds.customer };

/** Interface 4.1 to 4.4; the list, pause and resume are semantics 3, the billing address our choice. */
export const customerOperations = [
  defineOperation({
    name: 'customers.create',
    summary: 'Create a customer',
    route: { method: 'POST', path: '/v1/customers' },
    scope: 'customers:write',
    status: 201,
    body: underRule(
      'links',
      z.strictObject({
        name: text().describe('Display name.'),
        contacts: z
          .array(contactInput)
          .min(1)
          .max(limits.contacts)
          .meta({ flag: 'contact' })
          .describe('Contacts; at least one.'),
        legalName: text().optional().describe('Registered business name.'),
        externalCustomerId: text(limits.externalIdCharacters).optional().describe('Your own id of the customer.'),
        paymentProviderId: text(limits.externalIdCharacters)
          .optional()
          .describe("The payment processor's id of the customer."),
        provider: processor.optional(),
        tags: tags.meta({ flag: 'tag' }).optional().describe('Labels.'),
        billingAddress: billingAddressInput
          .optional()
          .describe('Billing address; required where the organization collects sales tax.'),
        paymentMethodId: text(limits.externalIdCharacters)
          .optional()
          .describe('Default payment method at the processor.'),
        paymentMethodType: paymentMethodType.optional(),
      }),
    ),
    response: one(customer),
    errors: ['conflict', 'invalidInput'],
    command: { group: 'customers', verb: 'create' },
    view: customerView,
    examples: [
      {
        about: 'A customer with one contact for invoices',
        input: {
          body: {
            name: 'Stark Industries',
            externalCustomerId: 'stark',
            contacts: [{ name: 'Ada Lovelace', email: 'ada@stark.example', roles: ['accounts_payable', 'primary'] }],
          },
        },
      },
    ],
    documented: true,
  }),
  defineOperation({
    name: 'customers.get',
    summary: 'Show one customer',
    route: { method: 'GET', path: '/v1/customers/{customerId}' },
    scope: 'customers:read',
    status: 200,
    params: customerParams,
    response: one(customer),
    errors: ['notFound'],
    command: { group: 'customers', verb: 'get', positional: ['customerId'] },
    view: customerView,
    examples: [{ about: 'One customer', input: { params: customerExample } }],
    documented: true,
  }),
  defineOperation({
    name: 'customers.list',
    summary: 'List customers, newest first',
    route: { method: 'GET', path: '/v1/customers' },
    scope: 'customers:read',
    status: 200,
    query: z.strictObject({
      externalCustomerId: referenceTo('externalCustomers')
        .optional()
        .describe('Only the customer with this id of yours.'),
      ...page(),
    }),
    response: listOf(customer),
    errors: [],
    command: { group: 'customers', verb: 'list' },
    view: customerView,
    examples: [
      { about: 'The newest customers', input: {} },
      { about: 'By your own id', input: { query: { externalCustomerId: 'acme' } } },
    ],
    published: true,
  }),
  defineOperation({
    name: 'customers.billingAddress',
    summary: 'Show the billing address of a customer',
    description: 'Null where there is none.',
    route: { method: 'GET', path: '/v1/customers/{customerId}/billing-address' },
    scope: 'customers:read',
    status: 200,
    params: customerParams,
    response: one(billingAddress.nullable()),
    errors: ['notFound'],
    command: { group: 'customers', verb: 'billing-address', positional: ['customerId'] },
    view: {
      rows: 'data',
      columns: [
        { header: 'ADDRESS', path: 'address1' },
        { header: 'ADDRESS 2', path: 'address2' },
        { header: 'CITY', path: 'city' },
        { header: 'REGION', path: 'region' },
        { header: 'POSTAL CODE', path: 'postalCode' },
        { header: 'COUNTRY', path: 'country' },
      ],
    },
    examples: [{ about: 'Where invoices go', input: { params: customerExample } }],
  }),
  defineOperation({
    name: 'customers.update',
    summary: 'Change a customer',
    description:
      'Only the given fields change. Null clears legalName, externalCustomerId, paymentProviderId with provider, and paymentMethodId.',
    route: { method: 'PATCH', path: '/v1/customers/{customerId}' },
    scope: 'customers:write',
    status: 200,
    params: customerParams,
    body: z
      .strictObject({
        name: text().optional().describe('Display name.'),
        legalName: text().nullable().optional().describe('Registered business name.'),
        tags: tags.meta({ flag: 'tag' }).optional().describe('Labels; they replace the existing ones.'),
        externalCustomerId: text(limits.externalIdCharacters)
          .nullable()
          .optional()
          .describe('Your own id of the customer.'),
        paymentProviderId: text(limits.externalIdCharacters)
          .nullable()
          .optional()
          .describe("The payment processor's id of the customer."),
        provider: processor.nullable().optional(),
        paymentMethodId: text(limits.externalIdCharacters)
          .nullable()
          .optional()
          .describe('Default payment method at the processor.'),
        paymentMethodType: paymentMethodType.nullable().optional(),
      })
      .superRefine((input, context) => {
        crossRules.links(input, context);
        crossRules.change(input, context);
      })
      .meta({ minProperties: 1 }),
    response: one(customer),
    errors: ['notFound', 'conflict', 'invalidInput'],
    command: { group: 'customers', verb: 'update', positional: ['customerId'] },
    view: customerView,
    examples: [
      {
        about: 'Another name and other tags',
        input: { params: customerExample, body: { name: 'Acme Ltd', tags: ['enterprise', 'eu'] } },
      },
    ],
    documented: true,
  }),
  defineOperation({
    name: 'customers.pause',
    summary: 'Stop sending invoices to a customer',
    description: 'Drafts, finalization and credits go on. Pausing again only changes the end date.',
    route: { method: 'POST', path: '/v1/customers/{customerId}/pause' },
    scope: 'customers:write',
    status: 200,
    params: customerParams,
    body: z.strictObject({
      until: dateInput
        .nullable()
        .optional()
        .describe('Sending resumes at 00:00 UTC of this date; without one it waits for resume.'),
    }),
    response: one(customer),
    errors: ['notFound', 'invalidInput'],
    command: { group: 'customers', verb: 'pause', positional: ['customerId'] },
    view: customerView,
    examples: [{ about: 'Until a date', input: { params: customerExample, body: { until: '2099-12-31' } } }],
    repeatable: 'always',
  }),
  defineOperation({
    name: 'customers.resume',
    summary: 'Send invoices to a customer again',
    route: { method: 'POST', path: '/v1/customers/{customerId}/resume' },
    scope: 'customers:write',
    status: 200,
    params: customerParams,
    response: one(customer),
    errors: ['notFound'],
    command: { group: 'customers', verb: 'resume', positional: ['customerId'] },
    view: customerView,
    examples: [{ about: 'Resume now', input: { params: customerExample } }],
    repeatable: 'always',
  }),
  defineOperation({
    name: 'customers.assignCsm',
    summary: 'Assign customer success managers by processor customer id',
    description:
      'Other imported managers of a matched customer become unreachable; contacts made by hand are kept. Unknown ids are reported as not_found.',
    route: { method: 'POST', path: '/v1/customers/csm-assignments' },
    scope: 'customers:write',
    status: 200,
    body: z.strictObject({
      assignments: z
        .array(
          z.strictObject({
            [processorCustomerIdField]: text(limits.externalIdCharacters).describe(
              "The payment processor's id of the customer.",
            ),
            csm: z.strictObject({
              email: emailInput,
              name: text().optional().describe('The part of the email before @ when not given.'),
            }),
          }),
        )
        .min(1)
        .max(limits.assignmentsPerRequest)
        .meta({ flag: 'assignment' })
        .describe(`1 to ${limits.assignmentsPerRequest} assignments, applied in order.`),
    }),
    response: one(
      z.strictObject({
        updated: z.int(),
        notFound: z.int(),
        results: z.array(
          z.strictObject({
            [processorCustomerIdField]: z.string(),
            status: z.enum(['updated', 'not_found']),
            customerId: uuid.optional(),
            csmContactId: uuid.optional(),
            demotedCount: z.int().optional(),
          }),
        ),
      }),
    ),
    errors: ['invalidInput'],
    command: { group: 'customers', verb: 'assign-csm' },
    view: {
      rows: 'data.results',
      columns: [
        { header: 'PROCESSOR CUSTOMER', path: processorCustomerIdField },
        { header: 'STATUS', path: 'status' },
        { header: 'CUSTOMER', path: 'customerId' },
        { header: 'CONTACT', path: 'csmContactId' },
        { header: 'DEMOTED', path: 'demotedCount', format: 'number' },
      ],
    },
    examples: [
      {
        about: 'One manager',
        input: {
          body: {
            assignments: [
              { [processorCustomerIdField]: 'cus_100', csm: { email: 'grace@example.com', name: 'Grace Hopper' } },
            ],
          },
        },
      },
    ],
    documented: true,
    repeatable: 'always',
  }),
] as const;
