/** Credits of a contract: grants, ledger, balance, corrections (interface 2.8, 4.15, 4.16; semantics 9). */

import * as z from 'zod';

import { limits } from '../limits.ts';
import { exampleIds } from './example-ids.ts';
import {
  cents,
  centsInput,
  contractParams,
  creditsInput,
  dateOrTimestampInput,
  exact,
  limitOf,
  one,
  pathIdOf,
  queryInclude,
  queryInteger,
  referenceTo,
  text,
  timestamp,
  timestampInput,
  uuid,
} from './fields.ts';
import { explainedEntry } from './explanation.ts';
import { ledgerEntry, ledgerEntryColumns, ledgerEntryTypes } from './ledger-entry.ts';
import { verification } from './findings.ts';
import { grantFields } from './grant-fields.ts';
import { findingColumns } from './maintenance.ts';
import { defineOperation } from './define-operation.ts';
import { underRule } from './plain.ts';
import { grantStatuses } from './wire-values.ts';

const grantEntry = z.strictObject({
  ...ledgerEntry.shape,
  purchaseRateCents: cents,
  balanceAfterCents: cents,
  creditBalanceAfter: exact,
  metadata: z.record(z.string(), z.unknown()).nullable(),
});

/** Which usage a grant pays for, `{}` for all; the entry that a reversal undoes. Other entries have neither. */
const origin = {
  paysFor: z.record(z.string(), z.unknown()).optional(),
  reversesEntryId: uuid.optional(),
};

/** What a grant holds of what was granted, and until when. */
const holding = {
  daysUntilExpiry: z.int().nullable(),
  originalCents: cents,
  originalCredits: exact,
  remainingCents: cents,
  remainingCredits: exact,
  creditRateCents: cents,
  currency: z.string(),
  description: z.string(),
  isPromotional: z.boolean(),
  expiresAt: timestamp.nullable(),
  createdAt: timestamp,
};

const contractExample = { contractId: exampleIds.contract };

const entryView = {
  rows: 'data',
  columns: [...ledgerEntryColumns, { header: 'BALANCE', path: 'balanceAfterCents', format: 'money' }],
} as const;

