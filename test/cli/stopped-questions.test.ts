/** A person who stops the program at a question and comes back: in a shell of a real terminal, which `script` makes. */

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';

import { expect, test } from 'vitest';

const launcher = fileURLToPath(new URL('../../bin/tally.js', import.meta.url));
/** The script(1) of util-linux: that of BSD takes other words. */
const terminalMaker = 'script';
const isMissing = ['bash', terminalMaker].some((command) => spawnSync(command, ['--version']).status !== 0);

test.skipIf(isMissing)(
  'a question goes on where it was after Ctrl-Z and fg, as often as that is done (skipped without bash and script)',
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'tally-stopped-'));
    const { CI: _isCi, ...inherited } = process.env;
    const env = {
      ...inherited,
      TERM: 'xterm',
      PS1: '',
      NO_COLOR: '1',
      TALLY_CONFIG_DIR: join(directory, 'config'),
      TALLY_DATA_DIR: join(directory, 'data'),
    };
    const shell = spawn(terminalMaker, ['--quiet', '--command', 'bash --norc --noprofile -i', '/dev/null'], { env });
    let seen = '';
    const terminal = {
      type: (text: string) => void shell.stdin.write(text),
      async shows(text: string) {
        while (!seen.includes(text)) {
          const [chunk] = (await once(shell.stdout, 'data')) as [Buffer];
          seen += stripVTControlCharacters(chunk.toString());
        }
        seen = seen.slice(seen.indexOf(text) + text.length);
      },
    };
    try {
      terminal.type(`'${process.execPath}' '${launcher}' orgs create --json name\n`);
      await terminal.shows('? name');
      for (const [typed, answer] of [
        ['Ac', 'Ac'],
        ['me', 'Acme'],
      ] as const) {
        terminal.type('\u001a');
        await terminal.shows('Stopped');
        await terminal.shows('orgs create');
        terminal.type('fg\n');
        await terminal.shows('orgs create');
        terminal.type(typed);
        // By the question itself: before it is back the terminal shows what is typed, and a Ctrl-Z would not reach it.
        await terminal.shows(`text) ${answer}`);
      }
      terminal.type('\r');
      await terminal.shows('"name": "Acme"');
    } finally {
      terminal.type('exit\n');
      shell.stdin.end();
      expect(await once(shell, 'exit')).toEqual([0, null]);
    }
  },
  30_000,
);
