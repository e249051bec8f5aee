import { Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';

import { expect, test } from 'vitest';

import { createProgress, durationText } from '../../../src/cli/session/progress.ts';
import type { Session } from '../../../src/cli/session/session.ts';
import { testTerminal } from '../../support/test-terminal.ts';

async function drawn(hasUnicode: boolean, env: Readonly<Record<string, string>>): Promise<string> {
  let written = '';
  const write = (chunk: Buffer, _encoding: string, done: () => void): void => {
    written += String(chunk);
    done();
  };
  const output = Object.assign(new Writable({ write }), { isTTY: true, columns: 80 });
  const terminal = {
    ...testTerminal({ isTerminal: true, hasUnicode }),
    openProgress: () => ({ output, close: () => undefined }),
  };
  const session = { terminal, flags: {}, dependencies: { env } } as unknown as Session;
  const progress = await createProgress(session, 14);
  progress.update({ done: 7, rows: 7 });
  progress.stop();
  return written;
}

test.each([
  [true, '████████████░░░░░░░░░░░░ 50% | 7 rows, '],
  [false, '============------------ 50% | 7 rows, '],
])('a bar is drawn with more than ASCII where the terminal shows it: %s', async (hasUnicode, bar) => {
  expect(stripVTControlCharacters(await drawn(hasUnicode, { TERM: 'xterm' }))).toContain(bar);
});

test('nothing is drawn on a terminal that cannot draw over a line', async () => {
  expect(await drawn(false, { TERM: 'dumb' })).toBe('');
});

test.each([
  [undefined, '?'],
  [0, '0s'],
  [0.2, '1s'],
  [59.5, '1m 0s'],
  [125, '2m 5s'],
  [12_000, '3h 20m'],
])('what is left of %s seconds is said as %s', (seconds, text) => {
  expect(durationText(seconds)).toBe(text);
});
