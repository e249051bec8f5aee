/** SEC-20 and SEC-21: whatever a service answers to any command, nothing in it acts on the terminal, or leaves its JSON. */

import { expect, test } from 'vitest';

import type { CommandSpec } from '../../src/cli/command-line/manifest.ts';
import { BillingError } from '../../src/errors.ts';
import { createShell, exampleLineOf, manifest } from '../cli/shell.ts';

/** Clears the screen, sets a title and the clipboard, links, turns the direction, ends lines, is no Unicode. */
const hostile =
  '\u001b[2J\u001b]0;t\u0007\u001b]52;c;eA==\u0007\u001b]8;;http://x\u001b\\\u001bP+q\u001b\\\u009b31m\u202e\u2066a\u200b\r\nGo on? yes\u0000\ud800\u{e0041}\ufeff';
const acting =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]|\p{Surrogate}/u;

/** An answer with the hostile text wherever the command shows something. */
function answerTo({ view, fields }: CommandSpec): object {
  const row: Record<string, unknown> = { [hostile]: hostile };
  for (const path of [...fields, ...view.columns.map((column) => column.path)]) put(row, path, hostile);
  for (const [path, columns] of Object.entries(view.parts ?? {})) {
    const part: Record<string, unknown> = {};
    for (const column of columns) put(part, column.path, hostile);
    put(row, path, [part]);
  }
  const body: Record<string, unknown> = { hasMore: false, total: 1 };
  if (view.rows === '') return row;
  put(body, view.rows, [row]);
  return body;
}

function put(target: Record<string, unknown>, path: string, value: unknown): void {
  const [name = '', ...rest] = path.split('.');
  if (rest.length === 0) target[name] = value;
  else {
    const inner = target[name];
    target[name] = typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? inner : {};
    put(target[name] as Record<string, unknown>, rest.join('.'), value);
  }
}

const formats = ['table', 'json', 'jsonl', 'csv', 'tsv', 'yaml', 'name'];
const lines = manifest.commands.map((command) => [command.operation, command] as const);

test.each(lines)('%s', async (_operation, command) => {
  const line = `${exampleLineOf(command).replace(/^tally /, '')} --yes`;
  const answering = createShell({ reply: () => ({ body: answerTo(command) as never }) });
  const failing = createShell({
    reply: () => {
      throw new BillingError('conflict', hostile, { hint: hostile, requestId: hostile, cause: new Error(hostile) });
    },
  });
  let shown = 0;
  for (const format of formats) {
    for (const [shell, more] of [
      [answering, ''],
      [failing, ' --debug'],
    ] as const) {
      // How a failure is told depends on JSON alone.
      if (shell === failing && !['table', 'json'].includes(format)) continue;
      const { stdout, stderr } = await shell.run(`${line} -o ${format}${more}`, { isTerminal: true });
      expect({ format, acting: acting.exec(stdout + stderr)?.[0] }).toEqual({ format, acting: undefined });
      // A cell of CSV may have several lines.
      if (format !== 'csv') expect(stdout + stderr).not.toMatch(/^Go on\?/m);
      if (stdout.includes('Go on? yes')) shown += 1;
      if (format === 'json' && stdout !== '') expect(() => JSON.parse(stdout)).not.toThrow();
    }
  }
  // Otherwise nothing was tried.
  expect(shown).toBeGreaterThan(3);
});
