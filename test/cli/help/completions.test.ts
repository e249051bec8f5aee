import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { describe, expect, test } from 'vitest';

import { placesOf } from '../../../src/cli/completion-places.ts';
import { completionFiles, completionScript, shells } from '../../../src/cli/help/completions.ts';
import { runProgram } from '../../support/program.ts';
import { newDirectory } from '../../support/temporary-files.ts';
import { createShell, manifest } from '../shell.ts';

test.each(shells)('tally completion %s prints the script of the package', async (shell) => {
  expect((await createShell().run(`completion ${shell}`)).stdout).toBe(
    completionScript(shell, await placesOf(manifest)),
  );
  expect(existsSync(new URL(`../../../completions/${completionFiles[shell]}`, import.meta.url))).toBe(true);
});

test('a shell that there is no script for is refused', async () => {
  expect((await createShell().run('completion tcsh')).stderr).toContain(
    'completion takes one of bash, zsh, fish, powershell',
  );
});

test.each(shells)('every command stands in the script of %s', async (shell) => {
  const script = completionScript(shell, await placesOf(manifest));
  for (const { group, verb } of manifest.commands) {
    expect(script).toMatch(new RegExp(shell === 'fish' ? `__tally_at '${group}'" -a ${verb}` : `'${group} ${verb}'`));
  }
});

describe.runIf(process.platform !== 'win32')('in bash', () => {
  /** What bash offers at the end of a line; `tally` is a stand-in that answers with the given candidates. */
  const offered = (line: string, candidates?: readonly string[]) => completed(line, candidates).offered;

  /** The same, and the words with which `tally` was asked. */
  function completed(line: string, candidates: readonly string[] = []) {
    const home = newDirectory();
    const answer = candidates.map((candidate) => `${candidate}\n`).join('');
    writeFileSync(join(home, 'candidates'), answer);
    writeFileSync(join(home, 'tally'), `#!/bin/sh\necho "$@" > '${home}/asked'\ncat '${home}/candidates'\n`);
    chmodSync(join(home, 'tally'), 0o755);
    const script = `
      source '${new URL('../../../completions/tally.bash', import.meta.url).pathname}'
      COMP_LINE=$1 COMP_POINT=\${#1}
      _tally
      for each in "\${COMPREPLY[@]}"; do printf '%s\\n' "$each"; done`;
    const out = execFileSync('bash', ['--norc', '-c', script, 'bash', line], {
      encoding: 'utf8',
      cwd: home,
      env: { PATH: `${home}:${process.env['PATH']}`, HOME: process.env['HOME'] },
    });
    const asked = existsSync(join(home, 'asked')) ? readFileSync(join(home, 'asked'), 'utf8').trim() : '';
    return { offered: out === '' ? [] : out.trimEnd().split('\n'), asked };
  }

  test.each<[string, string[]]>([
    ['tally cust', ['customers']],
    ['tally customers p', ['pause']],
    ['tally -o json customers p', ['pause']],
    ['tally --quiet customers p', ['pause']],
    ['tally customers create --na', ['--name']],
    ['tally customers create --name x --cont', ['--contact']],
    ['tally customers list --outp', ['--output']],
    ['tally customers --he', ['--help']],
    ['tally profile a', ['add']],
    ['tally profile --he', ['--help']],
    ['tally --he', ['--help']],
    ['tally help customers --he', ['--help']],
    ['tally serve --po', ['--port']],
    ['tally customers create --name ', []],
    ['tally nope ', []],
  ])('%s', (line, expected) => {
    expect(offered(line)).toEqual(expected);
  });

  test('values of a flag are asked of tally', () => {
    expect(offered('tally invoices list --status In', ['In Progress', 'Paid'])).toEqual([String.raw`In\ Progress`]);
    expect(offered('tally -o ', ['json', 'csv'])).toEqual(['json', 'csv']);
  });

  test('a word with commas is asked for with what stands before the last, and keeps them', () => {
    const line = 'tally keys create --scopes usage:read,me';
    const { offered: found, asked } = completed(line, ['usage:read,meters:read', 'usage:write']);
    expect(asked).toBe('__complete scopes keys create --behind=usage:read,');
    expect(found).toEqual(['read,meters:read']);
  });

  test('only what stands behind a colon is replaced', () => {
    expect(offered('tally keys create --scopes invoices:', ['invoices:read', 'customers:read'])).toEqual(['read']);
    expect(offered('tally usage cost --external-customer-id ops@a', ['ops@acme', 'ops@b'])).toEqual(['acme']);
  });

  const statuses = ['In Progress', 'In Transit', 'Paid'];
  test.each<[string, string[]]>([
    [String.raw`tally invoices list --status In\ `, [String.raw`In\ Progress`, String.raw`In\ Transit`]],
    [String.raw`tally invoices list --status 'In'\ P`, [String.raw`In\ Progress`]],
    ['tally invoices list --status "In P', ['In Progress']],
    ["tally invoices list --status 'In ", ['In Progress', 'In Transit']],
    ['tally invoices list --status=Pa', ['Paid']],
    ['tally invoices list --status="In T', ['In Transit']],
    ['tally invoices list --limit=Pa', []],
  ])('%s is completed as it was begun', (line, expected) => {
    expect(offered(line, statuses)).toEqual(expected);
  });

  test('between quotes nothing is offered that a shell would not take as it stands', () => {
    const names = ["it's", '$(id)', '`id`', 'a"b', String.raw`a\b`, 'a!b', 'a b'];
    for (const quote of ["'", '"']) {
      expect(offered(`tally usage cost --external-customer-id ${quote}`, names)).toEqual(['a b']);
    }
  });

  test.each([
    ['tally --profile=live customers get ', '__complete 1 customers get --profile=live'],
    ['tally --database "a b.db" customers get ', '__complete 1 customers get --database a b.db'],
    [
      'tally --database ~/b.db credits ledger --chart ',
      `__complete 1 credits ledger --database ${process.env['HOME']}/b.db`,
    ],
    ['tally credits reverse --reason x id1 ', '__complete 2 credits reverse id1'],
    ['tally credits grant --amount-cents=1', ''],
  ])('%s asks: %s', (line, asked) => {
    expect(completed(line).asked).toBe(asked);
  });

  test('no candidate is run', () => {
    const marker = join(newDirectory(), 'touched');
    const evil = [`$(touch ${marker})`, `\`touch ${marker}\``, `';touch ${marker};'`];
    const shown = offered('tally customers list --profile ', evil);
    expect(shown).toHaveLength(evil.length);
    expect(shown.every((each) => each.includes('\\'))).toBe(true);
    expect(existsSync(marker)).toBe(false);
  });
});

