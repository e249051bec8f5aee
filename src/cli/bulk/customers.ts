/** Customers from a file: each by its own external id, so that repeating the file creates nobody twice. */

import { BillingError, ConflictError } from '../../errors.ts';
import type { Billing } from '../../operations/index.ts';
import { loadOperation } from '../../operations/index.ts';
import { parseInput } from '../../operations/parse.ts';
import { valueAt } from '../wire/rows.ts';
import { counted, say } from '../terminal/safe-text.ts';
import type { RowOutcome, Unit } from './apply.ts';
import type { BulkKind } from './kind.ts';
import { problemOf } from './rows.ts';
import type { BulkRow, Problem } from './rows.ts';

export const customers: BulkKind = {
  async plan(rows) {
    return {
      problems: await problemsOf(rows),
      summary: { words: counted(rows.length, 'customer') },
      unitsFor: (billing) => rows.map((row) => unitOf(row, billing)),
      noteOfRepeated: (known) => say`there already, and left as they are: ${counted(known, 'customer')}`,
    };
  },
};

async function problemsOf(rows: readonly BulkRow[]): Promise<Problem[]> {
  const operation = await loadOperation('customers.create');
  const lines = new Map<string, number>();
  const problems: Problem[] = [];
  for (const row of rows) {
    const { line, input } = row;
    try {
      const { body } = parseInput(operation, input);
      const { externalCustomerId } = body;
      if (externalCustomerId === undefined) {
        throw new BillingError('usage', 'externalCustomerId: is required, so that no customer is created twice');
      }
      const twin = lines.get(externalCustomerId);
      if (twin !== undefined) throw new BillingError('usage', `externalCustomerId: the same as in line ${twin}`);
      lines.set(externalCustomerId, line);
    } catch (error) {
      problems.push(problemOf(error, row));
    }
  }
  return problems;
}

function unitOf(row: BulkRow, billing: Billing): Unit {
  return { lines: [row.line], send: async () => [await create(row, billing)] };
}

async function create(row: BulkRow, billing: Billing): Promise<RowOutcome> {
  const { line, input } = row;
  try {
    const { body } = await billing.call('customers.create', input);
    return { line, status: 'done', id: body.data.id, error: '' };
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    return await earlierOne(row, billing, error);
  }
}

/** The customer that an earlier run created; one with another name is somebody else. */
async function earlierOne({ line, input }: BulkRow, billing: Billing, conflict: ConflictError): Promise<RowOutcome> {
  const externalCustomerId = String(valueAt(input.body, 'externalCustomerId'));
  const { body } = await billing.call('customers.list', { query: { externalCustomerId } });
  const [found] = body.data;
  const name = String(valueAt(input.body, 'name')).normalize('NFC');
  if (found?.name === name) return { line, status: 'repeated', id: found.id, error: '' };
  return { line, status: 'failed', id: found?.id ?? '', error: conflict.message };
}
