/**
 * The time of a database and what falls due with it, never offered over the API (semantics 3, Platform). These operations
 * work on the whole database: each instant with work is a transaction of its own.
 */

import * as z from 'zod';

import { ruleIssue } from './cross-rules.ts';
import { cents, date, dateOrTimestampInput, one, timestamp, uuid } from './fields.ts';
import { defineOperation } from './define-operation.ts';
import type { View } from './operation.ts';

/** At most five digits each, so that no sum of them leaves the calendar. */
const isoDuration =
  /^P(?=\d|T)(?:\d{1,5}Y)?(?:\d{1,5}M)?(?:\d{1,5}W)?(?:\d{1,5}D)?(?:T(?=\d)(?:\d{1,5}H)?(?:\d{1,5}M)?(?:\d{1,5}S)?)?$/;
const shortDuration = /^(\d{1,5})([hdwy])$/;

/** Calendar time as ISO 8601 writes it (`P1M`), or whole hours, days, weeks or years (`30d`). Comes out as ISO 8601. */
const durationInput = z
  .string()
  .max(60)
  .transform((value) => value.replace(shortDuration, (_all, count: string, unit: string) => isoOf(count, unit)))
  .refine((value) => isoDuration.test(value) && /[1-9]/.test(value), {
    error: 'must be a duration above 0 such as P1M, P1Y2M, PT12H, 30d, 12h, 2w or 1y',
  })
  .meta({ type: 'string', format: 'duration' });

function isoOf(count: string, unit: string): string {
  return unit === 'h' ? `PT${count}H` : `P${count}${unit.toUpperCase()}`;
}

const clockFields = {
  now: timestamp,
  /** Whether time stands still until it is advanced. */
  isSimulated: z.boolean(),
};

const finalized = z.strictObject({
  organizationId: uuid,
  id: uuid,
  invoiceNumber: z.string(),
  contractId: uuid,
  customerId: uuid,
  invoiceDate: date,
  totalCents: cents,
});

const failure = z.strictObject({
  organizationId: uuid,
  contractId: uuid.optional(),
  customerId: uuid.optional(),
  message: z.string(),
});

const runFields = {
  finalizedCount: z.int(),
  /** The sum of the finalized invoices. */
  totalCents: cents,
  draftedCount: z.int(),
  expiredGrantCount: z.int(),
  resumedCustomerCount: z.int(),
  endedContractCount: z.int(),
  failedCount: z.int(),
  /** The first thousand finalized invoices, in the order of finalization. */
  invoices: z.array(finalized),
  /** The first thousand things that could not be done; the next run tries them again. */
  failures: z.array(failure),
};

const runColumns = [
  { header: 'FINALIZED', path: 'finalizedCount', format: 'number' },
  { header: 'TOTAL', path: 'totalCents', format: 'money' },
  { header: 'DRAFTED', path: 'draftedCount', format: 'number' },
  { header: 'EXPIRED', path: 'expiredGrantCount', format: 'number' },
  { header: 'RESUMED', path: 'resumedCustomerCount', format: 'number' },
  { header: 'ENDED', path: 'endedContractCount', format: 'number' },
  { header: 'FAILED', path: 'failedCount', format: 'number' },
] as const;
const clockColumns = [
  { header: 'NOW', path: 'now', format: 'timestamp' },
  { header: 'SIMULATED', path: 'isSimulated', format: 'boolean' },
] as const;
const nextDueColumn = { header: 'NEXT DUE', path: 'nextDueAt', format: 'timestamp' } as const;
const clockView: View = { rows: 'data', columns: [...clockColumns, nextDueColumn] };
const invoiceColumns = [
  { header: 'ID', path: 'id' },
  { header: 'NUMBER', path: 'invoiceNumber' },
  { header: 'CONTRACT', path: 'contractId' },
  { header: 'DATE', path: 'invoiceDate', format: 'date' },
  { header: 'TOTAL', path: 'totalCents', format: 'money' },
] as const;
const failureColumns = [
  { header: 'CONTRACT', path: 'contractId' },
  { header: 'CUSTOMER', path: 'customerId' },
  { header: 'WHY', path: 'message' },
] as const;
const movedView: View = {
  rows: 'data',
  columns: [...clockColumns, ...runColumns],
  parts: { invoices: invoiceColumns, failures: failureColumns },
};
/** On a terminal the counts stand above the list. */
const runView: View = { rows: 'data.invoices', columns: invoiceColumns, parts: { failures: failureColumns } };

const shownClock = z.strictObject({
  ...clockFields,
  /** When something falls due next; null when nothing does. In the past for what waits for a bill run. */
  nextDueAt: timestamp.nullable(),
});
const movedClock = z.strictObject({ ...clockFields, ...runFields });

