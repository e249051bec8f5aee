import { describe, expect, test, vi } from 'vitest';

import { BillingError } from '../../../src/errors.ts';
import type { Answer, Billing } from '../../../src/operations/index.ts';
import { createShell } from '../shell.ts';

const body = (value: unknown): Partial<Answer> => ({ body: value as Answer['body'] });
const create = "customers create --name 'Acme Inc' --contact name=Ada,email=ada@acme.example,roles=primary";

describe('--dry-run', () => {
  test('prints the request and calls nothing', async () => {
    const shell = createShell();
    const outcome = await shell.run(
      'credits grant k1/.. --amount-cents 500 --expires-at 2099-01-01T00:00:00Z --dry-run',
    );
    expect(outcome).toMatchObject({
      code: 0,
      stdout:
        'POST /v1/contracts/k1%2F../credits/promotional/grant\n\n{\n  "expiresAt": "2099-01-01T00:00:00Z",\n  "amountCents": 500\n}\n',
      stderr: 'dry run on embedded: nothing was changed\n',
    });
    expect(shell.calls).toEqual([]);
  });

  test('refuses what the service would refuse of the request', async () => {
    const { code, stdout, stderr } = await createShell().run(
      'credits grant k1 --amount-cents 5.5 --expires-at soon --dry-run',
    );
    expect([code, stdout]).toEqual([8, '']);
    expect(stderr).toContain('amountCents: must be a whole number of cents');
    expect(stderr).toContain('expiresAt: must be a date-time');
  });

  test('shows a remote address with its key masked', async () => {
    const key = `tally_live_${'0123456789abcdef'.repeat(3)}`;
    const shell = createShell({ env: { TALLY_BASE_URL: 'https://billing.example.com', TALLY_API_KEY: key } });
    const { stdout, code } = await shell.run('customers resume c1 --dry-run -o json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      dryRun: {
        method: 'POST',
        path: '/v1/customers/c1/resume',
        baseUrl: 'https://billing.example.com',
        authorization: 'Bearer tally_live_…cdef',
      },
    });
    expect((await shell.run('customers resume c1 --dry-run')).stdout).toBe(
      'POST https://billing.example.com/v1/customers/c1/resume\nAuthorization: Bearer tally_live_…cdef\n',
    );
  });

  test('shows the version that has to be found in the form in which it is sent', async () => {
    const line = 'budgets remove k1 0 --if-match v7 --dry-run';
    const path = '/v1/contracts/k1/budgets/0';
    expect((await createShell().run(line)).stdout).toBe(`DELETE ${path}\nIf-Match: "v7"\n`);
    const { stdout } = await createShell().run(`${line} -o json`);
    expect(JSON.parse(stdout)).toEqual({ dryRun: { method: 'DELETE', path, ifMatch: 'v7' } });
  });

  test.each([
    ['bill run --dry-run', 'all of it was done, and nothing was kept'],
    ['bill run --rehearse', 'all of it was done, and nothing was kept'],
    ['events drop --before 2026-01-01 --dry-run', 'nothing was changed'],
    ['events drop --before 2026-01-01 --rehearse', 'nothing was changed'],
  ])('asks nobody on production where it rehearses, and says what became of it: %s', async (line, words) => {
    const shell = createShell();
    await shell.run('profile add books --environment production --database ./books.db');
    const { code, stderr } = await shell.run(`${line} --profile books`);
    expect([code, stderr]).toEqual([0, expect.stringContaining(`dry run on production: ${words}\n`)]);
  });

  test('of an operation without a request names the operation and what it is about', async () => {
    expect((await createShell().run('keys revoke k1 --dry-run')).stdout).toBe('CALL keys.revoke k1\n');
    const { stdout } = await createShell().run('keys revoke k1 --dry-run -o json');
    expect(JSON.parse(stdout)).toEqual({ dryRun: { method: 'CALL', path: 'keys.revoke', params: { keyId: 'k1' } } });
  });
});

describe('--input', () => {
  test('- is standard input, and flags go on top', async () => {
    const shell = createShell({ reply: () => body({ data: { id: 'c1' } }) });
    const input = '{"name":"Old","contacts":[{"name":"Ada"}]}';
    const { code } = await shell.run('customers create --input - --name New', { input });
    expect(code).toBe(0);
    expect(shell.calls[0]?.input.body).toEqual({ name: 'New', contacts: [{ name: 'Ada' }] });
  });

  test.each([
    ['', 'tally: --input is empty: it must hold a JSON object\n'],
    ['\n', '--input is empty'],
    ['{', 'the JSON is malformed'],
    ['[1]', '--input must hold a JSON object'],
    ['{"a":1,"a":2}', 'the JSON gives "a" twice in one object'],
  ])('of %s is rejected before anything is sent', async (input, words) => {
    const shell = createShell();
    const { code, stderr } = await shell.run('customers create --input -', { input });
    expect([code, shell.calls]).toEqual([8, []]);
    expect(stderr).toContain(words);
  });

  test('numbers keep their digits', async () => {
    const shell = createShell();
    await shell.run('credits grant-paid k1 --input -', { input: '{"creditRateCents":5,"creditAmount":1.10}' });
    expect(JSON.stringify(shell.calls[0]?.input.body)).toContain('"creditAmount":1.10,');
  });
});

