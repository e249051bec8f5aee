/** Agreement to what cannot be undone, on any environment, and what is shown before it. */

import { expect, test } from 'vitest';

import { ConflictError } from '../../../src/errors.ts';
import type { Answer } from '../../../src/operations/index.ts';
import { createShell } from '../shell.ts';
import type { Shell } from '../shell.ts';

const terminal = { isTerminal: true };

/** The operations that were called, without rehearsals. */
function kept({ calls }: Shell): string[] {
  return calls.filter(({ input }) => !Object.hasOwn(input.body ?? {}, 'rehearse')).map(({ name }) => name);
}

test.each<[string, readonly string[], number, readonly string[]]>([
  ['yes', ['yes'], 0, ['events.drop']],
  ['no', ['no'], 11, []],
  ['the end of input', [], 11, []],
])('what cannot be undone goes on only after a yes, on any environment: %s', async (_answer, answers, code, done) => {
  const shell = createShell({ reply: () => ({ body: { data: {} } as unknown as Answer['body'] }) });
  const outcome = await shell.run('events drop --before 2026-01-01', { ...terminal, answers });
  expect(outcome).toMatchObject({ code, asked: ['Go on?'] });
  expect(outcome.stderr).toContain('embedded: this cannot be undone\n');
  expect(kept(shell)).toEqual(done);
});

test('a request that says nothing more than its command shows no body before the question', async () => {
  const env = { TALLY_BASE_URL: 'https://billing.example.com', TALLY_API_KEY: `t_live_${'b'.repeat(48)}` };
  const { stderr } = await createShell({ env }).run('customers pause c1', { ...terminal, answers: ['no'] });
  expect(stderr).toContain('to a customer: c1\n? Go on?');
});

test('nobody is asked to agree to a loss that the service refuses', async () => {
  const reply = () => {
    throw new ConflictError('these events are not billed yet', { hint: 'finalize first' });
  };
  const shell = createShell({ reply });
  const { code, asked, stderr } = await shell.run('events drop --before 2026-01-01', { ...terminal, answers: ['yes'] });
  expect([code, asked, kept(shell)]).toEqual([7, [], []]);
  expect(stderr).toContain('these events are not billed yet');
});
