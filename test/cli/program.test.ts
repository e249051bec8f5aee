import { describe, expect, test } from 'vitest';

import { errorFacts, terminatedExitCode } from '../../src/errors.ts';
import type { Answer, Billing } from '../../src/operations/index.ts';
import type { Dependencies } from '../../src/cli/session/session.ts';
import { createShell, manifest } from './shell.ts';

describe('a command line that is wrong ends with 2, and says what was meant', () => {
  test.each<[string | string[], string, string | undefined]>([
    ['custmers list', "unknown command 'custmers'", 'did you mean customers?'],
    ['customers lst', "unknown command 'lst'", 'did you mean list?'],
    ['cust list', "unknown command 'cust'", 'did you mean customers?'],
    ['con list', "unknown command 'con'", 'did you mean contracts?'],
    ['credits g c1', "unknown command 'g'", 'did you mean grant or grant-paid?'],
    ['c list', "unknown command 'c'", 'see: tally --help'],
    ['grant c1', "unknown command 'grant'", 'did you mean credits grant?'],
    ['finalize i1', "unknown command 'finalize'", 'did you mean invoices finalize?'],
    ['statement c1', "unknown command 'statement'", 'did you mean credits statement?'],
    ['contracts budgets c1', "unknown command 'budgets'", 'did you mean tally budgets?'],
    ['webhooks events', "unknown command 'events'", 'did you mean tally events?'],
    ['grants', "unknown command 'grants'", 'did you mean credits balance or credits grant?'],
    ['credits list', "unknown command 'list'", 'did you mean balance or ledger?'],
    ['credits undo e1', "unknown command 'undo'", 'did you mean reverse?'],
    ['credits delete e1', "unknown command 'delete'", 'did you mean reverse?'],
    ['contracts ledger c1', "unknown command 'ledger'", 'did you mean credits ledger?'],
    ['events ingest', "unknown command 'ingest'", 'did you mean usage ingest?'],
    ['events list', "unknown command 'list'", 'did you mean usage events?'],
    ['events find', "unknown command 'find'", 'did you mean usage events?'],
    ['events send', "unknown command 'send'", 'did you mean usage ingest?'],
    ['events import a.csv', "unknown command 'import'", 'did you mean import events?'],
    ['events delete', "unknown command 'delete'", 'see: tally events --help'],
    ['usage list', "unknown command 'list'", 'did you mean events?'],
    ['usage import a.csv', "unknown command 'import'", 'did you mean import events?'],
    ['import a.csv --customer acme', "unknown command 'a.csv'", 'did you mean import events a.csv?'],
    ['import usage a.csv', "unknown command 'usage'", 'did you mean events?'],
    ['version', "unknown command 'version'", 'did you mean --version?'],
    ['-v', "unknown option '-v'", 'did you mean --version?'],
    ['archive p1', "unknown command 'archive'", 'see: tally --help'],
    ['credits grant c1 --amount 5', "unknown option '--amount'", 'did you mean --amount-cents?'],
    [
      'credits grant c1 --credit 5',
      "unknown option '--credit'",
      'did you mean --credit-rate-cents or --credit-amount?',
    ],
    ['credits grant c1 --amount=5', "unknown option '--amount=5'", 'did you mean --amount-cents?'],
    ['credits grant c1 --cents 5', "unknown option '--cents'", 'did you mean --amount-cents or --credit-rate-cents?'],
    ['pricing create --pricing-tier x', "unknown option '--pricing-tier'", 'did you mean --tier?'],
    ['customers list --output-format json', "unknown option '--output-format'", 'did you mean --output?'],
    ['profile add p --env sandbox', "unknown option '--env'", 'did you mean --environment?'],
    [
      'credits balance --contract-id c1',
      "unknown option '--contract-id'",
      'it comes after the verb, without a flag: tally credits balance <contract-id>',
    ],
    [
      'credits reverse --entry-id=e1',
      "unknown option '--entry-id=e1'",
      'it comes after the verb, without a flag: tally credits reverse <contract-id> <entry-id>',
    ],
    [
      ['credits', 'grant', 'c1', '--amount-cents', '5', '--external-id=caf\uFFFD'],
      '"--external-id=caf\uFFFD" on the command line is not UTF-8 text',
      'let the terminal or the script that gives the command use UTF-8',
    ],
    ['customers list --no', "unknown option '--no'", 'did you mean --no-input or --no-color?'],
    ['customers list --limt 5', "unknown option '--limt'", 'did you mean --limit?'],
    ['customers list --format json', "unknown option '--format'", 'did you mean --output?'],
    ['credits grant c1 --force', "unknown option '--force'", 'did you mean --yes?'],
    ['invoices list --since 2026-03-01', "unknown option '--since'", 'did you mean --created-after?'],
    ['usage events --from 2026-03-01', "unknown option '--from'", 'did you mean --start?'],
    ['usage cost --until 2026-03-01', "unknown option '--until'", 'did you mean --end-date?'],
    ['customers list --sort name', "unknown option '--sort'", 'see: tally customers list --help'],
    ['customers create --nam x', "unknown option '--nam'", 'did you mean --name?'],
    ['customers list --outptu json', "unknown option '--outptu'", 'did you mean --output?'],
    ['customers create', 'missing --name, --contact', 'see: tally customers create --help'],
    ['customers get', 'missing <customer-id>', 'see: tally customers get --help'],
    ['customers frobnicate', "unknown command 'frobnicate'", 'see: tally customers --help'],
    ['constructor', "unknown command 'constructor'", 'see: tally --help'],
    ['usage toString', "unknown command 'toString'", 'see: tally usage --help'],
    ['customers list --__proto__', "unknown option '--__proto__'", 'see: tally customers list --help'],
    ['custmers --help', "unknown command 'custmers'", 'did you mean customers?'],
    ['--help frobnicate', "unknown command 'frobnicate'", 'see: tally --help'],
    ['help customers lst', "unknown command 'lst'", 'did you mean list?'],
    ['customers remove c1', "unknown command 'remove'", 'see: tally customers --help'],
    ['webhooks delete w1', "unknown command 'delete'", 'did you mean remove?'],
    ['contracts delete c1', "unknown command 'delete'", 'did you mean cancel?'],
    ['credits undo c1 e1', "unknown command 'undo'", 'did you mean reverse?'],
    ['pricing update p1', "unknown command 'update'", 'it never changes once it exists: archive it and create another'],
    ['plans edit p1', "unknown command 'edit'", 'it never changes once it exists: archive it and create another'],
    ['webhooks replay d1', "unknown command 'replay'", 'did you mean resend?'],
    ['customers find acme', "unknown command 'find'", 'did you mean list?'],
    ['invoices void i1', "unknown command 'void'", 'did you mean cancel?'],
    ['profile rename a', "unknown command 'rename'", 'see: tally profile --help'],
    ['budgets set c1', "unknown command 'set'", 'did you mean update?'],
    ['profile set a', "unknown command 'set'", 'see: tally profile --help'],
    ['profile get a', "unknown command 'get'", 'did you mean show?'],
    ['catalog import a.yaml', "unknown command 'import'", 'see: tally catalog --help'],
    ['journal lst -h', "unknown command 'lst'", 'did you mean list?'],
    [
      'customers update c1 --legal-name X --clear legalName',
      '--legal-name and --clear legalName contradict each other',
      undefined,
    ],
    ['customers get a b', 'too many arguments', 'see: tally customers get --help'],
    ['customers list --limit', "option '--limit <number>' argument missing", 'see: tally customers list --help'],
    ['--json customers list --limit', "option '--limit <number>' argument missing", 'see: tally customers list --help'],
    ['customers list --limit 1 --limit 2', '--limit was given twice', undefined],
    ['customers list --database a --database=b', '--database was given twice', undefined],
    ['customers list --expect-env sandbox --expect-env embedded', '--expect-env was given twice', undefined],
    ['credits grant --from a.csv --from b.csv', '--from was given twice, with two values', undefined],
    ['usage cost --by day --by month', '--by was given twice', undefined],
    ['import events a.csv --customer a --customer b', '--customer was given twice', undefined],
    ['serve --port 1 --port 2', '--port was given twice', undefined],
    ['customers list -o xml', "argument 'xml' is invalid", 'see: tally customers list --help'],
    [
      'contracts list --is-active maybe',
      '--is-active takes true or false, not "maybe"',
      '--is-active alone means true, and ids come before the flags',
    ],
    ['customers list --dry-run', 'this one only reads', undefined],
    [
      'customers list --timeout 1e9',
      '--timeout takes a number of seconds above 0, such as 0.5 or 30, not 1e9',
      undefined,
    ],
    ['journal list --limit 0', '--limit takes a whole number from 1 to 999999999, not 0', undefined],
    ['customers list --database a --profile b', '--profile and --database both say', 'give one of them'],
    ['customers create --input nowhere.json', 'cannot read nowhere.json: the file does not exist', undefined],
    [
      'customers create --input package.json/a',
      'cannot read package.json/a: a part of the path is a file, not a directory',
      undefined,
    ],
    [['backup', ''], 'missing <file>', 'see: tally backup --help'],
    [['invoices', 'export', ''], 'missing <invoice-id>', 'see: tally invoices export --help'],
    [['customers', 'create', '--input', ''], 'cannot read a file: its path is empty', undefined],
    [['import', 'events', 'x.csv', '--refused', ''], 'cannot write a file: its path is empty', undefined],
    ['serve extra', 'too many arguments', 'see: tally serve --help'],
    ['help nope', 'there is no help on "nope"', 'the topics are exit-codes'],
    ['help custmers', 'there is no help on "custmers"', 'did you mean customers?'],
    ['help exit-code', 'there is no help on "exit-code"', 'did you mean exit-codes?'],
  ])('%s', async (line, message, hint) => {
    const shell = createShell();
    const { code, stdout, stderr } = await shell.run(line);
    expect({ code, stdout, calls: shell.calls.length }).toEqual({ code: 2, stdout: '', calls: 0 });
    const [first = '', second] = stderr.trimEnd().split('\n');
    expect(first).toContain('tally: ');
    expect(first).toContain(message);
    if (hint !== undefined) expect(second).toContain(`  hint: ${hint}`);
  });

  test('a time-out that is none is refused before anything is asked', async () => {
    const line = 'customers create --name Acme --timeout 0';
    const { code, stderr, asked } = await createShell().run(line, { isTerminal: true, answers: ['name=Ada'] });
    expect({ code, asked }).toEqual({ code: 2, asked: [] });
    expect(stderr).toBe('tally: --timeout takes a number of seconds above 0, such as 0.5 or 30, not 0\n');
  });

  test('a switch that is given twice says the same as once, and so does a value', async () => {
    const line = 'customers list --quiet -q --no-input --no-input --expect-env embedded --expect-env embedded';
    expect((await createShell().run(line)).code).toBe(0);
  });

  test('of how to print, the last word counts', async () => {
    const shell = createShell({
      reply: () => ({ body: { data: [{ id: 'c1', name: 'A' }] } as unknown as Answer['body'] }),
    });
    expect((await shell.run('-o json customers list --columns name -o csv --columns id')).stdout).toBe('"id"\n"c1"\n');
    expect(JSON.parse((await shell.run('customers list --json --json name')).stdout)).toEqual([{ name: 'A' }]);
  });

  test('an unknown flag is heard of before a missing one', async () => {
    expect((await createShell().run('customers create --nope')).stderr).toContain("unknown option '--nope'");
  });
});