test('a new key is printed, with the warning that it is shown once', async () => {
  const key = `tally_live_${'a'.repeat(48)}`;
  const shell = createShell({ reply: () => body({ data: { key, id: 'k1' } }) });
  const { stdout, stderr } = await shell.run("keys create --name ci --scopes '*' -o json");
  expect(JSON.parse(stdout)).toEqual({ data: { key, id: 'k1' } });
  expect(stderr).toBe('keep it: this secret is not shown again\n');
});

test.each(['-o name', '--json id', '--columns id', '--jq .data.id'])(
  'a new key that %s leaves out is said to be lost',
  async (flag) => {
    const shell = createShell({ reply: () => body({ data: { key: `tally_live_${'a'.repeat(48)}`, id: 'k1' } }) });
    const { code, stderr } = await shell.run(`keys create --name ci --scopes '*' ${flag}`);
    expect([code, stderr]).toEqual([
      0,
      'the secret was not printed, and is not shown again; make a new one with: tally keys rotate k1\n',
    ]);
  },
);

test.each<[string, Partial<Answer>, string]>([
  [
    'took the place of an earlier one',
    { knownEvents: { unchanged: 0, replaced: 1 } },
    '1 event replaced: what came earlier under the same key is no longer billed\n',
  ],
  [
    'names a contract of another time',
    { outsideContractCount: 1 },
    'warning: 1 event names a contract that does not cover its time: nobody is billed\n' +
      '  hint: send it again, under the same key, with the contract of that time or with none\n',
  ],
  [
    'came after its period was finalized',
    { lateCount: 1 },
    'warning: 1 event came after the period was finalized: nothing is billed for that\n' +
      '  hint: see them with: tally usage late; to bill them, send new events\n',
  ],
])('of an event that %s it is told who is billed', async (_what, answer, told) => {
  const shell = createShell({ reply: () => answer });
  const event = 'usage ingest --event-name e --external-customer-id a --timestamp 2026-03-01T00:00:00Z';
  expect(await shell.run(event)).toMatchObject({ code: 0, stderr: told });
});

test.each(['customers list', 'customers pause c1', 'bill run --dry-run'])(
  'what was opened for %s is closed, whether it was answered or refused',
  async (line) => {
    let open = 0;
    const call = vi.fn<() => Promise<Partial<Answer>>>();
    const openBilling = async () => {
      open += 1;
      return await Promise.resolve({ billing: { call } as unknown as Billing, close: async () => void (open -= 1) });
    };
    const shell = createShell({ dependencies: { openBilling } });
    call.mockResolvedValue(body({ data: [] }));
    expect([(await shell.run(line)).code, call.mock.calls.length > 0, open]).toEqual([0, true, 0]);
    call.mockRejectedValue(new BillingError('conflict', 'no'));
    expect([(await shell.run(line)).code, open]).toEqual([7, 0]);
  },
);

test('the version of what was read is told to a person, and given back by --if-match', async () => {
  const shell = createShell({ reply: () => ({ ...body({ data: { budgets: [] } }), etag: '"v7"' }) });
  expect((await shell.run('budgets list k1', { isTerminal: true })).stderr).toContain('version "v7"');
  expect((await shell.run('budgets list k1')).stderr).toBe('');
  await shell.run(['budgets', 'remove', 'k1', '0', '--if-match', '"v7"']);
  expect(shell.calls.at(-1)?.input).toMatchObject({ ifMatch: '"v7"' });
});