/** Paid grants, adjustments, reversals and settling are for the owner alone: they have no route (semantics 3). */
export const creditOperations = [
  defineOperation({
    name: 'credits.grant',
    summary: 'Grant promotional credits to a contract',
    description:
      'Dollar-only with amountCents, or rated with creditRateCents and creditAmount. The wallet is made when there is none.',
    route: { method: 'POST', path: '/v1/contracts/{contractId}/credits/promotional/grant' },
    scope: 'contracts:write',
    status: 201,
    params: contractParams,
    body: underRule(
      'modes',
      z.strictObject({ expiresAt: timestampInput.describe('Instant at which unused credits lapse.'), ...grantFields }),
    ),
    response: one(grantEntry),
    errors: ['notFound', 'conflict', 'invalidInput'],
    command: { group: 'credits', verb: 'grant', positional: ['contractId'] },
    view: entryView,
    examples: [
      {
        about: '50.00 USD that lapse at the end of the century',
        input: {
          params: contractExample,
          body: {
            amountCents: 5000,
            expiresAt: '2099-12-31T00:00:00Z',
            description: 'Apology for the outage',
            externalId: 'ticket-4711',
          },
        },
      },
      {
        about: '500 credits at 10 cents each',
        input: {
          params: contractExample,
          body: { creditAmount: 500, creditRateCents: 10, expiresAt: '2099-12-31T00:00:00Z' },
        },
      },
    ],
    documented: true,
    movesMoney: true,
    repeatable: { whenGiven: 'externalId' },
  }),
  defineOperation({
    name: 'credits.ledger',
    summary: 'List the ledger entries of a contract, newest first',
    route: { method: 'GET', path: '/v1/contracts/{contractId}/credits/ledger' },
    scope: 'contracts:read',
    status: 200,
    params: contractParams,
    query: z.strictObject({
      type: z.enum(ledgerEntryTypes).optional().describe('Only entries of this type.'),
      createdAfter: dateOrTimestampInput.optional().describe('From this instant, included.'),
      createdBefore: dateOrTimestampInput.optional().describe('Up to this instant, excluded.'),
      limit: limitOf('Maximum number of entries', 'all'),
      offset: queryInteger(0, Number.MAX_SAFE_INTEGER).optional().describe('Entries to skip; 0 when not given.'),
      include: queryInclude(['origin'])
        .optional()
        .describe('origin: also what each grant pays for, and which entry a reversal undoes.'),
    }),
    response: one(z.strictObject({ totalCount: z.int(), entries: z.array(ledgerEntry.extend(origin)) })),
    errors: ['notFound'],
    command: { group: 'credits', verb: 'ledger', positional: ['contractId'] },
    view: {
      rows: 'data.entries',
      columns: ledgerEntryColumns,
      included: {
        origin: [
          { header: 'PAYS FOR', path: 'paysFor' },
          { header: 'UNDOES', path: 'reversesEntryId' },
        ],
      },
    },
    examples: [{ about: 'All movements', input: { params: contractExample } }],
    documented: true,
  }),
  defineOperation({
    name: 'credits.balance',
    summary: 'Show the credit balance of a contract and its grants in burn order',
    route: { method: 'GET', path: '/v1/contracts/{contractId}/credits/balance' },
    scope: 'contracts:read',
    status: 200,
    params: contractParams,
    query: z.strictObject({
      include: queryInclude(['projected'])
        .optional()
        .describe('projected: also what is left after usage that is not settled yet.'),
    }),
    response: one(
      z.strictObject({
        balance: z.strictObject({
          balanceCents: cents,
          creditBalance: exact,
          currency: z.string(),
          blockCount: z.int(),
          asOf: timestamp,
        }),
        blocks: z.array(z.strictObject({ id: uuid, status: z.enum(grantStatuses), priority: z.int(), ...holding })),
        projected: z.strictObject({ balanceCents: cents, creditBalance: exact }).optional(),
      }),
    ),
    errors: ['notFound'],
    command: { group: 'credits', verb: 'balance', positional: ['contractId'] },
    view: {
      rows: 'data.blocks',
      columns: [
        { header: 'GRANT', path: 'id' },
        { header: 'STATUS', path: 'status' },
        { header: 'REMAINING', path: 'remainingCents', format: 'money' },
        { header: 'OF', path: 'originalCents', format: 'money' },
        { header: 'CREDITS', path: 'remainingCredits', format: 'number' },
        { header: 'OF CREDITS', path: 'originalCredits', format: 'number' },
        { header: 'PROMOTIONAL', path: 'isPromotional', format: 'boolean' },
        { header: 'EXPIRES', path: 'expiresAt', format: 'timestamp' },
        { header: 'DESCRIPTION', path: 'description' },
      ],
    },
    examples: [{ about: 'Settled and projected', input: { params: contractExample, query: { include: 'projected' } } }],
    published: true,
  }),
  defineOperation({
    name: 'credits.expiring',
    summary: 'List grants of all contracts that expire soon with something left, earliest expiry first',
    description:
      'Projected is what usage up to now leaves of a grant, settled or not; a grant of which it leaves nothing is not listed. JSON also has what remains by the ledger, as the balance of the contract shows it.',
    route: { method: 'GET', path: '/v1/credits/expiring' },
    scope: 'contracts:read',
    status: 200,
    query: z.strictObject({
      expiresBefore: dateOrTimestampInput
        .optional()
        .describe(`Expiring up to this instant, excluded; ${limits.expiringDays} days from now when not given.`),
      customerId: referenceTo('customers').optional().describe('Only contracts of this customer.'),
      externalCustomerId: referenceTo('externalCustomers')
        .optional()
        .describe('Only contracts of the customer with this id of yours.'),
      limit: limitOf('Maximum number of grants', 'all'),
      offset: queryInteger(0, Number.MAX_SAFE_INTEGER).optional().describe('Grants to skip; 0 when not given.'),
    }),
    response: one(
      z.strictObject({
        expiresBefore: timestamp,
        asOf: timestamp,
        totalCount: z.int(),
        grants: z.array(
          z.strictObject({
            contractId: uuid,
            customerId: uuid,
            grantEntryId: uuid,
            ...holding,
            projected: z.strictObject({ remainingCents: cents, remainingCredits: exact }),
          }),
        ),
      }),
    ),
    errors: ['conflict'],
    command: { group: 'credits', verb: 'expiring' },
    view: {
      rows: 'data.grants',
      columns: [
        { header: 'CONTRACT', path: 'contractId' },
        { header: 'CUSTOMER', path: 'customerId' },
        { header: 'GRANT', path: 'grantEntryId' },
        { header: 'EXPIRES', path: 'expiresAt', format: 'timestamp' },
        { header: 'PROJECTED', path: 'projected.remainingCents', format: 'money' },
        { header: 'PROJECTED CREDITS', path: 'projected.remainingCredits', format: 'number' },
        { header: 'PROMOTIONAL', path: 'isPromotional', format: 'boolean' },
        { header: 'DESCRIPTION', path: 'description' },
      ],
    },
    examples: [
      { about: 'Within 30 days', input: {} },
      {
        about: 'What a customer loses before a day',
        input: { query: { expiresBefore: '2100-01-01', externalCustomerId: 'acme' } },
      },
    ],
  }),
  defineOperation({
    name: 'credits.grantPaid',
    summary: 'Record a paid grant (embedded only)',
    description:
      'Paid credits are not part of the API. The grant is not invoiced: it records a purchase made elsewhere.',
    scope: 'contracts:write',
    status: 201,
    params: contractParams,
    body: underRule(
      'modes',
      z.strictObject({
        expiresAt: timestampInput
          .nullable()
          .optional()
          .describe('Instant at which unused credits lapse; never when not given.'),
        ...grantFields,
      }),
    ),
    response: one(grantEntry),
    errors: ['notFound', 'conflict', 'invalidInput'],
    command: { group: 'credits', verb: 'grant-paid', positional: ['contractId'] },
    view: entryView,
    examples: [
      {
        about: 'A purchase of 1,000.00 USD',
        input: { params: contractExample, body: { amountCents: 100000, externalId: 'wire-2201' } },
      },
    ],
    movesMoney: true,
    repeatable: { whenGiven: 'externalId' },
  }),
  defineOperation({
    name: 'credits.adjust',
    summary: 'Correct the balance of one grant (embedded only)',
    scope: 'contracts:write',
    status: 201,
    params: contractParams,
    body: underRule(
      'adjustment',
      z.strictObject({
        grantEntryId: referenceTo('grants').describe('Grant that is corrected.'),
        amountCents: centsInput(-limits.centsMaximum)
          .optional()
          .describe('Cents to add, or to take away with a minus sign.'),
        creditAmount: creditsInput('other than 0')
          .optional()
          .describe('Credits to add or take away, for a grant that has credits.'),
        description: text(limits.grantDescriptionCharacters).describe('Why; kept in the ledger.'),
      }),
    ),
    response: one(ledgerEntry),
    errors: ['notFound', 'conflict', 'invalidInput'],
    command: { group: 'credits', verb: 'adjust', positional: ['contractId'] },
    view: { rows: 'data', columns: ledgerEntryColumns },
    examples: [
      {
        about: 'Take 5.00 USD back',
        input: {
          params: contractExample,
          body: { grantEntryId: exampleIds.grant, amountCents: -500, description: 'Granted too much' },
        },
      },
    ],
    movesMoney: true,
  }),
  defineOperation({
    name: 'credits.reverse',
    summary: 'Undo one ledger entry (embedded only)',
    description: 'Prepaid credits whose grant is undone before their invoice is finalized are not billed.',
    scope: 'contracts:write',
    status: 201,
    params: contractParams.extend({ entryId: pathIdOf('reversibleEntries').describe('Ledger entry id.') }),
    body: z.strictObject({
      description: text(limits.grantDescriptionCharacters).optional().describe('Why; kept in the ledger.'),
    }),
    response: one(ledgerEntry),
    errors: ['notFound', 'conflict', 'invalidInput'],
    command: { group: 'credits', verb: 'reverse', positional: ['contractId', 'entryId'] },
    view: { rows: 'data', columns: ledgerEntryColumns },
    examples: [
      {
        about: 'Undo a grant of which nothing was used',
        input: { params: { ...contractExample, entryId: exampleIds.grant } },
      },
    ],
    movesMoney: true,
  }),
  defineOperation({
    name: 'credits.settle',
    summary: 'Write the credit movements that usage owes up to now (embedded only)',
    description: 'Idempotent: a second settlement without new usage writes nothing. Also writes what has expired.',
    scope: 'contracts:write',
    status: 200,
    params: contractParams,
    response: one(z.strictObject({ totalCount: z.int(), entries: z.array(ledgerEntry) })),
    errors: ['notFound'],
    command: { group: 'credits', verb: 'settle', positional: ['contractId'] },
    view: { rows: 'data.entries', columns: ledgerEntryColumns },
    examples: [{ about: 'Settle now', input: { params: contractExample } }],
    movesMoney: true,
    repeatable: 'always',
  }),
  defineOperation({
    name: 'credits.explain',
    summary: 'Explain one ledger entry: what it did, to which grant, and why',
    description:
      'A usage entry down to its invoice line and events, a grant with what was drawn from it, others with what they undo or correct.',
    route: { method: 'GET', path: '/v1/credits/entries/{entryId}/explanation' },
    scope: 'contracts:read',
    status: 200,
    params: z.strictObject({ entryId: pathIdOf('entries').describe('Ledger entry id.') }),
    response: one(explainedEntry),
    errors: ['notFound'],
    command: { group: 'credits', verb: 'explain', positional: ['entryId'] },
    view: { ...entryView, rows: 'data.entry', layout: 'entryExplanation' },
    examples: [{ about: 'Where the credits went', input: { params: { entryId: exampleIds.grant } } }],
  }),
  defineOperation({
    name: 'credits.verify',
    summary: 'Verify the books of a contract: every balance, invoice and seal, computed again',
    description:
      'Balances come from entries, invoices from events and frozen prices. Exit code 10 when anything is wrong; what is only worth a look is a warning.',
    route: { method: 'GET', path: '/v1/contracts/{contractId}/credits/verification' },
    scope: 'contracts:read',
    status: 200,
    params: contractParams,
    response: one(verification),
    errors: ['notFound'],
    command: { group: 'credits', verb: 'verify', positional: ['contractId'] },
    view: { rows: 'data.findings', columns: findingColumns, layout: 'findings' },
    examples: [{ about: 'All rules on one contract', input: { params: contractExample } }],
    findings: 'data.findings',
  }),
] as const;
