/** The scripts in the shells that they are for, with the candidates of the demo's database and with hostile ones. */

import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { exampleIds } from '../../../src/operations/example-ids.ts';
import { createPlayground } from '../../support/playground.ts';
import type { Playground } from '../../support/playground.ts';
import { launcher } from '../../support/program.ts';
import { newDirectory } from '../../support/temporary-files.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const isMissing = (shell: string) => spawnSync(shell, ['--version']).error !== undefined;

let playground: Playground;
let home: string;
beforeAll(async () => {
  playground = await createPlayground();
  home = playground.copy();
});
afterAll(async () => await playground.close());

/** A directory with a command `tally` of the given text. */
function commandDirectory(script: string): string {
  const directory = join(newDirectory(), 'bin');
  mkdirSync(directory);
  writeFileSync(join(directory, 'tally'), `#!/bin/sh\n${script}\n`);
  chmodSync(join(directory, 'tally'), 0o755);
  return directory;
}

const realCommand = commandDirectory(`exec '${process.execPath}' '${launcher}' "$@"`);
afterAll(() => rmSync(join(realCommand, '..'), { recursive: true }));

function environment(bin: string, database = join(home, 'demo.db')) {
  return {
    PATH: `${bin}:${process.env['PATH']}`,
    HOME: home,
    TERM: 'xterm',
    TALLY_DATABASE: database,
    TALLY_CONFIG_DIR: join(home, 'config'),
    TALLY_DATA_DIR: home,
  };
}

/** What a shell offers behind a line, each candidate with its description where the shell shows one. */
const offers: Readonly<Record<'bash' | 'fish', (line: string, bin: string, database?: string) => string[]>> = {
  bash: (line, bin, database) => lines('bash', ['--norc', '-c', bashScript, 'bash', line], bin, database),
  fish: (line, bin, database) =>
    lines(
      'fish',
      ['--no-config', '-c', `source '${root}completions/tally.fish'; complete -C $argv[1]`, line],
      bin,
      database,
    ),
};

const bashScript = `
  source '${root}completions/tally.bash'
  COMP_LINE=$1 COMP_POINT=\${#1}
  _tally
  for each in "\${COMPREPLY[@]}"; do printf '%s\\n' "$each"; done`;

function lines(shell: string, words: readonly string[], bin: string, database?: string): string[] {
  const { stdout, stderr } = spawnSync(shell, words, { encoding: 'utf8', env: environment(bin, database), cwd: home });
  // It would stand in the middle of the line that is typed.
  expect(stderr).toBe('');
  return stdout === '' ? [] : stdout.trimEnd().split('\n');
}

const { contract, customer, grant } = exampleIds;
const first = (line: string) => line.split('\t')[0] ?? '';

for (const shell of ['bash', 'fish'] as const) {
  describe.skipIf(isMissing(shell))(`${shell} (skipped where it is not installed)`, () => {
    test.each<[string, string]>([
      ['tally customers get ', customer],
      ['tally credits grant ', contract],
      ['tally credits ledger --chart ', contract],
      [`tally credits reverse ${contract} `, grant],
      ['tally contracts list --customer-id ', customer],
      ['tally usage cost --external-customer-id ', 'globex'],
      ['tally webhooks trigger ', 'credit.budget.exhausted'],
      ['tally --org ', exampleIds.organization],
      ['tally webhooks create --event-types invoice.created,', 'invoice.created,invoice.updated'],
      ['tally invoices list --include lineItems,', 'lineItems,period'],
      ['tally customers update x --clear legal-name,ext', 'legal-name,external-customer-id'],
      ['tally customers list --columns id,', 'id,legalName'],
      ['tally invoices get x --json ', 'totalCents'],
      ['tally budgets check ', contract],
      ['tally invoices export ', exampleIds.draft],
      ['tally invoices export x --format ', 'html'],
      ['tally help ', 'exit-codes'],
      ['tally help ', 'credits'],
      ['tally help credits ', 'grant'],
      ['tally simulate run x.yaml --show ', 'ledger'],
      ['tally completion ', 'fish'],
      ['tally import events x.csv --customer-id ', customer],
      ['tally simulate compare --customer ', 'globex'],
      ['tally webhooks deliveries --endpoint-id ', exampleIds.endpoint],
      ['tally doctor --he', '--help'],
    ])('%s is followed by what the database has', (line, expected) => {
      expect(offers[shell](line, realCommand).map(first)).toContain(expected);
    });

    test.each(['tally customers list ', `tally customers get ${customer} `])('%s takes no id', (line) => {
      expect(offers[shell](line, realCommand).filter((each) => each.includes(customer))).toEqual([]);
    });

    test.each(['tally credits grant --from ', 'tally invoices pay --date ', 'tally budgets check --at '])(
      'the value of a flag is none of the ids that may follow: %s',
      (line) => {
        expect(offers[shell](line, realCommand).filter((each) => each.startsWith('0190'))).toEqual([]);
      },
    );

    test('a database named on the line is the one that is asked, and none is made', () => {
      expect(offers[shell](`tally --database ${home}/none.db customers get `, realCommand)).toEqual([]);
      expect(existsSync(join(home, 'none.db'))).toBe(false);
      const copy = playground.copy();
      renameSync(join(copy, 'demo.db'), join(copy, 'the demo.db'));
      for (const flag of [`--database '${copy}/the demo.db'`, `--database="${copy}/the demo.db"`]) {
        const elsewhere = offers[shell](`tally ${flag} --quiet customers get `, realCommand, join(home, 'none.db'));
        expect(elsewhere.map(first)).toContain(customer);
      }
      writeFileSync(join(home, 'empty.db'), '');
      expect(offers[shell](`tally --database=${home}/empty.db customers get `, realCommand)).toEqual([]);
      expect(statSync(join(home, 'empty.db')).size).toBe(0);
    });
  });
}

