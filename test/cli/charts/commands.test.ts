import { describe, expect, test } from 'vitest';

import { entry } from '../documents/sample.ts';
import { createShell } from '../shell.ts';

const entries = [
  entry('2026-03-31T00:00:00.000Z', 'usage', -1750),
  entry('2026-03-16T00:00:00.000Z', 'usage', -2000),
  entry('2026-03-01T00:00:00.000Z', 'grant', 5000),
];
const free = entry('2026-03-16T00:00:00.000Z', 'grant', 0, { creditAmount: 2.5 });
const block = (more: object) => ({
  id: 'grant',
  status: 'active',
  priority: 0,
  daysUntilExpiry: 200,
  originalCents: 5000,
  originalCredits: 0,
  remainingCents: 1250,
  remainingCredits: 0,
  creditRateCents: 0,
  currency: 'USD',
  description: 'Welcome',
  isPromotional: true,
  expiresAt: '2026-12-31T00:00:00.000Z',
  createdAt: '2026-03-01T00:00:00.000Z',
  ...more,
});
const budget = (more: object) => ({
  index: 0,
  label: 'model=large',
  eventPropertyKey: 'model',
  eventPropertyValue: 'large',
  meterId: null,
  maxCredits: null,
  maxCreditsCents: 5000,
  isExhausted: false,
  consumedUnits: 0,
  consumedCents: 1250,
  percentConsumed: 25,
  ...more,
});

function shellWith(data: unknown) {
  return createShell({ reply: () => ({ body: { data } as never }) });
}
const ledger = (all: readonly unknown[]) => shellWith({ totalCount: all.length, entries: all });
const blocks = [
  block({}),
  block({
    description: 'Paid',
    isPromotional: false,
    expiresAt: null,
    daysUntilExpiry: null,
    originalCents: 10_000,
    remainingCents: 10_000,
  }),
  block({ description: 'Free', originalCents: 0, remainingCents: 0, originalCredits: 500, remainingCredits: 125.5 }),
  block({ status: 'depleted', remainingCents: 0 }),
];
const balance = {
  balanceCents: 11_250,
  creditBalance: 125.5,
  currency: 'USD',
  blockCount: 4,
  asOf: '2026-04-01T00:00:00.000Z',
};

test.each([
  ['credits balance c --chart', { balance: { ...balance, balanceCents: 123_456_789 }, blocks: [] }],
  ['credits ledger c --chart', { totalCount: 1, entries: [entry('2026-03-01T00:00:00.000Z', 'grant', 123_456_789)] }],
  ['budgets usage c --chart', { budgets: [budget({ isExhausted: true, consumedCents: 123_456_789 })] }],
])('%s cuts no amount where there is no room for it', async (line, data) => {
  const { stdout } = await shellWith(data).run(line, { isTerminal: true, columns: 20 });
  expect(stdout).toContain('1234567.89 USD');
  expect(stdout.replace(/^0\. model=large~?$/m, '')).not.toMatch(/[~…]/);
});

test('amounts are in the currency of the wallet', async () => {
  const grant = entry('2026-03-01T00:00:00.000Z', 'grant', 5000, { currency: 'EUR' });
  const inEuro = { balance: { ...balance, currency: 'EUR' }, blocks: [block({ currency: 'EUR' })] };
  const outcomes = [
    await ledger([grant]).run('credits ledger c --chart'),
    await shellWith(inEuro).run('credits balance c --chart'),
  ];
  expect(outcomes.map(({ stdout }) => [stdout.includes(' EUR'), stdout.includes('USD')])).toEqual([
    [true, false],
    [true, false],
  ]);
});

