/**
 * The form of a scenario file. Entries sent to the service have the fields of their operation; our own fields say who, when
 * and what is expected.
 */

import { Big } from 'big.js';
import * as z from 'zod';

import { isExactNumber } from '../../exact-json.ts';
import type { ExactNumber } from '../../exact-json.ts';
import { limits } from '../../limits.ts';
import { allOperations, operations } from '../../operations/all.ts';
import { dateInput, dateOrTimestampInput, integerInput, text } from '../../operations/fields.ts';
import { ledgerEntryTypes } from '../../operations/ledger-entry.ts';
import { changesState } from '../../operations/operation.ts';
import type { Operation } from '../../operations/operation.ts';
import { ruleIssue } from '../../operations/cross-rules.ts';
import { webhookEventTypes } from '../../operations/wire-values.ts';
import { catalogFile, digits, jsonSchema } from '../catalog/file-schema.ts';
import { importFormats } from '../import/input.ts';

const { externalCustomerId, name, contacts, ...customerFields } = operations['customers.create'].body.shape;
const {
  planId: _plan,
  customerId: _customer,
  startDate,
  ...contractFields
} = operations['contracts.create'].body.shape;
const grantFields = operations['credits.grant'].body.shape;
const budgetFields = operations['budgets.add'].body.shape;

const customerId = text().describe('The customer, by its id in this file.');
const contractId = text().describe('The contract, by its id in this file.');
const instant = (words: string) => dateOrTimestampInput.optional().describe(`${words} A date is its 00:00 UTC.`);

const customerEntry = z.strictObject({
  id: externalCustomerId.unwrap().describe('What the customer is called in this file; its externalCustomerId.'),
  name: name.optional().describe('Display name; the id when not given.'),
  contacts: contacts.optional().describe('Contacts; one is made up when not given.'),
  ...customerFields,
});

const contractEntry = z.strictObject({
  id: text().optional().describe("What the contract is called in this file; the customer's id when not given."),
  customer: customerId,
  plan: text().describe('Plan of the catalog, by its externalId or name.'),
  at: instant('When it is made; at the start when not given.'),
  startDate: startDate.optional().describe('First day of service; the day of the start when not given.'),
  ...contractFields,
});

const grantEntry = z.strictObject({
  contract: contractId,
  at: instant('When it is granted; at the start when not given.'),
  isPaid: z.boolean().optional().describe('true for credits that were bought elsewhere; promotional when not given.'),
  ...grantFields,
});

const budgetEntry = z.strictObject({
  contract: contractId,
  at: instant('When it is added; at the start when not given.'),
  ...budgetFields,
});

const signedDecimalForm = /^-?\d{1,15}(?:\.\d{1,9})?$/;
const property = z.union(
  [
    z.string(),
    z.boolean(),
    z.custom<ExactNumber>(isExactNumber).meta({ type: 'number' }),
    z.strictObject({
      oneOf: z
        .union([z.array(z.string()).min(1), z.record(z.string(), integerInput(1, 1_000_000))])
        .describe('A list of texts, all equally often, or texts with whole numbers as their weights.'),
    }),
    z
      .strictObject({
        from: digits(signedDecimal(), {}).describe('The least, included.'),
        to: digits(signedDecimal(), {}).describe('The most, included.'),
        decimals: integerInput(0, 9).optional().describe('Digits after the point; none when not given.'),
      })
      .superRefine(({ from, to, decimals = 0 }, context) => {
        // A bound that is not a decimal is reported already, and cannot be compared.
        if (!signedDecimalForm.test(from) || !signedDecimalForm.test(to)) return;
        if (new Big(from).gt(to)) context.addIssue(ruleIssue(['to'], `must be ${from} or more`));
        else if (new Big(to).minus(from).times(new Big(10).pow(decimals)).gt(limits.simulatedValues)) {
          context.addIssue(ruleIssue(['to'], `leaves more than ${limits.simulatedValues} values to choose from`));
        }
      }),
  ],
  { error: 'must be a value, or {oneOf: …}, or {from: …, to: …}' },
);

function signedDecimal() {
  return z.string().regex(signedDecimalForm, 'must be a decimal such as 12.50');
}

