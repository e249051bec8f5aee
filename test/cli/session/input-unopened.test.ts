import { expect, test } from 'vitest';

import { mayAsk } from '../../../src/cli/session/prompts.ts';
import type { Session } from '../../../src/cli/session/session.ts';

test.each([
  ['everything else allows a question', {}, true],
  ['standard output goes elsewhere', { isOut: false }, false],
  ['standard error goes elsewhere', { isErr: false }, false],
  ['CI is set', { ci: 'true' }, false],
  ['--no-input is given', { input: false }, false],
])('whether standard input is a terminal is asked only if needed: %s', (_, facts, isAsked) => {
  const { isOut = true, isErr = true, ci = '', input = true } = facts as Facts;
  let count = 0;
  const terminal = {
    stdin: {
      get isTerminal() {
        count += 1;
        return true;
      },
    },
    stdout: { isTerminal: isOut },
    stderr: { isTerminal: isErr },
  };
  const session = { terminal, flags: { input }, dependencies: { env: { CI: ci } } } as unknown as Session;
  expect([mayAsk(session), count > 0]).toEqual([isAsked, isAsked]);
});

interface Facts {
  readonly isOut?: boolean;
  readonly isErr?: boolean;
  readonly ci?: string;
  readonly input?: boolean;
}