describe('candidates', () => {
  test.each([
    ['__complete status invoices list', ['Drafted', 'In Progress', 'In Transit', 'Paid', 'Cancelled', 'Refunded']],
    ['__complete is-active contracts list', ['true', 'false']],
    ['__complete output', ['table', 'json', 'jsonl', 'csv', 'tsv', 'yaml', 'name']],
    [
      '__complete json orgs list --behind id,name,keyPrefix,createdAt,',
      ['salesTaxEnabled', 'paymentProcessor', 'environment'].map((name) => `id,name,keyPrefix,createdAt,${name}`),
    ],
    ['__complete columns import events', ['']],
    ['__complete clear customers pause', ['until']],
    ['__complete name customers create', ['']],
    ['__complete format invoices export', ['html', 'csv', 'json', 'table']],
    ['__complete environment profile add', ['production', 'sandbox', 'embedded']],
    ['__complete file backup undefined', ['']],
  ])('%s', async (line, expected) => {
    const { stdout } = await createShell().run(line);
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((each) => each.split('\t')[0]),
    ).toEqual(expected);
  });

  test.each(['profile', 'to-profile copy', '1 profile use'])('of %s are the profiles', async (place) => {
    const shell = createShell();
    await shell.run('profile add books --environment embedded --database books.db');
    expect((await shell.run(`__complete ${place}`)).stdout).toBe('books\tembedded\n');
  });

  const asks = ['__complete', '1', 'customers', 'get'];

  test('are ids of the database in use, which is not changed by the question', async () => {
    const home = newDirectory();
    const database = join(home, 'book.db');
    const words = [
      'customers',
      'create',
      '--name',
      'Acme',
      '--contact',
      'name=Ada,email=ada@acme.example,roles=primary',
    ];
    const created = await runProgram([...words, '-o', 'name', '--database', database], { home });
    // As a copy may be that another tool made; whoever opens it to write gives it the log again.
    const other = new DatabaseSync(database);
    other.exec('PRAGMA journal_mode = DELETE');
    other.close();
    const before = readFileSync(database);
    const { stdout } = await runProgram([...asks, '--database', database], { home });
    expect(stdout).toBe(`${created.stdout.trimEnd()}\tAcme\n`);
    expect(readFileSync(database).equals(before)).toBe(true);
  });
});