/** Both kinds in one form, so that a refusal names the field that is wrong. */
const usageEntry = z
  .strictObject({
    customer: customerId.optional().describe('Customer of every event, by its id in this file.'),
    eventName: text().optional().describe('Name of every event.'),
    contract: contractId.optional().describe('Contract to bill; found automatically when not given.'),
    perDay: digits(z.string().regex(/^\d{1,7}(?:\.\d{1,6})?$/, 'must be a number such as 40 or 0.5'), {})
      .optional()
      .describe('Events a day, made up: at instants and with properties that follow from the seed.'),
    from: instant('First instant of made-up usage; the start when not given.'),
    to: instant('First instant without usage; the end when not given.'),
    properties: z.record(z.string(), property).optional().describe('Properties of made-up events.'),
    file: text()
      .optional()
      .describe(
        'Or events of a file: CSV, JSON lines or CloudEvents, beside this one. They name customers and contracts by the ids of this one.',
      ),
    format: z
      .enum(importFormats)
      .optional()
      .describe('Format of the file; recognized by its name or first character when not given.'),
    delimiter: z
      .string()
      .length(1)
      .optional()
      .describe('Character between the columns of a CSV file; a comma when not given.'),
    eventNameColumn: text().optional().describe('Column with the name of the event.'),
    customerColumn: text().optional().describe('Column with the id of the customer.'),
    timestamp: text()
      .optional()
      .describe('Column with the time of the event; the one called timestamp when not given.'),
    timeZone: text().optional().describe('Zone of timestamps that carry no offset; UTC when not given.'),
    property: z.array(text()).optional().describe('Columns that become properties: name=column, or a column.'),
    set: z.array(text()).optional().describe('Properties with the same value on every event: name=value.'),
    keyColumn: text().optional().describe('Column that identifies a row; its content when not given.'),
  })
  .superRefine((entry, context) => {
    const isFile = entry.file !== undefined;
    if (isFile === (entry.perDay !== undefined)) {
      return context.addIssue(ruleIssue([], 'takes either perDay or file'));
    }
    const others = isFile ? generatorAlone : fileAlone;
    for (const field of others.filter((each) => entry[each] !== undefined)) {
      context.addIssue(ruleIssue([field], `cannot be given with ${isFile ? 'file' : 'perDay'}`));
    }
    if (isFile) return;
    for (const field of ['customer', 'eventName'] as const) {
      if (entry[field] === undefined) context.addIssue(ruleIssue([field], 'is required'));
    }
  });
const generatorAlone = ['from', 'to', 'properties'] as const;
const fileAlone = [
  'format',
  'delimiter',
  'eventNameColumn',
  'customerColumn',
  'timestamp',
  'timeZone',
  'property',
  'set',
  'keyColumn',
] as const;

/** Excludes the clock's commands: only the simulation moves time. */
const commandsThat = (isMeant: (operation: Operation) => boolean) =>
  allOperations
    .filter((operation) => operation.command.group !== 'clock' && isMeant(operation))
    .map(({ command }) => `${command.group} ${command.verb}`);
const command = z.enum(commandsThat(() => true));
const question = z.enum(commandsThat((operation) => !changesState(operation)));
const fields = z.record(z.string(), z.unknown());

const stepEntry = z.strictObject({
  at: dateOrTimestampInput.describe('When. A date is its 00:00 UTC.'),
  do: command.describe('The command, by its words.'),
  with: fields.optional().describe('Its ids and fields by name. $contracts.ID and the like stand for ids.'),
  as: z
    .string()
    .regex(/^[A-Za-z][\w-]*$/, 'must be a word')
    .optional()
    .describe('Name of the answer: $steps.NAME.data.id stands for a part of it.'),
});

const value = z
  .custom<unknown>((given) => given === null || ['string', 'boolean'].includes(typeof given) || isExactNumber(given), {
    error: 'must be text, a number, a boolean or null',
  })
  .meta({ type: ['string', 'number', 'boolean', 'null'] as never });