describe('credits ledger --chart', () => {
  test('draws the balance of eighty columns in plain ASCII off a terminal', async () => {
    const { stdout, stderr, code } = await ledger(entries).run('credits ledger c --chart');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toBe(
      [
        'Balance: 12.50 USD',
        '50.00 USD |----------------------------------+',
        '40.00 USD |                                  |',
        '30.00 USD |                                  +---------------------------------+',
        '20.00 USD |                                                                    |',
        '10.00 USD |                                                                    +',
        ' 0.00 USD |',
        '          2026-03-01                                                  2026-03-31',
        'opening 0.00 USD, highest 50.00 USD, movements 3',
        '',
      ].join('\n'),
    );
  });

  test('is as wide as the terminal, with lines where it shows them', async () => {
    const { stdout } = await ledger(entries).run('credits ledger c --chart', {
      isTerminal: true,
      columns: 40,
      hasUnicode: true,
    });
    const lines = stdout.trimEnd().split('\n');
    expect(lines[1]).toBe('50.00 USD ┤──────────────╮');
    expect(Math.max(...lines.slice(0, -1).map((line) => line.length))).toBeLessThanOrEqual(40);
    expect(lines.at(-1)).toBe('opening 0.00 USD, highest 50.00 USD, movements 3');
  });

  test('draws plain ASCII on any terminal where that is asked for', async () => {
    const { stdout } = await ledger(entries).run('credits ledger c --chart --ascii', {
      isTerminal: true,
      hasUnicode: true,
    });
    expect(stdout).toMatch(/^[\n -~]+$/);
  });

  test('draws free credits below the money', async () => {
    const { stdout } = await ledger([free, ...entries]).run('credits ledger c --chart');
    expect(stdout).toContain('\n\nFree credits: 2.5 credits\n');
    expect(stdout).toContain('opening 0 credits, highest 2.5 credits, movements 1\n');
  });

  test('draws what expired at its instant, also before there is an entry of that', async () => {
    const own = { grantEntryId: 'grant' };
    const grant = entry('2026-03-01T00:00:00.000Z', 'grant', 5000, { id: 'grant' });
    const used = entry('2026-03-16T00:00:00.000Z', 'usage', -2000, own);
    const later = entry('2026-03-20T00:00:00.000Z', 'grant', 1000, { id: 'later' });
    const expired = block({ status: 'expired', remainingCents: 0, expiresAt: '2026-03-31T00:00:00.000Z' });
    const held = block({ id: 'later', originalCents: 1000, remainingCents: 1000 });
    const shellOf = (entries: readonly unknown[]) =>
      createShell({
        reply: ({ name }) => ({
          body: {
            data:
              name === 'credits.balance'
                ? { balance: { ...balance, balanceCents: 1000 }, blocks: [expired, held] }
                : { totalCount: entries.length, entries },
          } as never,
        }),
      });
    const shell = shellOf([later, used, grant]);
    const { stdout } = await shell.run('credits ledger c --chart');
    expect(stdout).toContain('Balance: 10.00 USD\n');
    expect(stdout).toMatch(/ 2026-03-01 +2026-03-31\n/);
    expect(stdout).toContain('highest 50.00 USD, movements 4\nexpired, and not yet in the ledger: 30.00 USD\n');
    const before = await shell.run('credits ledger c --chart --created-before 2026-03-31');
    expect(before.stdout).toContain('Balance: 40.00 USD\n');
    expect(before.stdout).not.toContain('expired');
    const lapse = entry('2026-04-01T00:00:00.000Z', 'expiration', -3000, own);
    const written = await shellOf([lapse, later, used, grant]).run('credits ledger c --chart');
    expect(written.stdout).toContain('Balance: 10.00 USD\n');
    expect(written.stdout).not.toContain('expired');
    const anonymous = entry('2026-03-16T00:00:00.000Z', 'adjustment', -2000);
    const unexplained = await shellOf([later, anonymous, grant]).run('credits ledger c --chart');
    expect(unexplained.stdout).toContain('Balance: 40.00 USD\n');
  });

  test.each([
    ['no expiry', { expiresAt: undefined }],
    ['only the day of its expiry', { expiresAt: '2026-03-31' }],
    ['no remainder', { remainingCents: null }],
  ])('draws the ledger alone where the balance of another service names %s of a grant', async (_case, more) => {
    const expired = block({ status: 'expired', ...more });
    const shell = createShell({
      reply: ({ name }) => ({
        body: {
          data:
            name === 'credits.balance'
              ? { balance, blocks: [expired, block(more)] }
              : { totalCount: entries.length, entries },
        } as never,
      }),
    });
    const { stdout } = await shell.run('credits ledger c --chart');
    expect(stdout).toContain('Balance: 12.50 USD\n');
  });

  test('draws a part of the time from every entry before it', async () => {
    const shell = ledger(entries);
    const { stdout } = await shell.run(
      'credits ledger c --chart --created-after 2026-03-10 --created-before 2026-03-31',
    );
    expect(shell.calls[0]).toEqual({ name: 'credits.ledger', input: { params: { contractId: 'c' } } });
    expect(stdout).toContain('Balance: 30.00 USD\n');
    expect(stdout).toContain('opening 50.00 USD, highest 50.00 USD, movements 1\n');
  });

  test.each([
    ['--created-after 2026-05-01', '12.50', '2026-05-01'],
    ['--created-before 2026-02-01', '0.00', '2026-02-01'],
    ['--created-after 2026-05-01 --created-before 2026-04-01', '12.50', '2026-05-01'],
  ])('draws no time that runs backwards where every entry is outside of it: %s', async (words, amount, day) => {
    const { stdout } = await ledger(entries).run(`credits ledger c --chart ${words}`);
    expect(stdout).toContain(`opening ${amount} USD, highest ${amount} USD, movements 0\n`);
    expect(stdout.match(/\d{4}-\d{2}-\d{2}/g)).toEqual([day]);
  });

  test('of a contract without credits says so, and draws no time that never was', async () => {
    const { stdout } = await ledger([]).run('credits ledger c --chart');
    expect(stdout).toBe('Balance: 0.00 USD, no entries so far\n');
  });

  test.each([
    ['credits ledger c --chart -o json', '--chart draws a picture, and another format was asked for too'],
    ['credits ledger c --chart --json id', '--chart draws a picture, and another format was asked for too'],
    ['credits ledger c --chart --columns id', '--chart draws a picture, and another format was asked for too'],
    ['credits ledger c --chart --type grant', '--chart draws a balance, which needs every entry: leave out --type'],
    ['credits ledger c --chart --created-after soon', '--created-after takes a date such as 2026-03-01, not soon'],
    ['credits ledger c --ascii', '--ascii works only with --chart'],
  ])('%s is refused', async (line, message) => {
    const { code, stdout, stderr } = await ledger(entries).run(line);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
  });
});

