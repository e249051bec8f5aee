import { describe, expect, test } from 'vitest';

import type { Answer } from '../../../src/operations/index.ts';
import { createShell } from '../shell.ts';

const body = (value: unknown): Partial<Answer> => ({ body: value as Answer['body'] });

describe('an entry that was there already', () => {
  const grant = 'credits grant k1 --amount-cents 500 --expires-at 2099-01-01T02:00:00+02:00 --external-id t1';
  const entry = { id: 'e1', amountCents: 500, expiresAt: '2099-01-01T00:00:00.000Z' };

  test('is printed, with a note, when it is what was asked for', async () => {
    const shell = createShell({ reply: () => ({ ...body({ data: entry }), isReplay: true, mismatches: [] }) });
    const outcome = await shell.run(`${grant} -o name`);
    expect(outcome).toMatchObject({ code: 0, stdout: 'e1\n' });
    expect(outcome.stderr).toBe('this entry already exists: nothing was created\n');
  });

  test('is a conflict when the service says that it differs', async () => {
    const shell = createShell({
      reply: () => ({ ...body({ data: entry }), isReplay: true, mismatches: ['description'] }),
    });
    const { code, stdout, stderr } = await shell.run(grant);
    expect([code, stdout]).toEqual([7, '']);
    expect(stderr).toContain(
      'an entry with this externalId exists and differs in description: nothing was created (entry e1)',
    );
  });

  test('is a conflict when it differs and the service says nothing', async () => {
    const shell = createShell({ reply: () => body({ data: { ...entry, amountCents: 900 } }) });
    const { code, stderr } = await shell.run(grant);
    expect(code).toBe(7);
    expect(stderr).toContain('differs in amountCents:');
  });

  test.each([
    ['999999999999.000001', '999999999999.000002', 7],
    ['999999999999.000001', '999999999999', 7],
    ['1.5', '1.500000', 0],
    ['1000', '1e3', 0],
  ])('of %s credits is compared with one of %s to the last digit', async (asked, found, code) => {
    const credits = JSON.rawJSON(found);
    const shell = createShell({ reply: () => body({ data: { id: 'e1', creditAmount: credits, creditRateCents: 1 } }) });
    const words = `--credit-rate-cents 1 --credit-amount ${asked} --expires-at 2099-01-01T00:00:00Z --external-id t1`;
    expect((await shell.run(`credits grant k1 ${words}`)).code).toBe(code);
  });

  test('is of this command itself where nobody else can know its id: an answer was lost on the way', async () => {
    const shell = createShell({ reply: () => ({ ...body({ data: entry }), isReplay: true, mismatches: [] }) });
    const outcome = await shell.run(`${grant.replace(' --external-id t1', '')} -o name`);
    expect(outcome).toMatchObject({ code: 0, stdout: 'e1\n', stderr: '' });
    expect((await shell.run('journal list --json state')).stdout).toMatch(/"done"[^]*"begun"/);
  });

  test('is of this command itself after a try whose answer was lost, unless it differs or was sent before', async () => {
    const found = { ...body({ data: entry }), isReplay: true, followsOpenTry: true } as const;
    const mismatches: string[] = [];
    const shell = createShell({ reply: () => ({ ...found, mismatches }) });
    expect(await shell.run(`${grant} -o name`)).toMatchObject({ code: 0, stdout: 'e1\n', stderr: '' });
    expect((await shell.run(`${grant} -o name`)).stderr).toContain('this entry already exists');
    mismatches.push('description');
    expect((await shell.run(grant.replace('t1', 't2'))).code).toBe(7);
    const states = (await shell.run('journal list --columns state')).stdout.split('\n');
    expect(states).toEqual(['repeated', 'begun', 'repeated', 'begun', 'done', 'begun', '']);
  });

  test('is none when only the spelling of an instant differs', async () => {
    expect((await createShell({ reply: () => body({ data: entry }) }).run(grant)).code).toBe(0);
  });
});
