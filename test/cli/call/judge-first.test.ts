import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { BillingError, UnavailableError } from '../../../src/errors.ts';
import type { Answer } from '../../../src/operations/index.ts';
import { createShell } from '../shell.ts';
import type { Reply } from '../shell.ts';

const env = { TALLY_BASE_URL: 'https://billing.example.com', TALLY_API_KEY: `tally_live_${'b'.repeat(48)}` };
const done = () => ({ body: { data: { id: 'k1', customerId: 'c1' } } as unknown as Answer['body'] });

/** A grant of 10.00 USD to production on a terminal, under a policy. */
async function grant(policy: string, { reply = done, flags = '' }: { reply?: Reply; flags?: string } = {}) {
  const shell = createShell({ reply, env });
  mkdirSync(join(shell.home, 'config'), { recursive: true, mode: 0o700 });
  writeFileSync(join(shell.home, 'config', 'policy.yaml'), policy);
  const line = `credits grant k1 --expires-at 2099-12-31T00:00:00Z --amount-cents 1000 ${flags}`;
  const outcome = await shell.run(line, { isTerminal: true, answers: ['yes'] });
  const sent = shell.calls.filter(({ name }) => name === 'credits.grant').length;
  return { ...outcome, sent };
}

test('nobody is asked to agree to a grant that the policy forbids', async () => {
  const outcome = await grant('grants:\n  per-grant: 5.00\n');
  expect(outcome).toMatchObject({ code: 11, asked: [], sent: 0 });
  expect(outcome.stderr).toContain('per-grant: 10.00 USD is more than 5.00 USD');
  expect(outcome.stderr).not.toContain('PRODUCTION');
});

test('nobody is asked under a policy that is damaged', async () => {
  expect(await grant('grants:\n  per-grnt: 5.00\n')).toMatchObject({ code: 2, asked: [], sent: 0 });
});

test('a grant that goes past the policy, or keeps to it, is asked about', async () => {
  const past = await grant('grants:\n  per-grant: 5.00\n', { flags: "--override-policy 'CFO agreed'" });
  expect(past).toMatchObject({ asked: ['Go on?'], sent: 1 });
  expect(await grant('grants:\n  per-grant: 10.00\n')).toMatchObject({ asked: ['Go on?'], sent: 1 });
});

test('whoever cannot be told what the policy counts is asked, and told by the grant itself', async () => {
  const away = () => {
    throw new UnavailableError('the service does not answer');
  };
  const outcome = await grant('grants:\n  per-customer-and-month: 5.00\n', { reply: away });
  expect(outcome).toMatchObject({ code: 9, asked: ['Go on?'], sent: 0 });
});

test('a grant that the same command finishes counts once against a cap, and so does its dry run', async () => {
  const failures = [new BillingError('network', 'no answer')];
  const shell = createShell({
    env,
    reply: ({ name }) => {
      const failure = name === 'credits.grant' ? failures.pop() : undefined;
      if (failure !== undefined) throw failure;
      return done();
    },
  });
  mkdirSync(join(shell.home, 'config'), { recursive: true, mode: 0o700 });
  writeFileSync(join(shell.home, 'config', 'policy.yaml'), 'grants:\n  per-operator-and-day: 10.00\n');
  const line = 'credits grant k1 --expires-at 2099-12-31T00:00:00Z --amount-cents 1000';
  const asks = { isTerminal: true, answers: ['yes'] };
  expect((await shell.run(line, asks)).code).toBe(9);
  expect((await shell.run(`${line} --dry-run`)).code).toBe(0);
  const { code, asked, stderr } = await shell.run(line, asks);
  expect([code, asked]).toEqual([0, ['Go on?']]);
  expect(stderr).toContain('this finishes the grant begun at');
  expect((await shell.run(line, asks)).stderr).toContain('per-operator-and-day: 10.00 USD were granted by ada');
});

test('nobody is asked to finish a grant that the policy forbids by now', async () => {
  let isAway = true;
  const shell = createShell({
    env,
    reply: () => {
      if (isAway) throw new BillingError('network', 'no answer');
      return done();
    },
  });
  const asks = { isTerminal: true, answers: ['yes'] };
  const line = 'credits grant k1 --expires-at 2099-12-31T00:00:00Z --yes --expect-env production';
  for (const cents of [1000, 200]) await shell.run(`${line} --amount-cents ${cents} --external-id t${cents}`);
  isAway = false;
  mkdirSync(join(shell.home, 'config'), { recursive: true, mode: 0o700 });
  const policy = (text: string) => writeFileSync(join(shell.home, 'config', 'policy.yaml'), text);
  const resume = 'credits grant --resume --json externalId,status,error';

  policy('grants:\n  per-grant: 1.00\n');
  for (const flags of ['', ' --dry-run']) {
    const { code, asked, stdout } = await shell.run(`${resume}${flags}`, asks);
    expect([code, asked]).toEqual([10, []]);
    expect(JSON.parse(stdout)).toEqual([
      { externalId: 't1000', status: 'failed', error: expect.stringContaining('per-grant: 10.00 USD is more than') },
      { externalId: 't200', status: 'failed', error: expect.stringContaining('per-grant: 2.00 USD is more than') },
    ]);
  }
  policy('grants:\n  per-grant: 5.00\n');
  const { code, asked, stdout, stderr } = await shell.run(resume, asks);
  expect([code, asked]).toEqual([10, ['Go on?']]);
  expect(JSON.parse(stdout)).toMatchObject([{ status: 'failed' }, { status: 'done' }]);
  expect(stderr).toContain('(t200)');
  expect(stderr).not.toContain('(t1000)');
  expect((await shell.run(`${resume} --override-policy 'CFO agreed'`, asks)).stdout).toContain('"done"');
});