describe('credits balance --chart', () => {
  test('shows what is left of each grant on a track of what it was, money and credits by a scale each', async () => {
    const { stdout } = await shellWith({ balance, blocks }).run('credits balance c --chart');
    expect(stdout).toBe(
      [
        'Balance: 112.50 USD and 125.5 credits',
        'Burn order, with expiry:',
        '1. 2026-12-31 promotional: Welcome  ##.......             12.50 USD of 50.00 USD',
        '2. no expiry paid: Paid             ##################  100.00 USD of 100.00 USD',
        '3. 2026-12-31 promotional: Free     #####.............      125.5 of 500 credits',
        '1 depleted or expired',
        '',
      ].join('\n'),
    );
  });

  test('shows what others have written without letting it act on the terminal', async () => {
    const hostile = [block({ description: 'a\u001b[2Jb\u202ec\nd' })];
    const { stdout } = await shellWith({ balance, blocks: hostile }).run('credits balance c --chart', {
      isTerminal: true,
    });
    expect(stdout).toContain('a\\u{1b}[2Jb\\u{202e}c\\u{a}d');
    expect(stdout).not.toContain('\u001b');
  });
});

describe('budgets usage', () => {
  const budgets = [
    budget({}),
    budget({
      index: 1,
      label: 'Small',
      eventPropertyValue: 'small',
      consumedCents: 6500,
      percentConsumed: 130,
      isExhausted: true,
    }),
    budget({ index: 2, eventPropertyValue: 'x', label: 'model=x', maxCreditsCents: null, percentConsumed: 0 }),
    budget({
      index: 3,
      eventPropertyValue: 'y',
      label: 'model=y',
      maxCreditsCents: null,
      maxCredits: 10,
      consumedUnits: 2.5,
    }),
  ];
  const data = { budgets, contractId: 'c', walletMode: 'dollars', queriedAt: '2026-04-01T00:00:00.000Z' };

  test('is bars up to each cap on a terminal, and off one where they are asked for', async () => {
    const shell = shellWith(data);
    const { stdout } = await shell.run('budgets usage c --chart');
    expect(stdout).toBe(
      [
        '0. model=large         ####...........             12.50 USD of 50.00 USD   25 %',
        '1. Small: model=small  ##############>  exhausted  65.00 USD of 50.00 USD  130 %',
        '2. model=x                                                     12.50 USD, no cap',
        '3. model=y             ####...........                  2.5 of 10 credits   25 %',
        '',
      ].join('\n'),
    );
    expect((await shell.run('budgets usage c', { isTerminal: true, columns: 80 })).stdout).toBe(stdout);
  });

  test('stays a table where columns are asked for, and rows for programs', async () => {
    const shell = shellWith(data);
    expect((await shell.run('budgets usage c --columns index,percentConsumed', { isTerminal: true })).stdout).toContain(
      '130 %',
    );
    expect((await shell.run('budgets usage c')).stdout.split('\n')[1]).toBe(
      '1\tSmall\tmodel\tsmall\t\t5000\ttrue\t0\t6500\t130',
    );
  });
});
