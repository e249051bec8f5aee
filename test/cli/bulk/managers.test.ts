/** Which assignments of managers are sent together. */

import { describe, expect, test } from 'vitest';

import { managers } from '../../../src/cli/bulk/managers.ts';
import type { BulkRow } from '../../../src/cli/bulk/rows.ts';
import { UnavailableError } from '../../../src/errors.ts';
import type { Billing } from '../../../src/operations/index.ts';
import type { CallInput } from '../../../src/operations/operation.ts';

/** One row for each id, from line 2 on. */
function rowsOf(ids: readonly string[]): BulkRow[] {
  return ids.map((stripeCustomerId, index) => ({
    line: index + 2,
    input: { body: { stripeCustomerId, csm: { email: `m${index}@example.com` } } },
    ownMembers: new Set(['stripeCustomerId', 'csm']),
  }));
}

async function linesOf(ids: readonly string[]): Promise<readonly (readonly number[])[]> {
  const options = {} as Parameters<typeof managers.plan>[1];
  const plan = await managers.plan(rowsOf(ids), options);
  expect(plan.problems).toEqual([]);
  return plan
    .unitsFor({ call: async () => await Promise.reject(new Error('nothing is sent')) })
    .map(({ lines }) => lines);
}

const others = Array.from({ length: 150 }, (_, index) => `cus_${index}`);

describe('assignments of a file', () => {
  test('go by the hundred', async () => {
    expect((await linesOf(others)).map(({ length }) => length)).toEqual([100, 50]);
  });

  test('of one customer go together in their order, so that the last row decides', async () => {
    const units = await linesOf(['cus_\u00e9', ...others, 'cus_e\u0301']);
    expect(units.map((lines) => [lines.length, lines.includes(2), lines.includes(153)])).toEqual([
      [100, true, true],
      [52, false, false],
    ]);
    expect(units[0]?.indexOf(153)).toBe(1);
  });

  test('of one customer that are more than a request takes go one behind the other, and on where they failed', async () => {
    const sent: number[] = [];
    let failures = 0;
    const billing = {
      async call(_name: string, { body }: CallInput = {}) {
        const { assignments } = body as { assignments: readonly unknown[] };
        if (sent.length === 1 && failures === 0) {
          failures += 1;
          throw new UnavailableError('later');
        }
        sent.push(assignments.length);
        const results = assignments.map(() => ({ stripeCustomerId: 'cus_x', status: 'updated', customerId: 'c' }));
        return await Promise.resolve({ status: 200, body: { data: { results } } });
      },
    } as unknown as Billing;
    const rows = rowsOf(Array.from({ length: 230 }, () => 'cus_x'));
    const [unit, ...more] = (await managers.plan(rows, {} as Parameters<typeof managers.plan>[1])).unitsFor(billing);
    expect(more).toEqual([]);
    await expect(unit?.send()).rejects.toThrow('later');
    expect((await unit?.send())?.map(({ line }) => line)).toEqual(rows.map(({ line }) => line));
    expect(sent).toEqual([100, 100, 30]);
  });

  test('end as the result with their id says, wherever it stands, and are unknown without one', async () => {
    const results = [
      { stripeCustomerId: 'cus_2', status: 'not_found' },
      { stripeCustomerId: 'cus_1', status: 'updated', customerId: 'c1' },
      { stripeCustomerId: 'cus_\u00e9', status: 'updated', customerId: 'c2' },
    ];
    const answer = { status: 200, body: { data: { updated: 2, notFound: 1, results } } };
    const billing = { call: async () => await Promise.resolve(answer) } as unknown as Billing;
    const rows = rowsOf(['cus_1', 'cus_2', 'cus_3', 'cus_1', 'cus_e\u0301']);
    const [unit] = (await managers.plan(rows, {} as Parameters<typeof managers.plan>[1])).unitsFor(billing);
    const ended = (await unit?.send())?.map(({ line, status, id }) => `${line} ${status} ${id}`).toSorted();
    expect(ended).toEqual(['2 done c1', '3 failed ', '4 unknown ', '5 done c1', '6 done c2']);
  });
});