const subjects = {
  invoice: z
    .strictObject({
      customer: customerId.optional(),
      contract: contractId.optional(),
      period: dateInput.describe('First day of the billing period.'),
    })
    .refine(
      (given) => (given.customer === undefined) !== (given.contract === undefined),
      'takes a customer or a contract',
    )
    .optional()
    .describe('What the invoice of a period comes to in cents, cancelled ones left out.'),
  balance: contractId.optional().describe('Cents that the wallet has left after all usage so far, settled or not.'),
  budget: z
    .strictObject({ contract: contractId, label: text().describe('Its label: key=value when it has none of its own.') })
    .optional()
    .describe('The instant at which a budget was found to be exhausted; null when it was not.'),
  entries: z
    .strictObject({ contract: contractId, type: z.enum(ledgerEntryTypes).optional() })
    .optional()
    .describe('How many entries the ledger has.'),
  events: z
    .strictObject({ type: z.enum(webhookEventTypes), contract: contractId.optional() })
    .optional()
    .describe('How many events of a type were sent.'),
  call: question.optional().describe('What a command answers, at a path.'),
} as const;
export type Subject = keyof typeof subjects;

const comparisons = {
  equals: value.optional().describe('What it must be; a date stands for any instant of its day.'),
  between: z.tuple([value, value]).optional().describe('The least and the most that it may be, both included.'),
  atLeast: value.optional(),
  atMost: value.optional(),
} as const;

const expectEntry = z
  .strictObject({
    ...subjects,
    with: fields.optional().describe('Ids and fields of the command of call.'),
    path: text().optional().describe('Another part of the answer, such as data.status.'),
    at: instant('When it must hold; at the end when not given.'),
    ...comparisons,
  })
  .superRefine((entry, context) => {
    const given = (names: object) => Object.keys(names).filter((each) => entry[each as Subject] !== undefined);
    if (given(subjects).length !== 1) {
      context.addIssue(ruleIssue([], `takes exactly one of ${Object.keys(subjects).join(', ')}`));
    }
    if (given(comparisons).length !== 1) {
      context.addIssue(ruleIssue([], `takes exactly one of ${Object.keys(comparisons).join(', ')}`));
    }
    const isCall = entry.call !== undefined;
    if (!isCall && entry.with !== undefined) context.addIssue(ruleIssue(['with'], 'works only with call'));
    if (isCall && entry.path === undefined) context.addIssue(ruleIssue(['path'], 'is required with call'));
    if ((entry.entries ?? entry.events) !== undefined && entry.path !== undefined) {
      context.addIssue(ruleIssue(['path'], 'cannot be given for a count'));
    }
  });

export const sections = {
  customers: customerEntry,
  contracts: contractEntry,
  grants: grantEntry,
  budgets: budgetEntry,
  usage: usageEntry,
  steps: stepEntry,
  expect: expectEntry,
} as const;
export type Section = keyof typeof sections;

export const scenarioFile = z
  .strictObject({
    name: text().optional().describe('What the scenario is about; the name of the file when not given.'),
    seed: integerInput(0, 999_999_999).optional().describe('Other made-up usage; 1 when not given.'),
    start: dateOrTimestampInput.describe('Where the clock begins. A date is its 00:00 UTC.'),
    until: dateOrTimestampInput.describe('Where it stops.'),
    resolution: z
      .enum(['PT1M', 'PT1H', 'P1D'])
      .optional()
      .describe(
        'Usage within one such span arrives together, so alerts are only as exact as this. P1D when not given.',
      ),
    catalog: z
      .union([text(), catalogFile], { error: 'must be the path of a catalog file, or its sections' })
      .optional()
      .describe('A catalog file, by its path from this file, or its sections here.'),
    customers: z.array(customerEntry).optional().describe('Customers.'),
    contracts: z.array(contractEntry).optional().describe('Contracts: who has which plan from when.'),
    grants: z.array(grantEntry).optional().describe('Credit grants.'),
    budgets: z.array(budgetEntry).optional().describe('Budgets.'),
    usage: z.array(usageEntry).optional().describe('Usage, made up or from files.'),
    steps: z.array(stepEntry).optional().describe('Anything else that is done, at its instant.'),
    expect: z.array(expectEntry).optional().describe('What must come of it.'),
  })
  .meta({
    title: 'tallybook scenario',
    description: 'A simulation: who buys what, uses what, and what must come of it.',
  });

export type ScenarioFile = z.output<typeof scenarioFile>;
export type Entry<S extends Section> = z.output<(typeof sections)[S]>;

/** The JSON Schema by which editors check a scenario, ending in a line end. */
export function scenarioJsonSchema(): string {
  return `${JSON.stringify(jsonSchema(scenarioFile), undefined, 2)}\n`;
}
