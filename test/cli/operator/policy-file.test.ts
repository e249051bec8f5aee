/** The policy file as it is found and read; what its rules hold is in grants-policy.test.ts. */

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { createShell } from '../shell.ts';

const line = 'credits grant k1 --amount-cents 500 --expires-at 2099-01-01T00:00:00Z';

describe('a policy file that is wrong stops every write, and says where', () => {
  test.each([
    ['grants:\n  per-grand: 1.00\n', 'grants.per-grand is not a rule; the rules are per-grant,'],
    ['grants:\n  per-grant: a lot\n', 'grants.per-grant must be an amount such as 500.00'],
    ['grants:\n  per-grant: 5.005\n', 'grants.per-grant must be an amount'],
    ['grants:\n  reason: maybe\n', 'grants.reason must be required or optional'],
    ["grants:\n  ticket: '('\n", 'grants.ticket is not a valid pattern'],
    ['grants:\n  free-credits-per-grant: -1\n', 'grants.free-credits-per-grant must be a number of credits'],
    ['environments: production\n', 'environments must be a list'],
    ['environments: [sandbox, prod]\n', 'environments must be a list of'],
    ['environments: []\ngrants:\n  per-grant: 1.00\n', 'environments must be a list of'],
    ["grants:\n  ticket: ''\n", 'grants.ticket must be a pattern'],
    ['rules: 1\n', 'rules is not a rule'],
    ['- a\n', 'the file must consist of names with values'],
    ['a: 1\na: 2\n', 'is not valid YAML: Map keys must be unique at line 2, column 1\n'],
    ['', 'the file is empty'],
    [' \n', 'the file is empty'],
  ])('%j', async (text, words) => {
    const shell = createShell();
    const path = join(shell.home, 'config', 'policy.yaml');
    mkdirSync(join(shell.home, 'config'), { mode: 0o700 });
    writeFileSync(path, text);
    const { code, stderr } = await shell.run(line);
    expect([code, shell.calls]).toEqual([2, []]);
    expect(stderr).toContain(`${path}: ${words}`);
  });

  test('TALLY_POLICY names another, which must be there', async () => {
    const shell = createShell({ env: { TALLY_POLICY: '/nowhere/policy.yaml' } });
    expect((await shell.run(line)).stderr).toContain(
      'TALLY_POLICY names /nowhere/policy.yaml, and that file does not exist',
    );
    expect((await shell.run('customers list')).code).toBe(0);
  });

  test('an empty TALLY_POLICY names none: the usual file holds', async () => {
    const shell = createShell({ env: { TALLY_POLICY: '' } });
    mkdirSync(join(shell.home, 'config'), { mode: 0o700 });
    writeFileSync(join(shell.home, 'config', 'policy.yaml'), 'grants:\n  per-grant: 4.99\n');
    expect((await shell.run(line)).stderr).toContain('per-grant: 5.00 USD is more than 4.99 USD');
  });

  test('one that leads to a file which is not there stops every write', async () => {
    const shell = createShell();
    mkdirSync(join(shell.home, 'config'), { mode: 0o700 });
    symlinkSync('/nowhere/policy.yaml', join(shell.home, 'config', 'policy.yaml'));
    const { code, stderr } = await shell.run(line);
    expect([code, shell.calls]).toEqual([2, []]);
    expect(stderr).toContain('policy.yaml is a link, and that file does not exist');
  });

  test('one of comments alone has no rules', async () => {
    const shell = createShell();
    mkdirSync(join(shell.home, 'config'), { mode: 0o700 });
    writeFileSync(join(shell.home, 'config', 'policy.yaml'), '# nothing yet\n');
    expect((await shell.run(line)).code).toBe(0);
  });
});
