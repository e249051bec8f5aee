/** What an interrupt would say, until a write is sent and as long as it is under way. */

import { expect, test } from 'vitest';

import { BillingError } from '../../../src/errors.ts';
import { createShell } from '../shell.ts';

const pay = 'invoices cancel i1';

test.each([undefined, new BillingError('conflict', 'no')])(
  'an interrupt after the answer, %s, says nothing of it any more',
  async (refusal) => {
    const words: unknown[] = [];
    const reply = () => {
      if (refusal !== undefined) throw refusal;
      return { body: { data: { id: 'i1' } } as never };
    };
    const shell = createShell({ reply, dependencies: { atInterrupt: (said) => void words.push(said) } });
    await shell.run(pay);
    expect(words).toEqual([
      'tally: interrupted: nothing was sent\n',
      expect.stringContaining('the outcome is unknown'),
      undefined,
    ]);
  },
);

test('an interrupt before the grant is sent says that nothing was sent, and one after its answer nothing of it', async () => {
  const words: unknown[] = [];
  const told: Record<string, unknown> = {};
  const reply = ({ name }: { readonly name: string }) => {
    told[name] ??= words.at(-1);
    return { body: { data: { id: 'g1', balance: {}, blocks: [] } } as never };
  };
  const production = { TALLY_BASE_URL: 'https://billing.example.com', TALLY_API_KEY: `t_live_${'b'.repeat(48)}` };
  const shell = createShell({ reply, env: production, dependencies: { atInterrupt: (said) => void words.push(said) } });
  const line = 'credits grant k1 --amount-cents 5 --expires-at 2099-12-31T00:00:00Z';
  await shell.run(line, { isTerminal: true, answers: ['yes'] });
  expect(told).toMatchObject({
    'contracts.get': 'tally: interrupted: nothing was sent\n',
    'credits.grant': expect.stringContaining('the outcome is unknown'),
    'credits.balance': undefined,
  });
});

test('an interrupt of a file of rows says that nothing was sent until the first row is', async () => {
  const words: unknown[] = [];
  const told: unknown[] = [];
  const reply = ({ name }: { readonly name: string }) => {
    if (name === 'contracts.get') told.push(words.at(-1));
    return { body: { data: { id: 'k1', customerId: 'c1' } } as never };
  };
  const shell = createShell({ reply, dependencies: { atInterrupt: (said) => void words.push(said) } });
  const line = 'credits grant --from - --expires-at 2099-12-31T00:00:00Z --yes';
  await shell.run(line, { input: 'contractId,amountCents\nk1,5\n' });
  expect(told[0]).toBe('tally: interrupted: nothing was sent\n');
  expect(words[1]).toBeUndefined();
});

test('an interrupt of what only reads, or rehearses, says nothing', async () => {
  const words: unknown[] = [];
  const reply = () => ({ body: { data: { invoices: [], failures: [] } } as never });
  for (const line of ['invoices list', 'bill run --dry-run']) {
    await createShell({ reply, dependencies: { atInterrupt: (said) => void words.push(said) } }).run(line);
  }
  expect(words).toEqual([]);
});

test.each([
  ['bill run', 'repeat the command: what was done stays done, and it does the rest'],
  ['clock set --to 2027-01-01T00:00:00Z', 'repeat the command: it goes on from where the clock is'],
  ['clock advance --by P1M --database b.db', 'with: tally clock show --database b.db; go on with: tally clock advance'],
  ['clock advance --by P1M --database b.db', 'with: tally clock advance --to INSTANT --database b.db\n'],
])('an interrupt of %s says how to go on', async (line, hint) => {
  const words: unknown[] = [];
  const reply = () => ({ body: { data: { invoices: [], failures: [] } } as never });
  await createShell({ reply, dependencies: { atInterrupt: (said) => void words.push(said) } }).run(line);
  expect(words[1]).toContain(hint);
});

test('an interrupt of a catalog that is applied says that the same command does the rest', async () => {
  const words: unknown[] = [];
  const told: unknown[] = [];
  const reply = ({ name }: { readonly name: string }) => {
    if (name === 'products.create') told.push(words.at(-2), words.at(-1));
    return name.endsWith('.create') ? { body: { data: { id: 'made' } } as never } : {};
  };
  const shell = createShell({ reply, dependencies: { atInterrupt: (said) => void words.push(said) } });
  const input = 'products: [{ name: Inference }, { name: Training }]';
  await shell.run('catalog apply - --yes', { input });
  const hint = '\n  hint: repeat the command: what was done stays done, and it does the rest\n';
  const during = `tally: interrupted during the request: the outcome is unknown${hint}`;
  const between = `tally: interrupted between two requests${hint}`;
  expect(told).toEqual(['tally: interrupted: nothing was sent\n', during, between, during]);
  expect(words.at(-1)).toBeUndefined();
});