describe('a change of what has versions', () => {
  const listed = { ...body({ data: { budgets: [] } }), etag: 'v7' };
  const replyAs = (first: () => Partial<Answer>) =>
    createShell({
      reply: ({ name }) => (name === 'budgets.list' ? first() : body({ data: { removed: { index: 0 } } })),
    });
  const remove = ['budgets', 'remove', 'k1', '0'];

  test('is for the version that was read before it, of the same contract', async () => {
    const shell = replyAs(() => listed);
    expect((await shell.run(remove)).code).toBe(0);
    expect(shell.calls).toEqual([
      { name: 'budgets.list', input: { params: { contractId: 'k1' } } },
      { name: 'budgets.remove', input: expect.objectContaining({ ifMatch: 'v7' }) },
    ]);
  });

  test('is refused with exit 7 where somebody else was faster', async () => {
    const shell = createShell({
      reply: ({ name, input }) => {
        if (name === 'budgets.list') return listed;
        throw new BillingError('preconditionFailed', `at version 8, not at ${input.ifMatch}: somebody changed them`);
      },
    });
    const { code, stderr, stdout } = await shell.run(['budgets', 'update', 'k1', '0', '--label', 'x']);
    expect([code, stdout]).toEqual([7, '']);
    expect(stderr).toContain('not at v7: somebody changed them\n  hint: read it again');
  });

  test('names the version where it asks', async () => {
    const shell = createShell({
      reply: () => listed,
      env: { TALLY_BASE_URL: 'https://billing.example', TALLY_API_KEY: `tally_live_${'a'.repeat(48)}` },
    });
    const { asked, stderr } = await shell.run(remove, { isTerminal: true, answers: ['no'] });
    expect(`${asked.join()}${stderr}`).toContain('(version v7)');
    expect(shell.calls.map(({ name }) => name)).toEqual(['budgets.list', 'contracts.get']);
  });

  test.each([
    ['a version that is given', [...remove, '--if-match', '*'], 1, '*'],
    [
      'what is added',
      ['budgets', 'add', 'k1', '--event-property-key', 'a', '--event-property-value', 'b'],
      1,
      undefined,
    ],
  ])('reads nothing for %s', async (_, words, count, ifMatch) => {
    const shell = replyAs(() => listed);
    expect((await shell.run(words)).code).toBe(0);
    expect(shell.calls).toHaveLength(count);
    expect(shell.calls[0]?.input.ifMatch).toBe(ifMatch);
  });

  test.each(['forbidden', 'notOffered', 'notFound'] as const)(
    'goes on without one where reading is %s',
    async (kind) => {
      const shell = replyAs(() => {
        throw new BillingError(kind, 'no');
      });
      expect((await shell.run(remove)).code).toBe(0);
      expect(shell.calls.at(-1)?.input.ifMatch).toBeUndefined();
    },
  );

  test('is not sent where reading fails for now', async () => {
    const shell = replyAs(() => {
      throw new BillingError('network', 'no answer');
    });
    expect((await shell.run(remove)).code).toBe(9);
    expect(shell.calls).toHaveLength(1);
  });
});

test('a write needs nothing but its fields on an embedded database', async () => {
  const shell = createShell({ reply: () => body({ data: { id: 'c1' } }) });
  expect(await shell.run(`${create} -o name`)).toMatchObject({ code: 0, stdout: 'c1\n', stderr: '', asked: [] });
});

describe('what is only there where it is included', () => {
  test.each([
    ['invoices list --json id,lineItems', 'lineItems', 'give --include lineItems'],
    ['invoices get i --include lineItems --columns id,period.start', 'period', 'give --include lineItems,period'],
    ["contracts list --columns 'id,net terms'", 'terms', 'give --include terms'],
    ['contracts list --columns id,netTerms', 'terms', 'give --include terms'],
    ['invoices pay i --json id,lineItems', 'lineItems', 'a command that reads it takes --include lineItems'],
  ])('is refused as a field of anything else: %s', async (line, name, hint) => {
    const shell = createShell({ reply: () => body({ data: [], hasMore: false, total: 0 }) });
    const { code, stdout, stderr } = await shell.run(line);
    expect([code, stdout, shell.calls.length]).toEqual([2, '', 0]);
    expect(stderr).toContain(`tally: ${name} is only in the answer when it is asked for\n  hint: ${hint}\n`);
  });

  test('is told after a name that there is not, which the service refuses', async () => {
    const shell = createShell({ reply: () => body({ data: [], hasMore: false, total: 0 }) });
    expect(await shell.run('contracts list --include term --json terms')).toMatchObject({ code: 0, stdout: '[]\n' });
    expect(shell.calls[0]?.input.query).toEqual({ include: 'term' });
  });

  test('is a column once, however often it is asked for, and stays where a terminal has little room', async () => {
    const data = [
      { id: 'i', lineItems: [{ id: 'a' }, { id: 'b' }], period: { start: '2026-03-01', end: '2026-04-01' } },
    ];
    const shell = createShell({ reply: () => body({ data, hasMore: false, total: 1 }) });
    const { stdout } = await shell.run('invoices list --include period,period -o csv');
    expect(stdout.match(/period\.start/g)).toHaveLength(1);
    const narrow = { isTerminal: true, columns: 80 };
    const { stdout: shown } = await shell.run('invoices list --include lineItems,period', narrow);
    const [header = '', row = ''] = shown.split('\n');
    expect(header).toMatch(/LINE ITEMS +PERIOD START +PERIOD END$/);
    // A person is told how many they are; a program gets them all.
    expect(row).toMatch(/ 2 +2026-03-01 +2026-04-01$/);
  });

  test('is a column, by its path or by its header', async () => {
    const data = [{ id: 'i', period: { start: '2026-03-01', end: '2026-04-01' } }];
    const shell = createShell({ reply: () => body({ data, hasMore: false, total: 1 }) });
    const { stdout } = await shell.run("invoices list --include period --columns 'id,period.start,period end'");
    expect(stdout).toBe('i\t2026-03-01\t2026-04-01\n');
  });
});

test('a field that stands deeper is told by its path', async () => {
  for (const [line, path] of [
    ['customers list --columns name,externalCustomerId', 'metadata.externalCustomerId'],
    ['contracts list --include terms --columns creditGrantCents', 'terms.creditGrantCents'],
  ] as const) {
    const { code, stderr } = await createShell().run(line);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`hint: did you mean ${path}?\n`)]);
  }
});
