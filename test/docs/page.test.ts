import { describe, expect, test } from 'vitest';

import { pageOf, parsePage, performances, scriptOf } from './page.ts';

const page = [
  '# A page',
  '```yaml file=a.yaml',
  'a: 1',
  '```',
  '```console',
  '$ one \\',
  '>   two',
  'printed',
  '```',
  '',
];
const ids = ['a', 'b'].map((letter) => `01a1fe12-0102-7298-82e2-6941e63c56${letter.repeat(2)}`) as [string, string];

/** The page of one command, as it would have to be when the command printed something else than it says. */
function corrected(says: readonly string[], printed: readonly string[], exitCode = 0): string[] {
  const parts = parsePage(['```console', '$ tally', ...says, '```'].join('\n'));
  return pageOf(parts, new Map([[1, { exitCode, printed }]]))
    .split('\n')
    .slice(2, -1);
}

test('a page is made again from its parts', () => {
  const parts = parsePage(page.join('\n'));
  expect(parts.map(({ kind }) => kind)).toEqual(['text', 'text', 'file', 'text', 'text', 'command', 'text', 'text']);
  expect(pageOf(parts, new Map([[5, { exitCode: 0, printed: ['printed'] }]]))).toBe(page.join('\n'));
});

test('what stands outside of a block of commands is never run', () => {
  const script = scriptOf(parsePage('$ rm -r ~\n```sh\n$ rm -r ~\n```\n```console\n$ true\n```'), 'MARK');
  expect(script).not.toContain('rm');
  expect(script).toContain('\ntrue\n');
});

test('each part has what it printed and its exit code, and one that never ended has none', () => {
  expect(performances('a\nb\nMARK 1 0\nMARK 3 10\nc\n', 'MARK')).toEqual(
    new Map([
      [1, { exitCode: 0, printed: ['a', 'b'] }],
      [3, { exitCode: 10, printed: [] }],
    ]),
  );
  expect(pageOf(parsePage('```console\n$ tally\n```'), new Map())).toContain('THIS DID NOT END');
});

describe('a page has to say', () => {
  test.each<[string, string[], string[]]>([
    ['the very amount', ['total  12.50 USD'], ['total  12.51 USD']],
    ['every line', ['a'], ['a', 'b']],
    ['no line that is not printed', ['a', 'b'], ['a']],
    ['what stands around a word that differs', ['head … of 3'], ['head 01ab of 4']],
    ['one word for one', ['head …'], ['head 01 ab']],
    ['one id for one', [ids[0], ids[0]], [...ids]],
    ['another id for another', [...ids], [ids[0], ids[0]]],
  ])('%s', (_what, says, printed) => {
    expect(corrected(says, printed)).not.toEqual(says);
  });

  test.each<[string, string[], string[]]>([
    ['what a word is that differs from run to run', ['head … of 3'], ['head 01ab of 3']],
    ['which ids a run made', [...ids, ids[0]], [ids[1], ids[0], ids[1]]],
  ])('not %s', (_what, says, printed) => {
    expect(corrected(says, printed)).toEqual(says);
  });

  test('that a command fails, by showing its exit code', () => {
    expect(corrected([], [], 10)).toEqual(['THE PAGE DOES NOT SHOW EXIT CODE 10']);
    const told = parsePage('```console\n$ tally\n$ echo $?\n10\n```');
    const performed = new Map([
      [1, { exitCode: 10, printed: [] }],
      [2, { exitCode: 0, printed: ['10'] }],
    ]);
    expect(pageOf(told, performed)).toBe('```console\n$ tally\n$ echo $?\n10\n```');
  });
});
