/** Flags of operations' commands that are not fields of the operation: they act on this machine and are never sent. */

import { exampleIds } from '../../operations/example-ids.ts';
import { processorCustomerIdField } from '../../operations/providers.ts';
import type { GlobalFlag } from './global-flags.ts';
import type { ExampleLine } from './manifest.ts';

export interface LocalFlags {
  readonly flags: readonly GlobalFlag[];
  readonly examples: readonly ExampleLine[];
  /** Other names of fields, by the name of the field. */
  readonly aliases?: Readonly<Record<string, string>>;
}

const fromFlag = {
  name: 'from',
  value: '<file>',
  description: 'run once for each row of this CSV file with a header line, or - for standard input',
} as const satisfies GlobalFlag;

/** For commands whose rows have the command's fields. */
const fromFlagFilling = {
  ...fromFlag,
  description: `${fromFlag.description}; flags set fields that have no column`,
} as const satisfies GlobalFlag;

const bulkFlags = [
  {
    name: 'result',
    goesWith: 'from',
    value: '<file>',
    description: 'with --from: write row, status, id and error of each row to this file',
  },
  { name: 'ignore', goesWith: 'from', value: '<columns>', description: 'with --from: columns to skip' },
  {
    name: 'delimiter',
    goesWith: 'from',
    value: '<character>',
    description: 'with --from: character between columns (a comma when not given)',
  },
  {
    name: 'concurrency',
    goesWith: 'from',
    value: '<number>',
    description: 'with --from: requests at a time (8 when not given)',
  },
] as const satisfies readonly GlobalFlag[];

const sourceFlag = {
  name: 'source',
  goesWith: 'from',
  value: '<name>',
  description: 'with --from: a name for this file; equal rows under another name are different grants',
} as const satisfies GlobalFlag;

/** Of every command that draws a chart. */
export const chartFlags = [
  { name: 'chart', description: 'draw a picture, in plain ASCII on terminals that show no more' },
  { name: 'ascii', goesWith: 'chart', description: 'with --chart: draw with plain ASCII' },
] as const satisfies readonly GlobalFlag[];

const allowZeroFlag = { name: 'allow-zero', description: 'allow a grant of 0.00' } as const satisfies GlobalFlag;

/** By operation. */
export const localFlags: Readonly<Record<string, LocalFlags>> = {
  'credits.grant': {
    flags: [
      { name: 'resume', description: 'send grants of unknown outcome again, under the same ids' },
      allowZeroFlag,
      { name: 'override-policy', value: '<reason>', description: 'override the policy file; the reason is journaled' },
      fromFlagFilling,
      ...bulkFlags,
      sourceFlag,
    ],
    aliases: { description: 'reason' },
    examples: [
      { about: 'Finish what was interrupted', line: 'tally credits grant --resume' },
      {
        about: 'Every row of a file: columns contractId, amountCents and reason',
        line: 'tally credits grant --from grants.csv --expires-at 2099-12-31T00:00:00Z --result granted.csv',
      },
    ],
  },
  'credits.grantPaid': { flags: [allowZeroFlag], examples: [] },
  'credits.adjust': { flags: [], aliases: { description: 'reason' }, examples: [] },
  'credits.reverse': { flags: [], aliases: { description: 'reason' }, examples: [] },
  'customers.create': {
    flags: [fromFlagFilling, ...bulkFlags],
    examples: [
      {
        about: 'Every row of a file: columns name, externalCustomerId, contact.name, contact.email, contact.roles',
        line: 'tally customers create --from customers.csv --result created.csv',
      },
    ],
  },
  'customers.list': {
    flags: [],
    examples: [
      {
        about: 'By a piece of the name, in capitals or not',
        line: `tally customers list --all --jq '.data[] | select(.name | test("corp"; "i")) | [.id, .name]'`,
      },
    ],
  },
  'customers.assignCsm': {
    flags: [fromFlag, ...bulkFlags],
    examples: [
      {
        about: `Every row of a file, 100 in a request: columns ${processorCustomerIdField}, csm.email and csm.name`,
        line: 'tally customers assign-csm --from managers.csv',
      },
    ],
  },
  'credits.ledger': {
    flags: chartFlags,
    examples: [{ about: 'The balance over time', line: `tally credits ledger ${exampleIds.contract} --chart` }],
  },
  'credits.balance': {
    flags: chartFlags,
    examples: [{ about: 'What is left of each grant', line: `tally credits balance ${exampleIds.contract} --chart` }],
  },
  'usage.cost': {
    flags: [
      {
        name: 'by',
        value: '<part>',
        description: 'split it by day, month, or a group key of the meters such as model',
      },
      ...chartFlags,
    ],
    examples: [
      {
        about: 'Day by day, as bars',
        line: `tally usage cost --contract-id ${exampleIds.contract} --start-date 2026-03-01T00:00:00Z --end-date 2026-04-01T00:00:00Z --by day --chart`,
      },
      { about: 'Which model costs what', line: `tally usage cost --contract-id ${exampleIds.contract} --by Model` },
    ],
  },
  'budgets.usage': {
    flags: chartFlags,
    examples: [
      {
        about: 'Bars up to each cap, as a terminal shows them',
        line: `tally budgets usage ${exampleIds.contract} --chart`,
      },
    ],
  },
};
