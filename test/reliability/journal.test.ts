import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { readLine, verifyLines } from '../../src/cli/operator/journal-line.ts';
import { newDirectory } from '../support/temporary-files.ts';
import { outputOf, startChild } from './child.ts';

test('commands of several processes write one journal, without a line lost or a link broken', async () => {
  const file = join(newDirectory(), 'journal', 'journal.jsonl');
  const children = ['1', '2', '3', '4'].map((number) => startChild('journal-process.ts', [file, number, '30']));
  await Promise.all(children.map(async (child) => await once(child.process.stdout, 'data')));
  for (const child of children) child.process.stdin.end('go\n');
  await Promise.all(children.map(async (child) => await outputOf(child)));
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  expect(verifyLines(lines)).toMatchObject({ lines: 120, findings: [] });
  expect(new Set(lines.map((line) => readLine(line)?.call)).size).toBe(120);
});
