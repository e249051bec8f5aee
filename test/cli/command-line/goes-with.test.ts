import { describe, expect, test } from 'vitest';

import type { GlobalFlag } from '../../../src/cli/command-line/global-flags.ts';
import { createShell, manifest } from '../shell.ts';

const localFlags = manifest.commands.flatMap(({ group, verb, positionals, localFlags: flags = [] }) =>
  flags.map((flag: GlobalFlag) => ({ ...flag, command: [group, verb, ...positionals.map(() => 'c')].join(' ') })),
);
const dependent = localFlags
  .filter(({ goesWith }) => goesWith !== undefined)
  .map(({ command, name, value, goesWith }) => [`${command} --${name}${value === undefined ? '' : ' 1'}`, goesWith]);

describe('a flag that means nothing without another is refused without it, and nothing is done', () => {
  test.each([
    ...dependent,
    ['credits grant c --amount-cents 1 --resume --concurrency 2', 'from'],
    ['usage cost --contract-id c --ascii', 'chart'],
    ['catalog export --force', 'file'],
    ['invoices export i --force', 'file'],
    ['credits statement c --force', 'file'],
    ['simulate compare --catalog c.yaml --ascii', 'chart'],
    ['pull --to m.db --customer c', 'contract or --from'],
    ['pull --to m.db --plan p', 'contract or --from'],
  ])('%s', async (line, other) => {
    const shell = createShell();
    const { code, stdout, stderr } = await shell.run(line ?? '');
    expect({ code, stdout, calls: shell.calls.length }).toEqual({ code: 2, stdout: '', calls: 0 });
    expect(stderr).toMatch(new RegExp(`^tally: --[a-z]+ works only with --${other}\\n$`));
  });

  test('the help of each begins with the other', () => {
    const named = localFlags.map(({ description }) => /^with --([a-z-]+): /.exec(description)?.[1]);
    expect(named).toEqual(localFlags.map(({ goesWith }) => goesWith));
    expect(dependent.length).toBeGreaterThan(15);
  });
});