describe.skipIf(isMissing('fish'))('fish (skipped where it is not installed)', () => {
  test('shows the name beside an id', () => {
    expect(offers.fish('tally customers get ', realCommand)).toContain(`${customer}\tAcme Inc`);
  });
});

/** Candidates that would do harm if a shell ever ran them. */
const hostile = (marker: string) => [
  `$(touch ${marker})`,
  `\`touch ${marker}\``,
  `';touch ${marker};'`,
  `a b;touch ${marker}`,
  `"$(touch ${marker})"`,
];

/** A command that offers one candidate, and otherwise writes down its words. */
function offering(candidate: string) {
  const bin = commandDirectory(
    'if [ "$1" = __complete ]; then cat "$0.candidates"; else printf "%s\\n" "$@" > "$0.words"; fi',
  );
  writeFileSync(join(bin, 'tally.candidates'), `${candidate}\tits name\n`);
  return { bin, words: join(bin, 'tally.words') };
}

describe('a hostile candidate is one word and runs nothing', () => {
  const marker = join(newDirectory(), 'touched');

  test.skipIf(isMissing('bash')).each(hostile(marker))(
    'in bash (skipped where it is not installed): %s',
    (candidate) => {
      const { bin, words } = offering(candidate);
      const [quoted = '', ...more] = offers.bash('tally customers get ', bin);
      expect(more).toEqual([]);
      execFileSync('bash', ['--norc', '-c', `tally customers get ${quoted}`], { env: environment(bin) });
      expect([readFileSync(words, 'utf8'), existsSync(marker)]).toEqual([`customers\nget\n${candidate}\n`, false]);
    },
  );

  test.skipIf(isMissing('fish')).each(hostile(marker))(
    'in fish (skipped where it is not installed): %s',
    (candidate) => {
      const { bin } = offering(candidate);
      expect(offers.fish('tally customers get ', bin)).toEqual([`${candidate}\tits name`]);
      expect(existsSync(marker)).toBe(false);
    },
  );

  test.skipIf(isMissing('zsh')).each(hostile(marker))('in zsh (skipped where it is not installed): %s', (candidate) => {
    const { bin, words } = offering(candidate);
    typeInZsh('tally customers get ', { bin, until: words });
    expect([readFileSync(words, 'utf8'), existsSync(marker)]).toEqual([`customers\nget\n${candidate}\n`, false]);
  });
});

describe.skipIf(isMissing('zsh'))('zsh (skipped where it is not installed)', () => {
  test.each<[string, string[]]>([
    ['tally customers pa', ['customers', 'pause']],
    ['tally credits grant 01900000-0000-7000-8000-00000000000', ['credits', 'grant', contract]],
    ['tally usage cost --external-customer-id gl', ['usage', 'cost', '--external-customer-id', 'globex']],
    ['tally invoices list --status=Pa', ['invoices', 'list', '--status=Paid']],
    ['tally invoices list --include lineItems,', ['invoices', 'list', '--include', 'lineItems,period']],
    ['tally invoices list --include=lineItems,', ['invoices', 'list', '--include=lineItems,period']],
    ['tally customers list --columns=id,leg', ['customers', 'list', '--columns=id,legalName']],
    ["tally --database='/none.db' customers get 0", ['--database=/none.db', 'customers', '0']],
  ])('%s is completed by the database', (line, expected) => {
    const bin = commandDirectory(
      `if [ "$1" = __complete ]; then exec '${realCommand}/tally' "$@"; else printf "%s\\n" "$@" > "$0.words"; fi`,
    );
    typeInZsh(line, { bin, until: join(bin, 'tally.words') });
    expect(readFileSync(join(bin, 'tally.words'), 'utf8').trim().split('\n').slice(0, 2)).toEqual(expected.slice(0, 2));
    expect(readFileSync(join(bin, 'tally.words'), 'utf8').trim().split('\n').at(-1)).toMatch(
      new RegExp(`^${expected.at(-1)?.slice(0, 30)}`),
    );
  });
});

/** Types a line, Tab and Enter into a zsh on a terminal of its own; waits for the file that the command writes. */
function typeInZsh(line: string, { bin, until }: { readonly bin: string; readonly until: string }): void {
  const driver = `
    zmodload zsh/zpty zsh/zselect
    zpty -b shell zsh -f -i
    zpty -w shell "PS1=; fpath=('${root}completions' \\$fpath); autoload -Uz compinit; compinit -u -D; bindkey '^I' complete-word; print REA''DY"
    zpty -r -m shell output '*READY*'
    zpty -w -n shell "$1"$'\\t\\n'
    for attempt in {1..1000}; do [[ -s $2 ]] && break; zselect -t 1; zpty -r -t shell output; done
    zpty -d shell`;
  execFileSync('zsh', ['-f', '-c', driver, 'zsh', line, until], { env: environment(bin), cwd: home, timeout: 20_000 });
}
