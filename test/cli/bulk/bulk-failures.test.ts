/** Work from a file that goes wrong: the command line, the result file, a service that fails. */

import { mkdtempSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { beforeEach, describe, expect, test } from 'vitest';

import { BillingError } from '../../../src/errors.ts';
import type { Answer } from '../../../src/operations/index.ts';
import { createShell } from '../shell.ts';

const never = async () => await new Promise<void>(() => undefined);

describe('the command line', () => {
  test.each([
    ['credits grant --from nowhere.csv', 'cannot read nowhere.csv'],
    ['credits grant --from - --concurrency 0', '--concurrency takes 1 to 64'],
    ['credits grant --from - --concurrency 65', '--concurrency takes 1 to 64'],
    ['credits grant --from - --input x.json', '--from goes neither with'],
    ['credits grant --from - --resume', '--from goes neither with'],
    ['credits grant --from - --delimiter ab', '--delimiter takes one character'],
    ['credits grant --from - --yes -o name', '-o name does not go with this command'],
    ['credits grant --from - --yes --json nope', 'there is no field "nope"'],
    ['credits grant --from - --yes --columns nope', 'there is no field "nope"'],
    ['credits grant --from - --yes --result /nowhere/result.csv', 'cannot write /nowhere/result.csv: there is no such'],
    ['credits grant --from - --yes --result /', 'cannot write /: it is a directory'],
    ['credits grant --from -', 'the column "nonsense" is no field of credits grant'],
    ['credits grant --from - --ignore nonsense', 'two columns mean the same: "contract-id"'],
  ])('%s is refused', async (line, words) => {
    const shell = createShell();
    const { code, stdout, stderr } = await shell.run(line, { input: 'contractId,nonsense,contract-id\nk,1,k\n' });
    expect([code, stdout, shell.calls]).toEqual([2, '', []]);
    expect(stderr).toContain(words);
  });

  test('on a file that is too large to be held says so, whatever its text is', async () => {
    const shell = createShell();
    const path = join(shell.home, 'large.csv');
    writeFileSync(path, '');
    truncateSync(path, 2 ** 31 + 1);
    const { code, stderr } = await shell.run(['credits', 'grant', '--from', path]);
    rmSync(path);
    expect([code, stderr]).toEqual([2, `tally: cannot read ${path}: it is too large to be read as a whole\n`]);
  });

  test('on production takes more than a yes', async () => {
    const env = { TALLY_BASE_URL: 'https://a.example', TALLY_API_KEY: 'tally_live_x', TALLY_ENVIRONMENT: 'production' };
    const shell = createShell({ env, dependencies: { untilStopped: never } });
    const input = 'name,externalCustomerId,contact\nC,c,"name=A,email=a@b.example,roles=primary"\n';
    const { code, stderr } = await shell.run('customers create --from - --yes', { input });
    expect([code, shell.calls]).toEqual([11, []]);
    expect(stderr).toContain('a write to production needs confirmation: nothing was sent');
  });

  test('a header with another delimiter is told from a wrong name', async () => {
    const { stderr } = await createShell().run('credits grant --from -', { input: 'contractId;amountCents\nk;1\n' });
    expect(stderr).toContain("if that is several columns: --delimiter ';'");
  });

  test('an id for all rows beside a column of ids is refused', async () => {
    const shell = createShell();
    const { code, stderr } = await shell.run('credits grant k --from -', { input: 'contractId,amountCents\nl,1\n' });
    expect([code, shell.calls]).toEqual([2, []]);
    expect(stderr).toContain('k and the column "contractId" both say what it is for');
  });

  test.each([
    ['--amount-cents 100', 'line 3: the column "amount-cents" and --amount-cents both say what it is'],
    ['--reason Sorry', 'line 4: the column "reason" and --description or --reason both say what it is'],
  ])('%s beside a cell that says it too is refused before anything is sent', async (flag, words) => {
    const shell = createShell();
    const input = 'contractId,amount-cents,reason\nk,,\nk,5000,\nk,,Sorry\n';
    const { code, stdout, stderr } = await shell.run(`credits grant --from - --yes ${flag}`, { input });
    expect([code, stdout, shell.calls]).toEqual([2, '', []]);
    expect(stderr).toContain(words);
  });

  test('a member of a record in a cell is refused beside the flag of the record', async () => {
    const shell = createShell();
    const input = 'name,externalCustomerId,contact.name\nA,a,Ada\n';
    const line = 'customers create --from - --yes --contact name=Bob,email=bob@example.com,roles=primary';
    const { code, stderr } = await shell.run(line, { input });
    expect([code, shell.calls]).toEqual([2, []]);
    expect(stderr).toContain('line 2: the column "contact.name" and --contact or --contacts both say what it is');
  });

  test('a flag says of every row what no row says, whether there is an empty column for it or none', async () => {
    const shell = createShell({ dependencies: { untilStopped: never } });
    const input = 'name,externalCustomerId,legalName\nA,a,\nB,b,\n';
    const flags = '--legal-name Both --contact name=Ada,email=ada@example.com,roles=primary';
    await shell.run(`customers create --from - --yes ${flags}`, { input });
    const both = { legalName: 'Both', contacts: [{ name: 'Ada' }] };
    expect(shell.calls.map((call) => call.input.body)).toMatchObject([
      { name: 'A', ...both },
      { name: 'B', ...both },
    ]);
  });

  test('a flag that no row has a place for is refused', async () => {
    const shell = createShell();
    const line = 'customers assign-csm --from - --yes --assignment stripeCustomerId=cus_1';
    const { code, stderr } = await shell.run(line, { input: 'stripeCustomerId,csm.email\ncus_2,a@example.com\n' });
    expect([code, shell.calls]).toEqual([2, []]);
    expect(stderr).toContain('--assignment does not go with --from');
  });

  test('an empty file is refused, one of a header alone is done at once', async () => {
    expect((await createShell().run('customers create --from -')).stderr).toContain('the file is empty');
    const running = createShell({ dependencies: { untilStopped: never } });
    const { code, stdout } = await running.run('customers create --from -', { input: 'name\n' });
    expect([code, stdout]).toEqual([0, '0\t0\t0\t0\t0\t0\n']);
  });

  test('a quote in the middle of a cell is told as what is wrong with the file', async () => {
    const { code, stderr } = await createShell().run('customers create --from -', { input: 'name\na"b\n' });
    expect([code, stderr]).toEqual([8, expect.stringContaining('the file is no CSV')]);
    expect(stderr).not.toContain('--delimiter');
    const german = await createShell().run('customers create --from -', { input: 'name;tags\nA;"b"\n' });
    expect([german.code, german.stderr]).toEqual([8, expect.stringContaining("--delimiter ';'")]);
  });

  test('a grant of nothing goes with --allow-zero', async () => {
    const shell = createShell({ reply: () => ({ body: { data: { id: 'k', customerId: 'c', name: 'C' } } as never }) });
    const input = 'contractId,amountCents,expiresAt\nk,0,2099-01-01T00:00:00Z\n';
    expect((await shell.run('credits grant --from - --dry-run', { input })).code).toBe(8);
    expect((await shell.run('credits grant --from - --dry-run --allow-zero', { input })).code).toBe(0);
  });

  test('rows are counted by the lines of the file, however these end', async () => {
    const input = 'name,externalCustomerId\r\n"two\r\nlines",a\n\r\nthree,b\n';
    const { stderr } = await createShell().run('customers create --from - --contact name=Ada', { input });
    expect(stderr).toMatch(/^line 2: .*\nline 5: /);
  });

  test('a result file is never written over something else, nor through a link', async () => {
    const shell = createShell();
    const [other, link] = [join(shell.home, 'other.txt'), join(shell.home, 'link.csv')];
    writeFileSync(other, 'precious');
    symlinkSync(other, link);
    for (const path of [other, link]) {
      expect((await shell.run(['customers', 'create', '--from', '-', '--result', path])).code).toBe(2);
    }
    expect(readFileSync(other, 'utf8')).toBe('precious');
  });
});

test('a result file is empty or the result of an earlier run before it is written, and never holds the key in use', async () => {
  const key = `tally_live_${'0badcafe'.repeat(6)}`;
  const env = { TALLY_BASE_URL: 'https://a.example', TALLY_API_KEY: key, TALLY_ENVIRONMENT: 'sandbox' };
  const reply = () => {
    throw new BillingError('invalidInput', `no: Bearer ${key}`);
  };
  const shell = createShell({ env, reply, dependencies: { untilStopped: never } });
  const path = join(shell.home, 'result.csv');
  writeFileSync(path, '');
  const input = 'name,externalCustomerId,contact\nC,c,"name=A,email=a@b.example,roles=primary"\n';
  for (let run = 0; run < 2; run += 1) {
    const { code } = await shell.run(['customers', 'create', '--from', '-', '--yes', '--result', path], { input });
    expect(code).toBe(10);
    const text = readFileSync(path, 'utf8');
    expect(text).toContain('2,"failed","","no: Bearer ');
    expect(text).not.toContain(key);
  }
});

test('a result file that cannot be written any more is told beside what was done', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'tally-result-'));
  const reply = () => {
    rmSync(directory, { recursive: true, force: true });
    return { body: { data: { id: 'c1' } } as never };
  };
  const shell = createShell({ reply, dependencies: { untilStopped: never } });
  const input = 'name,externalCustomerId,contact\nC,c,"name=A,email=a@b.example,roles=primary"\n';
  const words = ['customers', 'create', '--from', '-', '--yes', '--result', join(directory, 'result.csv')];
  const { code, stdout, stderr } = await shell.run(words, { input });
  expect([code, stdout]).toEqual([10, '1\t1\t0\t0\t0\t0\n']);
  expect(stderr).toContain('there is no such directory; the rows are done');
});

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
        throw new BillingError(kind, 'no', { retryAfterSeconds: 0, requestId: 'r1' });
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

  test('that refuses the key says what to do about that before the job goes on, and keeps the id of the request', async () => {
    const { stderr } = await failing('unauthorized').run(`${line} -o json`, { input });
    expect(JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '').error).toMatchObject({
      requestId: 'r1',
      hint: 'check the key of the profile with: tally profile check; then repeat the command to go on: no row is done twice',
    });
  });

  test.each([
    ['invalidInput', 10, '230\t100\t0\t130\t0\t0\n'],
    ['forbidden', 6, '230\t100\t0\t130\t0\t0\n'],
    ['internal', 10, '230\t100\t0\t0\t130\t0\n'],
  ] as const)('with %s keeps what it has answered of rows that go one behind the other', async (kind, code, stdout) => {
    const shell = createShell({
      dependencies: { untilStopped: never },
      reply: ({ input: { body } }) => {
        calls += 1;
        if (calls > 1) throw new BillingError(kind, 'no');
        const { assignments } = body as { assignments: readonly unknown[] };
        const results = assignments.map(() => ({ status: 'updated', customerId: 'c' }));
        return { body: { data: { results } } } as unknown as Answer;
      },
    });
    const own = `stripeCustomerId,csm.email\n${'cus_1,grace@example.com\n'.repeat(230)}`;
    const ended = await shell.run('customers assign-csm --from - --yes', { input: own });
    expect(ended).toMatchObject({ code, stdout });
    expect(ended.stderr).toContain('line 102: no\n');
    expect(ended.stderr).not.toContain('line 101:');
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
          if (calls % 4 > 0) throw new BillingError(kind, 'no answer', { retryAfterSeconds: 0 });
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
