import { writeFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import type { Question } from '../../../src/cli/terminal/questions.ts';
import { ForbiddenError } from '../../../src/errors.ts';
import type { Answer, Billing } from '../../../src/operations/index.ts';
import { createShell, manifest } from '../shell.ts';
import type { Shell, ShellOptions } from '../shell.ts';

const done = () => ({ body: { data: { id: 'c1' } } as unknown as Answer['body'] });
const key = `tally_live_${'b'.repeat(48)}`;
const production = { TALLY_BASE_URL: 'https://billing.example.com', TALLY_API_KEY: key };
const terminal = { isTerminal: true };

describe('what is missing', () => {
  test('is asked for on a terminal', async () => {
    const shell = createShell({ reply: done });
    const answers = ['Acme', 'name=Ada,email=ada@acme.example,roles=primary'];
    const { code, asked } = await shell.run('customers create', { ...terminal, answers });
    expect(code).toBe(0);
    expect(asked).toEqual([
      'name (Display name; text)',
      'contact (Contacts; at least one; name=…,email=…,roles=…,emailRecipientType=…)',
    ]);
    expect(shell.calls[0]?.input.body).toEqual({
      name: 'Acme',
      contacts: [{ name: 'Ada', email: 'ada@acme.example', roles: ['primary'] }],
    });
  });

  test('is asked for in the form in which it is taken', async () => {
    const shell = createShell({ reply: done });
    const answers = ['stripeCustomerId=cus_1,csm.email=ada@acme.example'];
    const { code, asked } = await shell.run('customers assign-csm', { ...terminal, answers });
    expect(asked).toEqual([
      'assignment (1 to 100 assignments, applied in order; stripeCustomerId=…,csm.email=…,csm.name=…)',
    ]);
    const assignments = [{ stripeCustomerId: 'cus_1', csm: { email: 'ada@acme.example' } }];
    expect([code, shell.calls[0]?.input.body]).toEqual([0, { assignments }]);
  });

  test('is asked for by name when it is an id', async () => {
    const shell = createShell({ reply: done });
    await shell.run('customers get', { ...terminal, answers: ['c9'] });
    expect(shell.calls.at(-1)?.input.params).toEqual({ customerId: 'c9' });
  });

  test.each([
    ['standard input is no terminal', { isTerminal: true, isInputTerminal: false }, {}, ''],
    ['standard output is no terminal', { isTerminal: false, isInputTerminal: true }, {}, ''],
    ['standard error is no terminal', { isTerminal: true, isErrorTerminal: false }, {}, ''],
    ['--no-input is given', terminal, {}, '--no-input'],
    ['CI is set', terminal, { CI: 'true' }, ''],
  ])('is an error when %s', async (_when, ends, env, flag) => {
    const { code, asked, stderr } = await createShell({ env }).run(`customers create ${flag}`, {
      ...ends,
      answers: ['x'],
    });
    expect([code, asked]).toEqual([2, []]);
    expect(stderr).toContain('missing --name, --contact');
  });

  test.each(['', '0', 'false'])('is asked for where CI is %j, which says that nothing runs there', async (isCi) => {
    const shell = createShell({ env: { CI: isCi }, reply: done });
    expect((await shell.run('customers get', { ...terminal, answers: ['c9'] })).code).toBe(0);
  });

  test('is not asked for where the service does not offer the command', async () => {
    const shell = createShell({ env: production });
    const { code, asked, stderr } = await shell.run('credits adjust k1', { ...terminal, answers: ['g1'] });
    expect([code, asked, shell.calls]).toEqual([12, [], []]);
    expect(stderr).toContain('credits adjust needs a database, and https://billing.example.com is a remote service');
  });

  test.each([
    ['at the end of input', 'customers create', ['Acme']],
    ['of an empty line', 'budgets remove k1', ['']],
  ])('is not made up %s', async (_when, line, answers) => {
    const shell = createShell();
    const { code, stderr } = await shell.run(line, { ...terminal, answers });
    expect([code, shell.calls]).toEqual([11, []]);
    expect(stderr).toContain('nothing was entered: nothing was done');
  });
});

const asking = manifest.commands.filter(
  ({ positionals, flags }) => positionals.length > 0 || flags.some(({ isRequired }) => isRequired === true),
);

test.each(asking)(
  'what $operation asks for has a place on the command line',
  async ({ group, verb, positionals, flags }) => {
    const required = flags.filter(({ isRequired }) => isRequired === true);
    const names = [...positionals.map(({ placeholder }) => placeholder), ...required.map(({ flag }) => flag)];
    const { code, asked, stdout, stderr } = await createShell().run([group, verb], terminal);
    expect([code, stdout, asked.length]).toEqual([11, '', 1]);
    expect(asked[0]).toMatch(new RegExp(`^${names[0]}(?: \\(|$)`));
    expect(stderr).toContain('nothing was entered: nothing was done');
    const piped = await createShell().run([group, verb]);
    expect([piped.code, piped.asked]).toEqual([2, []]);
    for (const name of names) expect(piped.stderr).toContain(name);
  },
);

describe('an answer', () => {
  const customers = [{ id: 'c1', name: 'Acme\u001b[31m' }];
  const plans = [{ id: 'p1', name: 'Pay as you go' }];
  const reply = ({ name }: { readonly name: string }) => {
    const lists: Readonly<Record<string, unknown>> = {
      'customers.list': customers,
      'plans.list': plans,
      'contracts.list': [],
    };
    const data = lists[name] ?? { id: 'k1' };
    return { body: { data, hasMore: false, total: 1 } as unknown as Answer['body'] };
  };

  const isCreation = ({ name }: { readonly name: string }) => name === 'contracts.create';

  test('is chosen from what the service has, by name', async () => {
    const questions: Question[] = [];
    const shell = createShell({ reply });
    const { code } = await shell.run('contracts create', {
      ...terminal,
      answers: ['p1', 'c1', '2026-03-01'],
      onAsk: (question) => questions.push(question),
    });
    expect(code).toBe(0);
    expect(questions.map(({ kind, choices }) => [kind, choices])).toEqual([
      ['choice', [{ value: 'p1', label: 'Pay as you go' }]],
      ['choice', [{ value: 'c1', label: 'Acme\u001b[31m' }]],
      ['text', undefined],
    ]);
    expect(shell.calls.find(isCreation)?.input.body).toEqual({
      planId: 'p1',
      customerId: 'c1',
      startDate: '2026-03-01',
    });
  });

  test('is chosen by its amount where several are called alike', async () => {
    const createdAt = '2026-03-01T00:00:00.000Z';
    const entry = (id: string, amountCents: number) => ({
      id,
      type: 'grant',
      description: 'Thanks',
      amountCents,
      createdAt,
    });
    const ofLedger = ({ name }: { readonly name: string }) => {
      const data = name === 'credits.ledger' ? { entries: [entry('e1', 1000), entry('e2', 25)] } : [];
      return { body: { data } as unknown as Answer['body'] };
    };
    const questions: Question[] = [];
    const onAsk = (question: Question) => questions.push(question);
    await createShell({ reply: ofLedger }).run('credits reverse k1', { ...terminal, answers: ['e2'], onAsk });
    expect(questions[0]?.choices).toEqual([
      { value: 'e1', label: `grant, 10.00 USD, Thanks, ${createdAt}` },
      { value: 'e2', label: `grant, 0.25 USD, Thanks, ${createdAt}` },
    ]);
  });

  test('is held to the schema of its field, and asked for again', async () => {
    const shell = createShell({ reply });
    const answers = ['p1', 'c1', '31 March', '2026-02-30', '2026-03-31'];
    const { code, stderr } = await shell.run('contracts create', { ...terminal, answers });
    expect(code).toBe(0);
    expect(stderr.match(/> must be a date/g)).toHaveLength(2);
    expect(shell.calls.find(isCreation)?.input.body).toMatchObject({ startDate: '2026-03-31' });
  });

  test('is typed where the service does not tell what there is', async () => {
    const refusing = ({ name }: { readonly name: string }) => {
      if (name === 'customers.list') throw new ForbiddenError('this key lacks customers:read');
      return reply({ name });
    };
    const shell = createShell({ reply: refusing });
    expect((await shell.run('customers get', { ...terminal, answers: ['c9'] })).code).toBe(0);
    expect(shell.calls.at(-1)?.input.params).toEqual({ customerId: 'c9' });
  });
});

describe('a write to the database of production', () => {
  const opened = async () => {
    const shell = createShell({ reply: done });
    const added = await shell.run('profile add books --environment production --database ./books.db');
    expect(added).toMatchObject({ code: 0, stdout: '' });
    return shell;
  };
  const written = ({ calls }: Shell) =>
    calls
      .filter(({ name, input }) => !name.endsWith('.get') && !Object.hasOwn(input.body ?? {}, 'rehearse'))
      .map(({ name }) => name);

  test.each([
    ['customers pause c1', 'customers.pause'],
    ['bill run', 'bill.run'],
    ['webhooks remove e1', 'webhooks.remove'],
    ['events drop --before 2026-01-01', 'events.drop'],
  ])('asks as one to a service does: %s', async (line, name) => {
    const shell = await opened();
    for (const flags of ['', '--yes', '--expect-env production']) {
      const { code, stderr } = await shell.run(`${line} --profile books ${flags}`);
      expect([code, stderr]).toEqual([11, expect.stringContaining('give --yes together with --expect-env production')]);
    }
    const asked = await shell.run(`${line} --profile books`, { ...terminal, answers: ['no'] });
    expect([asked.code, asked.asked, written(shell)]).toEqual([11, ['Go on?'], []]);
    expect(asked.stderr).toMatch(/^PRODUCTION {2}\/.*\/books\.db \(profile books\)/m);
    await shell.run(`${line} --profile books --yes --expect-env production`);
    expect(written(shell)).toEqual([name]);
  });

  test.each(['doctor --rebuild', 'webhooks deliver', 'restore backup.db'])(
    'asks before a command that is no operation: %s',
    async (line) => {
      const shell = await opened();
      for (const flags of ['', '--yes', '--expect-env production']) {
        expect(await shell.run(`${line} --profile books ${flags}`)).toMatchObject({ code: 11 });
      }
      const asked = await shell.run(`${line} --profile books`, { ...terminal, answers: ['no'] });
      expect([asked.code, asked.asked]).toEqual([11, ['Go on?']]);
      const agreed = await shell.run(`${line} --profile books --yes --expect-env production`);
      expect(agreed.stderr).toMatch(/this shell has no (?:database|engine)/);
    },
  );

  test('asks neither for a look nor for a rehearsal of the doctor', async () => {
    const shell = await opened();
    for (const line of ['doctor', 'doctor --rebuild --dry-run', 'restore backup.db --dry-run']) {
      expect((await shell.run(`${line} --profile books`)).stderr).toContain('this shell has no database');
    }
  });

  test.each([
    ['budgets update k1 0 --label Acme', 2],
    ['credits grant k1 --amount-cents 100 --expires-at 2099-12-31T00:00:00Z', 2],
    ['events drop --before 2026-01-01', 1],
  ])('makes no database before the yes: %s', async (line, count) => {
    const openings: (boolean | undefined)[] = [];
    const shell = createShell({
      dependencies: {
        openBilling: (_target, { isRehearsal }) => {
          openings.push(isRehearsal);
          const billing = { call: async () => await Promise.resolve({ ...done(), etag: '1' }) } as unknown as Billing;
          return Promise.resolve({ billing, close: () => Promise.resolve() });
        },
      },
    });
    await shell.run('profile add books --environment production --database ./books.db');
    writeFileSync(`${shell.home}/config/policy.yaml`, 'grants:\n  per-grant: 1.00\n');
    const { code } = await shell.run(`${line} --profile books`, { ...terminal, answers: ['no'] });
    expect([code, openings]).toEqual([11, Array<boolean>(count).fill(true)]);
  });

  test('says which database it is, without its password', async () => {
    const shell = createShell({ reply: done });
    const url = 'postgres://ada:hidden@db.example.com/books';
    await shell.run(`profile add books --environment production --database ${url}`);
    const { stderr } = await shell.run('customers pause c1 --profile books', { ...terminal, answers: ['no'] });
    expect(stderr).toMatch(/PRODUCTION {2}postgres:\/\/.*db\.example\.com\/books \(profile books\)/);
    expect(stderr).not.toContain('hidden');
  });
});

describe('a write to production', () => {
  const pause = async (
    flags: string,
    options: Parameters<ReturnType<typeof createShell>['run']>[1] = {},
    shell: ShellOptions = {},
  ) => {
    const made = createShell({ reply: done, env: production, ...shell });
    const outcome = await made.run(`customers pause c1 ${flags}`, options);
    return { ...outcome, calls: made.calls.filter(({ name }) => name === 'customers.pause').length };
  };

  test.each<[string, readonly string[], number, number]>([
    ['yes', ['yes'], 0, 1],
    ['no', ['no'], 11, 0],
    ['the end of input', [], 11, 0],
  ])('goes on only after a yes: %s', async (_answer, answers, code, calls) => {
    const outcome = await pause('', { ...terminal, answers });
    expect(outcome).toMatchObject({ code, calls, asked: ['Go on?'] });
  });

  test('shows target, effect and environment before it asks', async () => {
    const { stderr } = await pause('--until 2099-12-31', { ...terminal, answers: ['no'] });
    expect(stderr).toContain('PRODUCTION  https://billing.example.com');
    expect(stderr).toContain('Stop sending invoices to a customer: c1');
    expect(stderr).toContain('\n  "until": "2099-12-31"\n');
    expect(stderr.indexOf('PRODUCTION')).toBeLessThan(stderr.indexOf('? Go on?'));
  });

  test('shows whom it is about, as far as the service tells', async () => {
    const acme = { id: 'c1', name: 'Acme', status: 'active' };
    const named = () => ({ body: { data: acme } as unknown as Answer['body'] });
    const { stderr } = await pause('', { ...terminal, answers: ['no'] }, { reply: named });
    expect(stderr).toMatch(/PRODUCTION.*\n(?:.*\n)*.*\bAcme\b.*\n(?:.*\n)*Stop sending invoices to a customer: c1\n/);
    const silent = () => {
      throw new ForbiddenError('this key lacks customers:read');
    };
    const unnamed = await pause('', { ...terminal, answers: ['no'] }, { reply: silent });
    expect(unnamed).toMatchObject({ code: 11, asked: ['Go on?'] });
    expect(unnamed.stderr).toContain('Stop sending invoices to a customer: c1');
  });

  test('of an invoice says whose it is, by name, where the key may know', async () => {
    const rows: Readonly<Record<string, object>> = {
      'invoices.get': { id: 'i1', invoiceNumber: 'INV-1', customerId: 'c1', status: 'Drafted', totalCents: 5 },
      'customers.get': { id: 'c1', name: 'Acme' },
    };
    const asked = async (reply: NonNullable<ShellOptions['reply']>) => {
      const shell = createShell({ reply, env: production });
      return (await shell.run('invoices cancel i1', { ...terminal, answers: ['no'] })).stderr;
    };
    const named = await asked(({ name }) => ({ body: { data: rows[name] } as unknown as Answer['body'] }));
    expect(named).toMatch(/INV-1.*\n(?:no room.*\n)?of Acme\nCancel a draft/);
    const unnamed = await asked(({ name }) => {
      if (name === 'customers.get') throw new ForbiddenError('this key lacks customers:read');
      return { body: { data: rows[name] } as unknown as Answer['body'] };
    });
    expect(unnamed).toMatch(/INV-1.*\n(?:no room.*\n)?Cancel a draft/);
  });

  test('looks at nothing where nobody is asked', async () => {
    const shell = createShell({ reply: done, env: production });
    await shell.run('customers pause c1 --yes --expect-env production');
    expect(shell.calls.map(({ name }) => name)).toEqual(['customers.pause']);
  });

  test('says amounts as people do before it asks', async () => {
    const shell = createShell({ reply: done, env: production });
    const line = 'credits grant k1 --expires-at 2099-12-31T00:00:00Z';
    const asked = async (flags: string) =>
      (await shell.run(`${line} ${flags}`, { ...terminal, answers: ['no'] })).stderr;
    expect(await asked('--amount-cents 123450')).toContain('}\namountCents is 1234.50 USD\n? Go on?');
    const rated = await asked('--credit-rate-cents 50000 --credit-amount 10.000001');
    expect(rated).toContain('}\ncreditRateCents is 500.00 USD\n10.000001 credits are worth 5000.00 USD\n? Go on?');
    const free = await asked('--credit-rate-cents 0 --credit-amount 5');
    expect(free).toContain('}\ncreditRateCents is 0.00 USD\n5 credits are worth 0.00 USD\n? Go on?');
    const spelled = async (credits: string) => await asked(`--credit-rate-cents 10 --credit-amount ${credits}`);
    expect(await spelled('1e2')).toContain('\n100 credits are worth 10.00 USD\n? Go on?');
    expect(await spelled('1.1000000000')).toContain('\n1.1 credits are worth 0.11 USD\n? Go on?');
  });

  test.each([
    ['--amount-cents 10.005', 'amountCents: must be a whole number of cents'],
    ['--amount-cents 1e3', 'amountCents: must be a whole number of cents'],
    ['--amount-cents 1,000.50', 'amountCents: must be a whole number of cents'],
    ['--amount-cents=-5', 'amountCents: must be 0 or more'],
    ['--amount-cents 1000 --expires-at 2099-12-31', 'expiresAt: must be a date-time with an offset'],
  ])('asks nobody to agree to what cannot be: %s', async (flags, told) => {
    const shell = createShell({ reply: done, env: production });
    const expiry = flags.includes('--expires-at') ? '' : '--expires-at 2099-12-31T00:00:00Z';
    const outcome = await shell.run(`credits grant k1 ${expiry} ${flags}`, { ...terminal, answers: ['yes'] });
    expect(outcome).toMatchObject({ code: 8, asked: [], stderr: expect.stringContaining(told) as string });
    expect(outcome.stderr).not.toContain('PRODUCTION');
    expect(shell.calls).toEqual([]);
  });

  test.each<[string, number, number]>([
    ['', 11, 0],
    ['--yes', 11, 0],
    ['--expect-env production', 11, 0],
    ['--yes --expect-env production', 0, 1],
    ['--yes --expect-env sandbox', 11, 0],
  ])('in a script needs --yes and --expect-env production: "%s"', async (flags, code, calls) => {
    expect(await pause(flags)).toMatchObject({ code, calls, asked: [] });
  });

  test('is what it is called, not what the address looks like', async () => {
    const sandbox = { ...production, TALLY_ENVIRONMENT: 'sandbox' };
    expect(await pause('', {}, { env: sandbox })).toMatchObject({ code: 0, calls: 1 });
  });

  test('does not ask for what no service offers', async () => {
    expect(await createShell({ env: production }).run('bill run', terminal)).toMatchObject({ asked: [] });
  });

  test('does not ask for a read', async () => {
    const shell = createShell({ env: production });
    expect(await shell.run('customers list')).toMatchObject({ code: 0, asked: [] });
    expect(shell.calls).toHaveLength(1);
  });

  test('a hostile value cannot fake a second line of the question', async () => {
    const shell = createShell({ reply: done, env: production });
    const line = "customers update c1 --name 'Acme\nGo on? yes'";
    const { asked, stderr } = await shell.run(line, { ...terminal, answers: ['no'] });
    expect(asked).toEqual(['Go on?']);
    expect(stderr).not.toMatch(/^Go on\? yes/m);
  });
});

test('--expect-env refuses any command on another environment', async () => {
  const shell = createShell();
  const { code, stderr } = await shell.run('customers list --expect-env production');
  expect([code, shell.calls]).toEqual([11, []]);
  expect(stderr).toContain('this is embedded, not production: nothing was sent');
});