const emptyBilling = {
  call: async () =>
    await Promise.resolve({ status: 200, body: { data: [], hasMore: false, total: 0 } } as unknown as Answer),
} as unknown as Billing;

test.each<[number[], number, string]>([
  [[3000, 20_000], 0, 'billing.example: answered 429; trying again in 3 s\n'],
  [[200], 0, ''],
  [[200], 30_000, 'billing.example: answered 429; trying again\n'],
])('a person hears why nothing happens, once: waits of %j ms after %i ms', async (waits, triedMilliseconds, words) => {
  const env = { TALLY_BASE_URL: 'https://billing.example', TALLY_API_KEY: `tally_live_${'0'.repeat(48)}` };
  const dependencies: Partial<Dependencies> = {
    openBilling: async (_target, { onRetry }) => {
      for (const delayMilliseconds of waits)
        onRetry?.({ delayMilliseconds, triedMilliseconds, reason: 'answered 429' });
      return await Promise.resolve({ billing: emptyBilling, close: () => Promise.resolve() });
    },
  };
  const { code, stderr } = await createShell({ env, dependencies }).run('customers list');
  expect([code, stderr]).toEqual([0, words]);
  expect((await createShell({ env, dependencies }).run('customers list --quiet')).stderr).toBe('');
});

describe('help', () => {
  test.each(['', '--help', '-h', 'help'])('"tally %s" lists every group and ends with 0', async (line) => {
    const { code, stdout, stderr } = await createShell().run(line);
    expect([code, stderr]).toEqual([0, '']);
    for (const [group, summary] of Object.entries(manifest.groups)) {
      expect(stdout).toMatch(new RegExp(`^ {2}${group} +${summary}$`, 'm'));
    }
    expect(stdout).not.toContain('__complete');
  });

  test('the root names its commands before its flags', async () => {
    const { stdout } = await createShell().run('');
    expect(stdout.indexOf('Billing:')).toBeLessThan(stdout.indexOf('Options:'));
  });

  test.each([
    ['catalog help diff', 'catalog diff --help'],
    ['profile help', 'profile --help'],
    ['help journal list', 'journal list --help'],
  ])('%s is %s', async (line, same) => {
    const { stdout, code } = await createShell().run(line);
    expect([code, stdout]).toEqual([0, (await createShell().run(same)).stdout]);
  });

  test.each(['customers', 'customers --help', 'help customers', 'customers help'])(
    '"tally %s" lists the verbs',
    async (line) => {
      const { code, stdout } = await createShell().run(line);
      expect(code).toBe(0);
      expect(stdout).toMatch(/^ {2}get <customer-id> +Show one customer$/m);
    },
  );

  test.each(['help credits grant', 'credits help grant'])('"tally %s" is the help of the command', async (line) => {
    const shell = createShell();
    expect((await shell.run(line)).stdout).toBe((await shell.run('credits grant --help')).stdout);
  });

  test('exit codes are listed, every one that an error can have', async () => {
    const { stdout } = await createShell().run('help exit-codes');
    const exitCodes = [0, ...Object.values(errorFacts).map(({ exitCode }) => exitCode), terminatedExitCode];
    for (const exitCode of exitCodes) expect(stdout).toMatch(new RegExp(`^ +${exitCode} {2}`, 'm'));
  });

  test.each(['environment', 'input', 'output'])('there is a topic on %s', async (topic) => {
    expect((await createShell().run(`help ${topic}`)).code).toBe(0);
  });

  test.each(['--version', '-V'])('%s is the version alone', async (flag) => {
    expect(await createShell().run(flag)).toMatchObject({ code: 0, stdout: '9.9.9\n', stderr: '' });
  });
});

