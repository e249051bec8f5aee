import { Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';

import { expect, test } from 'vitest';

import { createProgress, durationText } from '../../../src/cli/session/progress.ts';
import type { Session } from '../../../src/cli/session/session.ts';
import { testTerminal } from '../../support/test-terminal.ts';

test.each([
  [true, '████████████░░░░░░░░░░░░ 50% | 7 rows, '],
  [false, '============------------ 50% | 7 rows, '],
])('a bar is drawn with more than ASCII where the terminal shows it: %s', async (hasUnicode, drawn) => {
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
  const progress = await createProgress({ terminal, flags: {} } as unknown as Session, 14);
  progress.update({ done: 7, rows: 7 });
  progress.stop();
  expect(stripVTControlCharacters(written)).toContain(drawn);
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
