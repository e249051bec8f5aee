/** The export of a journal that is longer than what is printed at once. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';

import { lineOf } from '../../../src/cli/operator/journal-line.ts';
import { testTerminal } from '../../support/test-terminal.ts';
import { createShell } from '../shell.ts';

const facts = {
  at: '2026-03-01T00:00:00.000Z',
  state: 'done',
  operator: 'ada',
  environment: 'embedded',
  target: 'book.db',
  operation: 'customers.create',
  requestHash: '',
} as const;
const lines = Array.from({ length: 20_000 }, (_, index) =>
  lineOf({ ...facts, call: `c${index}` }, undefined, (text) => text),
);
const jsonOf = (text: string): unknown => JSON.parse(text);
const callsOf = (rows: unknown) => (rows as readonly { readonly call: string }[]).map(({ call }) => call);

test.each([
  ['-o json', (text: string) => callsOf((jsonOf(text) as { readonly data: unknown }).data)],
  ['--json call', (text: string) => callsOf(jsonOf(text))],
  ['-o jsonl', (text: string) => callsOf(text.trimEnd().split('\n').map(jsonOf))],
  ['-o yaml', (text: string) => callsOf((parseYaml(text) as { readonly data: unknown }).data)],
  ['-o csv', (text: string) => callsOf(parse(text, { columns: true }))],
  ['--columns call', (text: string) => text.trimEnd().split('\n')],
] as const)('export %s prints a long journal as one document, some lines at a time', async (choice, read) => {
  const parts: string[] = [];
  const terminal = { ...testTerminal(), out: (text: string) => void parts.push(text) };
  const shell = createShell({ dependencies: { terminal } });
  const path = join(shell.home, 'data', 'journal', 'journal.jsonl');
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''), { mode: 0o600 });
  expect((await shell.run(`journal export ${choice}`)).code).toBe(0);
  const text = parts.join('');
  expect(read(text)).toEqual(lines.map((_, index) => `c${index}`));
  expect(Math.max(...parts.map(({ length }) => length))).toBeLessThan(0.6 * text.length);
});
