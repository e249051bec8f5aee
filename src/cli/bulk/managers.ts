/** Customer success managers from a file, as many assignments per request as it takes. */

import { BillingError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import { loadOperation } from '../../operations/index.ts';
import type { Billing } from '../../operations/index.ts';
import { parseInput } from '../../operations/parse.ts';
import { processorCustomerIdField } from '../../operations/providers.ts';
import type { CommandSpec, FlagSpec } from '../command-line/manifest.ts';
import { valueAt, wireText } from '../wire/rows.ts';
import { counted } from '../terminal/safe-text.ts';
import type { RowOutcome, Unit } from './apply.ts';
import type { BulkKind } from './kind.ts';
import type { BulkRow, Problem } from './rows.ts';

export const managers: BulkKind = {
  rowCommand: assignmentCommand,
  async plan(rows) {
    return {
      problems: await problemsOf(rows),
      summary: { words: counted(rows.length, 'assignment') },
      unitsFor: (billing) => unitsOf(rows, billing),
    };
  },
};

/** A command whose body is one assignment. */
function assignmentCommand(command: CommandSpec): CommandSpec {
  const list = command.flags.find(({ kind }) => kind === 'objects');
  const flags = Object.entries(list?.fields ?? {}).map(([name, shape]): FlagSpec => ({
    ...shape,
    flag: name,
    in: 'body',
    name,
    placeholder: 'text',
    description: '',
  }));
  return { ...command, flags };
}

async function problemsOf(rows: readonly BulkRow[]): Promise<Problem[]> {
  const operation = await loadOperation('customers.assignCsm');
  const problems: Problem[] = [];
  for (const { line, input } of rows) {
    try {
      parseInput(operation, { body: { assignments: [input.body] } });
    } catch (error) {
      if (!(error instanceof BillingError)) throw error;
      problems.push({ line, message: error.message.replaceAll('assignments[0].', '') });
    }
  }
  return problems;
}

/**
 * Rows of one customer go into one request as far as they fit, and always into one unit, whose requests are sent one after the
 * other: of two sent at the same time, either could come last.
 */
function unitsOf(rows: readonly BulkRow[], billing: Billing): Unit[] {
  const most = limits.assignmentsPerRequest;
  const parts: BulkRow[][] = [];
  for (const own of Map.groupBy(rows, customerOf).values()) {
    const last = parts.at(-1);
    if (last !== undefined && last.length + own.length <= most) last.push(...own);
    else parts.push(own);
  }
  return parts.map((part) => unitOf(part, billing));
}

/** Sent again, it continues after the requests that were answered. */
function unitOf(rows: readonly BulkRow[], billing: Billing): Unit {
  const answered: RowOutcome[] = [];
  const most = limits.assignmentsPerRequest;
  return {
    lines: rows.map(({ line }) => line),
    answered,
    async send() {
      while (answered.length < rows.length) {
        answered.push(...(await assign(rows.slice(answered.length, answered.length + most), billing)));
      }
      return answered;
    },
  };
}

function customerOf({ input }: BulkRow): string {
  return idIn(input.body);
}

function idIn(record: unknown): string {
  return wireText(valueAt(record, processorCustomerIdField)).normalize('NFC');
}

/** Results are told apart by their ids: nothing promises that they come in the order of the rows, nor that each row has one. */
async function assign(rows: readonly BulkRow[], billing: Billing): Promise<readonly RowOutcome[]> {
  const assignments = rows.map(({ input }) => input.body);
  const { body } = await billing.call('customers.assignCsm', { body: { assignments } });
  const { results } = body.data;
  return rows.map((row): RowOutcome => {
    const { line } = row;
    const result = results.find((each) => idIn(each) === customerOf(row));
    if (result?.status === 'updated') return { line, status: 'done', id: result.customerId ?? '', error: '' };
    if (result?.status === 'not_found') {
      return { line, status: 'failed', id: '', error: 'no customer has this id at the payment processor' };
    }
    return { line, status: 'unknown', id: '', error: 'the answer does not say what became of this row' };
  });
}
