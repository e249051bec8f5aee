/** What an interrupt would say, as long as a write is under way. */

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
    expect(words).toEqual([expect.stringContaining('the outcome is unknown'), undefined]);
  },
);

test.each([
  ['bill run', 'repeat the command: what was done stays done, and it does the rest'],
  ['clock set --to 2027-01-01T00:00:00Z', 'repeat the command: it goes on from where the clock stands'],
  ['clock advance --by P1M --database b.db', 'with: tally clock show --database b.db; go on with: tally clock advance'],
  ['clock advance --by P1M --database b.db', 'with: tally clock advance --to INSTANT --database b.db\n'],
])('an interrupt of %s says how to go on', async (line, hint) => {
  const words: unknown[] = [];
  const reply = () => ({ body: { data: { invoices: [], failures: [] } } as never });
  await createShell({ reply, dependencies: { atInterrupt: (said) => void words.push(said) } }).run(line);
  expect(words[0]).toContain(hint);
});