describe('where flags may stand', () => {
  test.each([
    '-o name customers list --limit 5',
    'customers -o name list --limit 5',
    'customers list --limit 5 -o name',
    'customers list --limit=5 --output=name',
    'customers list --limit=5 -yqo name',
  ])('global flags are understood anywhere: %s', async (line) => {
    const shell = createShell({ reply: () => ({ body: { data: [{ id: 'c1' }], hasMore: false, total: 1 } as never }) });
    expect((await shell.run(line)).stdout).toBe('c1\n');
    expect(shell.calls).toEqual([{ name: 'customers.list', input: { query: { limit: '5' } } }]);
  });

  test.each(['--json customers list', 'customers --json list', '--json customers list --', '--json customers list -q'])(
    '%s does not take a command for a field',
    async (line) => {
      const { stdout, code } = await createShell().run(line);
      expect([code, JSON.parse(stdout)]).toEqual([0, { data: [], hasMore: false, total: 0 }]);
    },
  );

  test('nor does a command that is no operation', async () => {
    const { stdout, code } = await createShell().run('profile --json list');
    expect([code, JSON.parse(stdout)]).toEqual([0, { data: [] }]);
  });

  test('--json before the verb takes its fields all the same', async () => {
    expect((await createShell().run('customers --json id,name list')).stdout).toBe('[]\n');
  });

  test.each(['--json= customers list', 'customers --json= list', 'customers list --json='])(
    '%s, of a variable that is empty, is no order for every field',
    async (line) => {
      expect(await createShell().run(line)).toMatchObject({ code: 2, stdout: '' });
    },
  );

  test('a switch is true, and may be told false', async () => {
    const shell = createShell();
    await shell.run('contracts list --is-active');
    await shell.run('contracts list --is-active=false');
    expect(shell.calls.map(({ input }) => input.query)).toEqual([{ isActive: 'true' }, { isActive: 'false' }]);
  });

  test.each([
    [['customers', 'get', ''], 'missing <customer-id>'],
    [['budgets', 'remove', '', '1'], 'missing <contract-id>\n'],
    [['budgets', 'remove', 'k1', ''], 'missing <index>'],
  ])('an empty shell variable is no id: %j', async (words, message) => {
    const shell = createShell();
    const { code, stderr } = await shell.run(words);
    expect([code, shell.calls]).toEqual([2, []]);
    expect(stderr).toContain(message);
  });

  test('an empty shell variable does not swallow --dry-run', async () => {
    const shell = createShell();
    const { code } = await shell.run('customers update c1 --legal-name --dry-run');
    expect([code, shell.calls]).toEqual([2, []]);
  });

  test.each([
    ['credits grant c1 --amount-cents 5 --reason --external-id=T-1', '--reason <text>'],
    ['credits grant c1 --amount-cents --expires-at 2027-01-01', '--amount-cents <cents>'],
    ['credits grant c1 --override-policy --allow-zero', '--override-policy <reason>'],
    ['customers update c1 --legal-name --tag a', '--legal-name <text>'],
    ['customers update c1 --legal-name -- --tag', '--legal-name <text>'],
    ['catalog export --file --force', '--file <path>'],
    ['customers list --profile --database a.db', '--profile <name>'],
  ])('nor any other flag: %s', async (line, flag) => {
    const shell = createShell();
    const { code, stderr } = await shell.run(line);
    expect([code, shell.calls, stderr.split('\n')[0]]).toEqual([2, [], `tally: option '${flag}' argument missing`]);
  });

  test.each([
    ['--legal-name=--tag', '--tag'],
    ['--legal-name --x', '--x'],
    ['--legal-name -', '-'],
    ['--tag a --legal-name=', ''],
  ])('a text may begin with dashes: %s', async (words, legalName) => {
    const shell = createShell();
    await shell.run(['customers', 'update', 'c1', ...words.split(' ')]);
    expect(shell.calls.at(-1)?.input.body).toMatchObject({ legalName });
  });
});