/** Time, bill runs and the dropping of events: administration, so none has a route. */
export const clockOperations = [
  defineOperation({
    name: 'clock.show',
    summary: 'Show the time of this database, and when something falls due next',
    scope: '*',
    status: 200,
    response: one(shownClock),
    errors: [],
    command: { group: 'clock', verb: 'show' },
    view: clockView,
    examples: [{ about: 'What time it is', input: {} }],
    readOnly: true,
  }),
  defineOperation({
    name: 'clock.advance',
    summary: 'Let time pass, and do everything that falls due on the way, each at its instant',
    description:
      'The clock is simulated from then on. One step of a year gives the same books as 365 steps of a day. When interrupted, the clock stands at the instant that was reached: go on with --to.',
    scope: '*',
    status: 200,
    body: z
      .strictObject({
        by: durationInput.optional().describe('For how long, in calendar time of UTC: P1M, 30d, 12h, 2w, 1y.'),
        to: dateOrTimestampInput.optional().describe('Until when instead: a date (00:00 UTC) or a date-time.'),
      })
      .superRefine(({ by, to }, context) => {
        if ((by === undefined) !== (to === undefined)) return;
        context.addIssue(ruleIssue(['by'], 'exactly one of by and to is required'));
      }),
    response: one(movedClock),
    errors: ['conflict', 'invalidInput'],
    command: { group: 'clock', verb: 'advance' },
    view: movedView,
    examples: [
      { about: 'A month passes', input: { body: { by: 'P1M' } } },
      { about: 'To the end of the year', input: { body: { to: '2027-01-01' } } },
    ],
    movesMoney: true,
    findings: 'data.failures',
  }),
  defineOperation({
    name: 'clock.set',
    summary: 'Simulate the time of this database, from an instant on',
    description:
      'An empty database can begin at any instant. Once it has records, time only goes forward, and what falls due on the way is done, as by clock advance.',
    scope: '*',
    status: 200,
    body: z.strictObject({
      to: dateOrTimestampInput.describe('The instant: a date (00:00 UTC) or a date-time.'),
    }),
    response: one(movedClock),
    errors: ['conflict', 'invalidInput'],
    command: { group: 'clock', verb: 'set' },
    view: movedView,
    examples: [{ about: 'Begin in summer', input: { body: { to: '2026-07-01' } } }],
    movesMoney: true,
    findings: 'data.failures',
  }),
  defineOperation({
    name: 'clock.reset',
    summary: 'Go back to the real clock, once it has caught up',
    scope: '*',
    status: 200,
    response: one(shownClock),
    errors: ['conflict'],
    command: { group: 'clock', verb: 'reset' },
    view: clockView,
    examples: [{ about: 'Real time again', input: {} }],
    repeatable: 'always',
  }),
  defineOperation({
    name: 'bill.run',
    summary: 'Do what has fallen due: finalize invoices, expire grants, draft periods, end pauses and contracts',
    description:
      'Invoices are finalized from 12:00 UTC of their date on; where time is simulated, from that date on. Can be repeated and interrupted at any time: what was done stays done, the rest is done by the next run. With --dry-run everything is done and nothing is kept.',
    scope: '*',
    status: 200,
    body: z.strictObject({
      until: dateOrTimestampInput.optional().describe('Only what was due by then; now when not given.'),
      allOrganizations: z.boolean().optional().describe('For every organization of this database.'),
      rehearse: z.boolean().optional().describe('Show what would be done, and keep none of it.'),
    }),
    response: one(z.strictObject({ until: timestamp, isRehearsal: z.boolean(), ...runFields })),
    errors: ['invalidInput'],
    command: { group: 'bill', verb: 'run' },
    view: runView,
    examples: [
      { about: 'What is due now', input: { body: {} } },
      { about: 'Invoices up to those of March', input: { body: { until: '2026-04-01T12:00:00Z' } } },
    ],
    movesMoney: true,
    repeatable: 'always',
    rehearsal: 'rehearse',
    findings: 'data.failures',
  }),
  defineOperation({
    name: 'events.drop',
    summary: 'Drop events that are billed, for good',
    description:
      'For events in a separate database (--events). Refused while an invoice that is not finalized needs one of them. What meters read of billed periods is kept: invoices, budgets, costs of whole periods and doctor say the same as before; events behind it cannot be shown any more, and what comes from before that time is refused. Events that no contract bills go as well. After an interruption, repeat the command to go on.',
    scope: '*',
    status: 200,
    body: z.strictObject({
      before: dateOrTimestampInput.describe('Events from before this instant: a date (00:00 UTC) or a date-time.'),
      rehearse: z.boolean().optional().describe('Show how much would be dropped, and drop nothing.'),
    }),
    response: one(
      z.strictObject({
        before: timestamp,
        isRehearsal: z.boolean(),
        /** How many events there were from before the instant. */
        eventCount: z.int(),
        /** Contracts with usage from before it, and their periods of usage that are kept as they were metered. */
        contractCount: z.int(),
        windowCount: z.int(),
      }),
    ),
    errors: ['conflict', 'invalidInput'],
    command: { group: 'events', verb: 'drop' },
    view: {
      rows: 'data',
      columns: [
        { header: 'BEFORE', path: 'before', format: 'timestamp' },
        { header: 'EVENTS', path: 'eventCount', format: 'number' },
        { header: 'CONTRACTS', path: 'contractCount', format: 'number' },
        { header: 'PERIODS', path: 'windowCount', format: 'number' },
      ],
    },
    examples: [{ about: 'Those of before this year', input: { body: { before: '2026-01-01' } } }],
    movesMoney: true,
    repeatable: 'always',
    rehearsal: 'rehearse',
    destroys: true,
  }),
] as const;
