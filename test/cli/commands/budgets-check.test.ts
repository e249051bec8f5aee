import { describe, expect, test } from 'vitest';

import type { Answer } from '../../../src/operations/index.ts';
import { createShell } from '../shell.ts';

const budget = (label: string, percentConsumed: number, isExhausted: boolean) => ({
  index: 0,
  label,
  eventPropertyKey: 'model',
  eventPropertyValue: label,
  meterId: null,
  maxCredits: null,
  maxCreditsCents: 1000,
  isExhausted,
  consumedUnits: 0,
  consumedCents: percentConsumed * 10,
  percentConsumed,
});
const answering = (...budgets: readonly object[]) =>
  createShell({
    reply: () => ({
      body: {
        data: { budgets, contractId: 'k1', walletMode: 'dollars', queriedAt: '2026-03-01T00:00:00.000Z' },
      } as unknown as Answer['body'],
    }),
  });

describe('tally budgets check', () => {
  test('asks what budgets have consumed, prints it, and ends with 10 where one is exhausted', async () => {
    const shell = answering(budget('small', 79.9, false), budget('large', 100, true));
    const { code, stdout, stderr } = await shell.run('budgets check k1 --columns label,percentConsumed');
    expect([code, stdout]).toEqual([10, 'small\t79.9\nlarge\t100\n']);
    expect(stderr).toBe('tally: 1 of 2 budgets is exhausted; the first: large, 100 %\n');
    expect(shell.calls).toEqual([{ name: 'budgets.usage', input: { params: { contractId: 'k1' } } }]);
  });

  test.each([
    ['', 0],
    ['--at 79.9', 10],
    ['--at 79.91', 0],
    ['--at 200', 0],
  ])('of one that has come to 79.9 %%, with "%s", ends with %i', async (flag, code) => {
    expect((await answering(budget('small', 79.9, false)).run(`budgets check k1 ${flag}`)).code).toBe(code);
  });

  test('of a contract without budgets ends with 0', async () => {
    expect(await answering().run('budgets check k1')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'there are none\n',
    });
  });

  test.each(['--at 0', '--at -1', '--at 1e3', '--at soon', '-o name', '--columns nope', ''])(
    'is refused before anything is asked: %s',
    async (flag) => {
      const shell = answering();
      const line = flag === '' ? 'budgets check' : `budgets check k1 ${flag}`;
      expect([(await shell.run(line)).code, shell.calls]).toEqual([2, []]);
    },
  );
});
