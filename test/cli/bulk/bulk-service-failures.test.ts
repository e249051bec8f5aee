/** Work from a file at a service that fails. */

import { beforeEach, describe, expect, test } from 'vitest';

import { BillingError, UnsentError } from '../../../src/errors.ts';
import type { Answer, Billing } from '../../../src/operations/index.ts';
import { createShell } from '../shell.ts';

const never = async () => await new Promise<void>(() => undefined);

describe('a service that fails', () => {
  const rows = [
    'name,externalCustomerId,contact',
    ...Array.from({ length: 40 }, (_, index) => `C${index},c${index},"name=A,email=a@b.example,roles=primary"`),
  ];
  const input = `${rows.join('\n')}\n`;
  let calls = 0;
  beforeEach(() => {
    calls = 0;
  });
  const failing = (kind: 'network' | 'unavailable' | 'unauthorized' | 'notOffered' | 'invalidInput') =>
    createShell({
      dependencies: { untilStopped: never },
      reply: () => {
        calls += 1;
        throw new BillingError(kind, 'no', { retryAfterSeconds: 0, answeredStatus: 503, requestId: 'r1' });
      },
    });
  const line = 'customers create --from - --yes --concurrency 1';

  test.each([
    // The first row is sent again five times, and the next four once, since the service was out of reach before them.
    ['network', 9, '40\t0\t0\t0\t5\t35\n', 10],
    ['unavailable', 9, '40\t0\t0\t0\t5\t35\n', 10],
    ['unauthorized', 3, '40\t0\t0\t1\t0\t39\n', 1],
    ['notOffered', 12, '40\t0\t0\t1\t0\t39\n', 1],
    ['invalidInput', 10, '40\t0\t0\t40\t0\t0\n', 40],
  ] as const)('with %s ends with %i', async (kind, code, stdout, tries) => {
    expect(await failing(kind).run(line, { input })).toMatchObject({ code, stdout });
    expect(calls).toBe(tries);
  });

  const soon = { retryAfterSeconds: 0, answeredStatus: 503 };
  test.each([
    ['may have done a row', 'unauthorized', new BillingError('network', 'no', soon), 3, '0\t1\t39'],
    ['may have done a row', 'notFound', new BillingError('network', 'no', soon), 10, '39\t1\t0'],
    ['may have done a row', 'notOffered', new BillingError('network', 'no', soon), 12, '0\t1\t39'],
    ['may have done a row', 'badRequest', new BillingError('network', 'no', soon), 10, '39\t1\t0'],
    ['never got a row', 'unauthorized', new UnsentError('no', soon), 3, '1\t0\t39'],
  ] as const)('that %s, and then refuses it with %s, has that told', async (_what, kind, first, code, counts) => {
    const shell = createShell({
      dependencies: { untilStopped: never },
      reply: () => {
        calls += 1;
        throw calls === 1 ? first : new BillingError(kind, 'no');
      },
    });
    expect(await shell.run(line, { input })).toMatchObject({ code, stdout: `40\t0\t0\t${counts}\n` });
  });

  test('that refuses the key says what to do about that before the job goes on, and keeps the id of the request', async () => {
    const { stderr } = await failing('unauthorized').run(`${line} -o json`, { input });
    expect(JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '').error).toMatchObject({
      requestId: 'r1',
      hint: 'check the key of the profile with: tally profile check; then repeat the command to go on: no row is done twice',
    });
  });

  test.each([
    ['invalidInput', 10, '230\t100\t0\t130\t0\t0\n', '130 of 230 rows failed; the others are done'],
    ['forbidden', 6, '230\t100\t0\t130\t0\t0\n', 'no'],
    ['internal', 10, '230\t100\t0\t0\t130\t0\n', '130 of 230 rows may be done or not; the others are done'],
  ] as const)('with %s keeps what it has answered of rows that go one behind the other', async (...expected) => {
    const [kind, code, stdout, words] = expected;
    const shell = createShell({
      dependencies: { untilStopped: never },
      reply: ({ input: { body } }) => {
        calls += 1;
        if (calls > 1) throw new BillingError(kind, 'no');
        const { assignments } = body as { assignments: readonly unknown[] };
        const results = assignments.map(() => ({ stripeCustomerId: 'cus_1', status: 'updated', customerId: 'c' }));
        return { body: { data: { results } } } as unknown as Answer;
      },
    });
    const own = `stripeCustomerId,csm.email\n${'cus_1,grace@example.com\n'.repeat(230)}`;
    const ended = await shell.run('customers assign-csm --from - --yes', { input: own });
    expect(ended).toMatchObject({ code, stdout });
    expect(ended.stderr).toContain('line 102: no\n');
    expect(ended.stderr).not.toContain('line 101:');
    expect(ended.stderr).toContain(`\ntally: ${words}`);
  });

  test('has the first failed rows told, which no table repeats, and all of them in JSON', async () => {
    const table = await failing('invalidInput').run(`${line} -o table`, { input });
    expect(table.stderr).toContain('line 11: no\nand 30 more rows: all of them with --result FILE or -o json\n');
    expect(table.stdout.split('\n')).toHaveLength(7);
    const { data } = JSON.parse((await failing('invalidInput').run(`${line} -o json`, { input })).stdout);
    expect(data.failures).toHaveLength(40);
  });

  test.each(['network', 'unavailable'] as const)(
    'with %s for a while is waited for, and that is said once',
    async (kind) => {
      const shell = createShell({
        dependencies: { untilStopped: never },
        reply: () => {
          calls += 1;
          if (calls % 4 > 0) throw new BillingError(kind, 'no answer', { retryAfterSeconds: 0, answeredStatus: 503 });
          return { body: { data: { id: 'c' } } as never };
        },
      });
      const { code, stdout, stderr } = await shell.run(line, { input });
      expect([code, stdout, calls]).toEqual([0, '40\t40\t0\t0\t0\t0\n', 160]);
      expect(stderr.split('no answer: trying again for half a minute')).toHaveLength(2);
    },
  );

  test('that asks to come back tomorrow is not waited for', async () => {
    const shell = createShell({
      dependencies: { untilStopped: never },
      reply: () => {
        throw new BillingError('rateLimited', 'slower', { retryAfterSeconds: 86_400 });
      },
    });
    expect(await shell.run(line, { input })).toMatchObject({ code: 5, stdout: '40\t0\t0\t0\t5\t35\n' });
  });

  test('with 429 is waited for', async () => {
    const shell = createShell({
      dependencies: { untilStopped: never },
      reply: () => {
        calls += 1;
        if (calls % 3 > 0) throw new BillingError('rateLimited', 'slower', { retryAfterSeconds: 0 });
        return { body: { data: { id: 'c' } } as never };
      },
    });
    expect(await shell.run('customers create --from - --yes', { input })).toMatchObject({
      code: 0,
      stdout: '40\t40\t0\t0\t0\t0\n',
    });
    expect(calls).toBe(120);
  });

  test('with 429 is not waited for without an end', async () => {
    const shell = createShell({
      dependencies: { untilStopped: never },
      reply: () => {
        calls += 1;
        throw new BillingError('rateLimited', 'slower', { retryAfterSeconds: 0 });
      },
    });
    const row = rows.slice(0, 2).join('\n');
    expect(await shell.run(line, { input: row })).toMatchObject({ code: 10, stdout: '1\t0\t0\t0\t1\t0\n' });
    expect(calls).toBe(101);
  });

  test('is told from a mistake of ours, which ends the job: what came of its row is not known', async () => {
    const shell = createShell({
      dependencies: { untilStopped: never },
      reply: () => {
        calls += 1;
        throw new TypeError('x is not a function');
      },
    });
    const ended = await shell.run(line, { input });
    expect(ended).toMatchObject({ code: 1, stdout: '40\t0\t0\t0\t1\t39\n' });
    expect(ended.stderr).toContain('unexpected: TypeError: x is not a function');
    expect(calls).toBe(1);
  });

  test('with 429 is asked for half as much at a time by each, down to one row', async () => {
    let active = 0;
    let most = 0;
    const shell = createShell({
      dependencies: { untilStopped: never },
      reply: async ({ input: { body } }) => {
        calls += 1;
        if (calls <= 8) throw new BillingError('rateLimited', 'slower', { retryAfterSeconds: 0 });
        // The rows that were refused are all sent again; behind them one goes on.
        const { externalCustomerId } = body as { externalCustomerId: string };
        const count = Number(externalCustomerId.slice(1)) < 8 ? 0 : 1;
        active += count;
        most = Math.max(most, active);
        await new Promise((resolve) => setImmediate(resolve));
        active -= count;
        return { body: { data: { id: 'c' } } as never };
      },
    });
    const { stdout } = await shell.run('customers create --from - --yes', { input });
    expect([stdout, calls, most]).toEqual(['40\t40\t0\t0\t0\t0\n', 48, 1]);
  });

  test('now and then does not end the job, however often', async () => {
    const shell = createShell({
      dependencies: { untilStopped: never },
      reply: () => {
        calls += 1;
        if (calls % 2 > 0) throw new BillingError('internal', 'no');
        return { body: { data: { id: 'c' } } as never };
      },
    });
    const ended = await shell.run(line, { input });
    expect(ended).toMatchObject({ code: 10, stdout: '40\t20\t0\t0\t20\t0\n' });
    expect(ended.stderr).toContain('hint: repeat the command to go on: no row is done twice\n');
  });

  test('with a refusal says that the rows have to be corrected', async () => {
    const { stderr } = await failing('invalidInput').run(line, { input });
    expect(stderr).toContain('hint: correct these rows and repeat the command: no row is done twice\n');
  });

  test('and is waited for is not asked again and again once the job was interrupted', async () => {
    const asked = Promise.withResolvers<void>();
    const shell = createShell({
      dependencies: { untilStopped: async () => await asked.promise },
      reply: () => {
        calls += 1;
        asked.resolve();
        throw new BillingError('rateLimited', 'slower', { retryAfterSeconds: 60 });
      },
    });
    expect(await shell.run(line, { input })).toMatchObject({ code: 130, stdout: '40\t0\t0\t0\t1\t39\n' });
    expect(calls).toBeLessThan(3);
  });

  test('before the first row is told as what it is, and not as contracts that are not there', async () => {
    const shell = createShell({
      reply: () => {
        throw new BillingError('network', 'no answer');
      },
    });
    const row = 'contractId,amountCents,expiresAt\nk,1,2027-01-01T00:00:00Z\n';
    const { code, stderr } = await shell.run('credits grant --from - --yes', { input: row });
    expect([code, stderr]).toEqual([9, expect.stringContaining('no answer')]);
    expect(stderr).not.toContain('there is no contract');
  });

  test('that can try no row of a dry run does not have the rows corrected', async () => {
    const failed = new BillingError('unavailable', 'the disk is full', soon);
    const billing = { call: async () => await Promise.reject(failed) } as unknown as Billing;
    const opened = { billing, rehearsal: billing, close: async () => {} };
    const shell = createShell({
      dependencies: { untilStopped: never, openBilling: async () => await Promise.resolve(opened) },
    });
    const two = rows.slice(0, 3).join('\n');
    const { code, stderr } = await shell.run('customers create --from - --dry-run', { input: two });
    expect(code).toBe(10);
    expect(stderr).toMatch(/\ntally: 2 of 2 rows could not be tried\n {2}hint: repeat the command\n$/);
  });

  test('is told by the lines of the file, in whichever order the rows were sent', async () => {
    const shell = createShell({
      dependencies: { untilStopped: never },
      reply: ({ input: { body } }) => {
        const { assignments } = body as { assignments: readonly unknown[] };
        const results = assignments.map(() => ({ status: 'not_found' }));
        return { body: { data: { results } } } as unknown as Answer;
      },
    });
    const own = `stripeCustomerId,csm.email\n${['a', 'b', 'a'].map((id) => `${id},grace@example.com\n`).join('')}`;
    const { stdout } = await shell.run('customers assign-csm --from - --yes -o json', { input: own });
    const { data } = JSON.parse(stdout) as { data: { failures: readonly { row: number }[] } };
    expect(data.failures.map(({ row }) => row)).toEqual([2, 3, 4]);
  });
});
