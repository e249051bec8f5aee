/** Work from a file that goes wrong: the command line, the result file. */

import { mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { BillingError } from '../../../src/errors.ts';
import { createShell, type Reply } from '../shell.ts';
import { newDirectory } from '../../support/temporary-files.ts';

const never = async () => await new Promise<void>(() => undefined);

describe('the command line', () => {
  test.each([
    ['credits grant --from nowhere.csv', 'cannot read nowhere.csv'],
    ['credits grant --from - --concurrency 0', '--concurrency takes 1 to 64'],
    ['credits grant --from - --concurrency 65', '--concurrency takes 1 to 64'],
    ["credits grant --from - --source ''", '--source needs a name'],
    ["credits grant --from - --source ' '", '--source needs a name'],
    ['credits grant --from - --input x.json', '--from cannot be used with'],
    ['credits grant --from - --resume', '--from cannot be used with'],
    ['credits grant --from - --delimiter ab', '--delimiter takes one character'],
    ['credits grant --from - --yes -o name', '-o name cannot be used with this command'],
    ['credits grant --from - --dry-run -o name', '-o name cannot be used with this command'],
    ['credits grant --from - --yes --json nope', 'there is no field "nope"'],
    ['credits grant --from - --yes --columns nope', 'there is no field "nope"'],
    [
      'credits grant --from - --yes --result /nowhere/result.csv',
      'cannot write /nowhere/result.csv: the directory does not exist',
    ],
    ['credits grant --from - --yes --result /', 'cannot write /: it is a directory'],
    ['credits grant --from -', 'the column "nonsense" is not a field of credits grant'],
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
    expect([code, stderr]).toEqual([2, `tally: cannot read ${path}: it is too large to read at once\n`]);
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
    expect(stderr).toContain("if that is several columns, give --delimiter ';'");
  });

  test('a flag that is wrong for every row is named, and not the lines', async () => {
    const input = 'contractId,amountCents\nk,1\nl,2\n';
    const { code, stdout, stderr } = await createShell().run('credits grant --from - --expires-at 2099-12-31 --yes', {
      input,
    });
    expect([code, stdout]).toEqual([8, '']);
    expect(stderr).toMatch(/^tally: expiresAt: must be a date-time.*\n {2}hint: see --expires-at <date-time> in: /);
  });

  test('a row that contradicts itself keeps the whole file from being sent, as any row that cannot be right', async () => {
    const shell = createShell();
    const input = 'contractId,amountCents,creditRateCents,creditAmount\nk,100000,1,5\n';
    const line = 'credits grant --from - --expires-at 2099-12-31T00:00:00Z --yes';
    const { code, stdout, stderr } = await shell.run(line, { input });
    expect([code, stdout, shell.calls]).toEqual([8, '', []]);
    expect(stderr).toContain('line 2: amountCents: contradicts the credits: 5 at a rate of 1 come to 5 cents\n');
    expect(stderr).toContain('1 row cannot be sent: nothing was sent');
  });

  test('a dry run of a file without a row prints no rows', async () => {
    const printed = async (format: string) => {
      const line = `credits grant --from - --expires-at 2099-12-31T00:00:00Z --dry-run -o ${format}`;
      return (await createShell().run(line, { input: 'contractId,amountCents\n' })).stdout;
    };
    expect([await printed('tsv'), await printed('jsonl')]).toEqual(['', '']);
    expect(await printed('csv')).toBe('"name","customerId","grants","amountCents","currency","freeCredits"\n');
    expect(JSON.parse(await printed('json'))).toEqual({ plan: '0 grants: 0.00 USD to 0 customers', totals: [] });
  });

  test.each([
    ['credits grant', '--columns done', 'done', 'name, customerId, grants, amountCents, currency, freeCredits'],
    ['credits grant', '--json id', 'id', 'name, customerId, grants, amountCents, currency, freeCredits'],
    ['customers create', '--json done,failed', 'done', 'plan'],
    ['customers assign-csm', '--columns ,', '', 'plan'],
  ])('a dry run of %s has no fields but those of its plan: %s', async (command, flags, field, known) => {
    const inputs: Readonly<Record<string, string>> = {
      'credits grant': 'contractId,amountCents,expiresAt\n',
      'customers create': 'externalCustomerId,name,contact\nacme,Acme,"name=A,email=a@acme.example,roles=primary"\n',
      'customers assign-csm': 'stripeCustomerId,csm.email\ncus_1,ada@example.com\n',
    };
    const { code, stdout, stderr } = await createShell().run(`${command} --from - --dry-run ${flags}`, {
      input: inputs[command] ?? '',
    });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`tally: there is no field "${field}"\n  hint: the fields are ${known}\n`);
  });

  test('a column without a name is refused by its place, with what skips it', async () => {
    const input = 'contractId,amountCents,\n';
    const words = 'credits grant --from - --expires-at 2099-12-31T00:00:00Z --dry-run -o json'.split(' ');
    const { code, stderr } = await createShell().run(words, { input });
    expect([code, stderr]).toEqual([2, expect.stringContaining('column 3 has no name\n  hint: name it in the header')]);
    expect(stderr).toContain("--ignore ''");
    expect((await createShell().run([...words, '--ignore', ''], { input })).code).toBe(0);
  });

  test('an id for all rows beside a column of ids is refused', async () => {
    const shell = createShell();
    const { code, stderr } = await shell.run('credits grant k --from -', { input: 'contractId,amountCents\nl,1\n' });
    expect([code, shell.calls]).toEqual([2, []]);
    expect(stderr).toContain('k and the column "contractId" both say what the rows are for');
  });

  test.each([
    ['--amount-cents 100', 'line 3: the column "amount-cents" and --amount-cents both give the value'],
    ['--reason Sorry', 'line 4: the column "reason" and --description or --reason both give the value'],
  ])('%s beside a cell that says it too is refused before anything is sent', async (flag, words) => {
    const shell = createShell();
    const input = 'contractId,amount-cents,reason\nk,,\nk,5000,\nk,,Sorry\n';
    const { code, stdout, stderr } = await shell.run(`credits grant --from - --yes ${flag}`, { input });
    expect([code, stdout, shell.calls]).toEqual([2, '', []]);
    expect(stderr).toContain(words);
  });

  test.each([
    ['specifiers.meterIds,specifiers', 'm,"{""eventNames"":[""a""]}"'],
    ['specifiers,specifiers.meterIds', '"{""eventNames"":[""a""]}",m'],
  ])('the columns %s give no row two values', async (columns, cells) => {
    const shell = createShell();
    const input = `contractId,amountCents,${columns}\nk,100,${cells}\n`;
    const words = 'credits grant --from - --expires-at 2099-12-31T00:00:00Z --yes';
    const { code, stdout, stderr } = await shell.run(words, { input });
    expect([code, stdout]).toEqual([8, '']);
    expect(stderr).toContain('line 2: specifiers: a column for all of it and one for a member both give the value\n');
  });

  test('a member of a record in a cell is refused beside the flag of the record', async () => {
    const shell = createShell();
    const input = 'name,externalCustomerId,contact.name\nA,a,Ada\n';
    const line = 'customers create --from - --yes --contact name=Bob,email=bob@example.com,roles=primary';
    const { code, stderr } = await shell.run(line, { input });
    expect([code, shell.calls]).toEqual([2, []]);
    expect(stderr).toContain('line 2: the column "contact.name" and --contact or --contacts both give the value');
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
    expect(stderr).toContain('--assignment cannot be used with --from');
  });

  test('an empty file is refused, one of a header alone is done at once with a warning', async () => {
    expect((await createShell().run('customers create --from -')).stderr).toContain('the file is empty');
    const running = createShell({ dependencies: { untilStopped: never } });
    const { code, stdout, stderr } = await running.run('customers create --from -', { input: 'name\n' });
    expect([code, stdout]).toEqual([0, '0\t0\t0\t0\t0\t0\n']);
    expect(stderr).toContain('warning: there is no row: nothing is sent\n');
  });

  test('a quote in the middle of a cell is told as what is wrong with the file', async () => {
    const { code, stderr } = await createShell().run('customers create --from -', { input: 'name\na"b\n' });
    expect([code, stderr]).toEqual([
      8,
      expect.stringContaining('not valid CSV: cell 1 of row 2, counted with the header, holds a quote'),
    ]);
    expect(stderr).toContain('each quote in it twice');
    expect(stderr).not.toContain('--delimiter');
    const german = await createShell().run('customers create --from -', { input: 'name;tags\nA;"b"\n' });
    expect([german.code, german.stderr]).toEqual([8, expect.stringContaining("--delimiter ';'")]);
  });

  test.each(['[{"name":"A"}]', '{"name":"A"}\n{"name":"B"}\n'])(
    'JSON in place of CSV is told as that: %j',
    async (input) => {
      const { code, stderr } = await createShell().run('customers create --from -', { input });
      expect([code, stderr]).toEqual([8, expect.stringContaining('the file is JSON, where CSV')]);
    },
  );

  test('a grant of nothing goes with --allow-zero', async () => {
    const shell = createShell({ reply: () => ({ body: { data: { id: 'k', customerId: 'c', name: 'C' } } as never }) });
    const input = 'contractId,amountCents,expiresAt\nk,0,2099-01-01T00:00:00Z\n';
    expect((await shell.run('credits grant --from - --dry-run', { input })).code).toBe(8);
    expect((await shell.run('credits grant --from - --dry-run --allow-zero', { input })).code).toBe(0);
  });

  test('rows are counted by the lines of the file, however these end', async () => {
    const input = 'name,externalCustomerId,contact.name\r\n"two\r\nlines",a,Ada\n\r\nthree,b,Bo\n';
    const { stderr } = await createShell().run('customers create --from -', { input });
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
  const directory = newDirectory();
  const reply = () => {
    rmSync(directory, { recursive: true, force: true });
    return { body: { data: { id: 'c1' } } as never };
  };
  const shell = createShell({ reply, dependencies: { untilStopped: never } });
  const input = 'name,externalCustomerId,contact\nC,c,"name=A,email=a@b.example,roles=primary"\n';
  const words = ['customers', 'create', '--from', '-', '--yes', '--result', join(directory, 'result.csv')];
  const { code, stdout, stderr } = await shell.run(words, { input });
  expect([code, stdout]).toEqual([10, '1\t1\t0\t0\t0\t0\n']);
  expect(stderr).toContain('the directory does not exist; the rows are done');
});

test('a result file that cannot be written any more is not named as the place of the errors', async () => {
  const directory = newDirectory();
  const reply: Reply = ({ input: { body } }) => {
    rmSync(directory, { recursive: true, force: true });
    if ((body as { readonly name: string }).name === 'D') throw new BillingError('invalidInput', 'no');
    return { body: { data: { id: 'c1' } } as never };
  };
  const shell = createShell({ reply, dependencies: { untilStopped: never } });
  const contact = '"name=A,email=a@b.example,roles=primary"';
  const input = `name,externalCustomerId,contact\nC,c,${contact}\nD,d,${contact}\n`;
  const path = join(directory, 'result.csv');
  const { code, stderr } = await shell.run(['customers', 'create', '--from', '-', '--yes', '--result', path], {
    input,
  });
  expect(code).toBe(10);
  expect(stderr).toContain(
    `tally: 1 of 2 rows failed; the others are done; cannot write ${path}: the directory does not exist\n  hint: correct these rows`,
  );
});

test('rows that were planned under a policy are not begun: refused when they are sent, none is left to finish', async () => {
  const reply: Reply = ({ name }) => {
    if (name === 'credits.grant') throw new BillingError('notFound', 'no');
    return { body: { data: { id: 'k1', customerId: 'c1', name: 'Acme' } } as never };
  };
  const shell = createShell({ reply, dependencies: { untilStopped: never } });
  mkdirSync(join(shell.home, 'config'), { mode: 0o700 });
  writeFileSync(join(shell.home, 'config', 'policy.yaml'), 'grants:\n  per-grant: 10.00\n');
  const line = 'credits grant --from - --expires-at 2099-12-31T00:00:00Z --yes';
  const { code, stdout } = await shell.run(line, { input: 'contractId,amountCents\nk1,500\n' });
  expect([code, stdout]).toEqual([10, '1\t0\t0\t1\t0\t0\n']);
  expect((await shell.run('credits grant --resume')).stderr).toContain('no grant is unfinished');
});

test('a clock that is behind the newest row is told once for all grants of a file', async () => {
  const aheadOfClock = '2099-01-01T00:00:00.000Z';
  const reply: Reply = ({ name }) => ({
    body: { data: { id: 'k1', customerId: 'c1', name: 'Acme' } } as never,
    ...(name === 'credits.grant' ? { aheadOfClock } : {}),
  });
  const shell = createShell({ reply, dependencies: { untilStopped: never } });
  const line = 'credits grant --from - --expires-at 2099-12-31T00:00:00Z --yes';
  const { stdout, stderr } = await shell.run(line, { input: 'contractId,amountCents\nk1,500\nk1,600\n' });
  expect(stdout).toBe('2\t2\t0\t0\t0\t0\n');
  expect(stderr.split('behind the newest row')).toHaveLength(2);
});

test('the policy counts what other contracts of the customer were granted, which no row names', async () => {
  const one = { id: 'k1', customerId: 'c1', name: 'Acme' };
  const list = { data: [one, { id: 'k2', customerId: 'c1' }], total: 2, hasMore: false };
  const shell = createShell({
    reply: ({ name }) => ({ body: (name === 'contracts.list' ? list : { data: one }) as never }),
    dependencies: { untilStopped: never },
  });
  mkdirSync(join(shell.home, 'config'), { mode: 0o700 });
  writeFileSync(join(shell.home, 'config', 'policy.yaml'), 'grants:\n  per-customer-and-month: 10.00\n');
  const expiry = '--expires-at 2099-12-31T00:00:00Z';
  expect((await shell.run(`credits grant k2 --amount-cents 600 ${expiry}`)).code).toBe(0);
  const input = 'contractId,amountCents\nk1,500\n';
  const { code, stderr } = await shell.run(`credits grant --from - ${expiry} --yes`, { input });
  expect(code).toBe(11);
  expect(stderr).toContain('line 2: per-customer-and-month: 6.00 USD were granted to this customer');
});

test.each([
  ['20 rows, however few contracts there are', 20, 30, { 'contracts.get': 20 }],
  ['21 rows of 2,100 contracts', 21, 2_100, { 'contracts.list': 22 }],
  ['21 rows of 2,101 contracts', 21, 2_101, { 'contracts.list': 1, 'contracts.get': 21 }],
])('contracts are read with as few requests as it takes: %s', async (_case, rows, total, expected) => {
  const all = Array.from({ length: total }, (_, index) => ({ id: `k${index}`, customerId: `c${index}`, name: 'N' }));
  const shell = createShell({
    reply: ({ name, input: { params, query } }) => {
      const first = Number(query?.['offset'] ?? 0);
      const data = all.slice(first, first + Number(query?.['limit']));
      if (name === 'contracts.list') return { body: { data, total, hasMore: first + data.length < total } as never };
      return { body: { data: { ...all[0], id: params?.['contractId'] } } as never };
    },
    dependencies: { untilStopped: never },
  });
  const input = `contractId,amountCents\n${all
    .slice(0, rows)
    .map(({ id }) => `${id},500\n`)
    .join('')}`;
  const { code } = await shell.run('credits grant --from - --expires-at 2099-12-31T00:00:00Z --yes', { input });
  const reads = shell.calls.map(({ name }) => name).filter((name) => name.startsWith('contracts.'));
  expect([
    code,
    Object.fromEntries(
      Map.groupBy(reads, (name) => name)
        .entries()
        .map(([name, { length }]) => [name, length]),
    ),
  ]).toEqual([0, expected]);
});

test('a cell that has to say something and is empty is told by its line, like any other', async () => {
  const input = 'name,externalCustomerId,contact\n,c1,"name=A,email=a@b.example,roles=primary"\n';
  const { code, stderr } = await createShell().run('customers create --from - --yes', { input });
  expect([code, stderr]).toEqual([8, expect.stringContaining('line 2: name: is required\n')]);
});
