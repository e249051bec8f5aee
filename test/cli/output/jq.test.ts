import { describe, expect, test, vi } from 'vitest';

import { exactNumber } from '../../../src/exact-json.ts';
import { limits } from '../../../src/limits.ts';
import type { Answer } from '../../../src/operations/index.ts';
import { createShell } from '../shell.ts';

const answer = {
  data: [
    { id: 'c1', name: 'Ada\u001b[31m', balance: exactNumber('9007199254740993'), rate: exactNumber('0.10') },
    { id: 'c2', name: 'Bo', balance: 5, rate: null },
  ],
  hasMore: false,
  total: 2,
};

async function tally(words: readonly string[]) {
  const shell = createShell({ reply: () => ({ body: answer as unknown as Answer['body'] }) });
  return { ...(await shell.run(words)), calls: shell.calls.length };
}

describe('--jq', () => {
  test.each([
    ['.data[].id', 'c1\nc2\n'],
    ['.data[1]', '{"id":"c2","name":"Bo","balance":5,"rate":null}\n'],
    ['.total', '2\n'],
    ['.data[] | select(.id == "none")', ''],
    ['-1', '-1\n'],
    ['.total # and a comment', '2\n'],
    ['.data[] | [.id, .rate, "a\\tb"] | @tsv', 'c1\t0.10\ta\\tb\nc2\t\ta\\tb\n'],
    ['.data[0] | "\\(.id)\\t\\(.name)"', 'c1\tAda\\u{1b}[31m\n'],
    ['"", .data[].id, "", ""', '\nc1\nc2\n\n\n'],
    ['.data[0].name | debug | stderr | empty', ''],
    ['"over" | halt_error(0)', ''],
  ])('%s prints texts as they are and the rest as JSON, a result a line', async (expression, expected) => {
    const { code, stdout, stderr } = await tally(['customers', 'list', '--jq', expression]);
    expect([code, stdout, stderr]).toEqual([0, expected, '']);
  });

  test('keeps the digits of numbers that it passes on', async () => {
    const { stdout } = await tally(['customers', 'list', '--jq', '.data[0] | .balance, .rate, "\\(.balance)"']);
    expect(stdout).toBe('9007199254740993\n0.10\n9007199254740993\n');
  });

  test('sees what --json chose', async () => {
    const { stdout } = await tally(['customers', 'list', '--json', 'id', '--jq', '.[0]']);
    expect(stdout).toBe('{"id":"c1"}\n');
  });

  test('makes a text safe for a terminal', async () => {
    const { stdout } = await tally(['customers', 'list', '--jq', '.data[0].name']);
    expect(stdout).toBe('Ada\\u{1b}[31m\n');
  });

  test('a result that is no text stays JSON where it holds what a terminal would act on', async () => {
    const name = 'Ada\u001b[31m\u007f\u202eb\u{e0041}';
    const shell = createShell({ reply: () => ({ body: { data: { name } } as unknown as Answer['body'] }) });
    const { stdout } = await shell.run(['customers', 'get', 'c1', '--jq', '.data']);
    expect(stdout).toBe('{"name":"Ada\\u001b[31m\\u007f\\u202eb\\udb40\\udc41"}\n');
    expect(JSON.parse(stdout)).toEqual({ name });
  });

  test.each([
    ['.data[', 'syntax error, unexpected end of file'],
    ['nosuch', 'nosuch/0 is not defined'],
  ])('%s is refused with the words of jq before anything is asked of the service', async (expression, words) => {
    const { code, stdout, stderr, calls } = await tally(['customers', 'list', '--jq', expression]);
    expect([code, stdout, calls]).toEqual([2, '', 0]);
    expect(stderr).toContain(`tally: --jq: ${words}\n`);
    expect(JSON.parse(stderr.split('\n').at(-2) ?? '')).toMatchObject({ error: { code: 'USAGE' } });
  });

  test('an expression that does not fit the answer prints nothing', async () => {
    const { code, stdout, stderr } = await tally(['customers', 'list', '--jq', '.data[].id, .data.x']);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('tally: --jq: Cannot index array with string "x"');
    expect(stderr).toContain(
      'hint: the expression does not fit the answer: look at the answer of a reading command with -o json\n',
    );
    const { error } = JSON.parse(stderr.split('\n').at(-2) ?? '') as { readonly error: Record<string, unknown> };
    expect([error['code'], error['status']]).toEqual(['USAGE', undefined]);
  });

  test('an expression that does not fit the answer of a write says that it is done', async () => {
    const { code, stdout, stderr, calls } = await tally([
      'products',
      'create',
      '--name',
      'API',
      '--jq',
      '.data.id.none',
    ]);
    expect([code, stdout, calls]).toEqual([2, '', 1]);
    expect(stderr).toContain('with -o json; what was to be done was done: check before repeating it\n');
  });

  test('takes an answer of megabytes in time that grows with its length', async () => {
    const name = 'x'.repeat(2_000_000);
    const shell = createShell({ reply: () => ({ body: { data: [{ name }] } as unknown as Answer['body'] }) });
    const { code, stdout } = await shell.run(['customers', 'list', '--jq', '.data[].name']);
    expect([code, stdout === `${name}\n`]).toEqual([0, true]);
  });

  test('takes no more than it can hold, and says what to do', async () => {
    const data = [{ name: 'x'.repeat(limits.jqCharacters) }];
    const shell = createShell({ reply: () => ({ body: { data } as unknown as Answer['body'] }) });
    const { code, stdout, stderr } = await shell.run(['customers', 'list', '--jq', '.data | length']);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('hint: ask for less with --json FIELDS or --limit, or pipe -o json');
  });

  test('what an expression says on standard error is not printed, where stored texts would reach a terminal', async () => {
    const warn = vi.spyOn(console, 'warn');
    await tally(['customers', 'list', '--jq', '.data[0].name | debug | stderr | length']);
    expect(warn).not.toHaveBeenCalled();
    // What others say there is heard again.
    expect(Reflect.get(console, 'warn')).toBe(warn);
  });

  test.each(['table', 'csv', 'tsv', 'yaml', 'name', 'jsonl'])('does not go with -o %s', async (format) => {
    const { code, stderr, calls } = await tally(['customers', 'list', '--jq', '.', '-o', format]);
    expect([code, calls]).toEqual([2, 0]);
    expect(stderr).toContain(`--jq works on JSON, not on ${format}`);
  });
});
