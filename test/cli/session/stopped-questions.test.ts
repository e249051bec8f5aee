/** A person who stops the program at a question and comes back, or ends it: in a shell of a real terminal, which `script` makes. */

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

import { describe, expect, test } from 'vitest';
import { launcher } from '../../support/program.ts';
import { newDirectory } from '../../support/temporary-files.ts';

/** The script(1) of util-linux: that of BSD takes other words. */
const terminalMaker = 'script';
const isMissing = ['bash', terminalMaker].some((command) => spawnSync(command, ['--version']).status !== 0);

const [interrupt, suspend, endOfInput] = ['\u0003', '\u001a', '\u0004'];

/** A shell at which `orgs create` asks for a name. */
async function openShell(type = 'xterm') {
  const directory = newDirectory();
  const { CI: _isCi, ...inherited } = process.env;
  const env = {
    ...inherited,
    TERM: type,
    PS1: '',
    NO_COLOR: '1',
    TALLY_CONFIG_DIR: join(directory, 'config'),
    TALLY_DATA_DIR: join(directory, 'data'),
  };
  const shell = spawn(terminalMaker, ['--quiet', '--command', 'bash --norc --noprofile -i', '/dev/null'], { env });
  let seen = '';
  const person = {
    type: (text: string) => void shell.stdin.write(text),
    async sees(text: string) {
      while (!seen.includes(text)) {
        const [chunk] = (await once(shell.stdout, 'data')) as [Buffer];
        seen += stripVTControlCharacters(chunk.toString());
      }
      seen = seen.slice(seen.indexOf(text) + text.length);
    },
    async stopsAndGoesOn() {
      person.type(suspend);
      await person.sees('Stopped');
      await person.sees('orgs create');
      person.type('fg\n');
      await person.sees('orgs create');
      // The question is drawn again by itself: before that, keys would not reach it.
      await person.sees('? name');
    },
    async leaves() {
      person.type('exit\n');
      shell.stdin.end();
      return await once(shell, 'exit');
    },
  };
  person.type(`'${process.execPath}' '${launcher}' orgs create --json name\n`);
  await person.sees('? name');
  return person;
}

describe.skipIf(isMissing)('a question after Ctrl-Z and fg (skipped without bash and script)', () => {
  test('goes on where it was, as often as that is done', async () => {
    const person = await openShell();
    try {
      for (const [typed, answer] of [
        ['Ac', 'Ac'],
        ['me', 'Acme'],
      ] as const) {
        await person.stopsAndGoesOn();
        person.type(typed);
        await person.sees(`text) ${answer}`);
      }
      person.type('\r');
      await person.sees('"name": "Acme"');
    } finally {
      expect(await person.leaves()).toEqual([0, null]);
    }
  });

  test('is refused by the end of input, as it is without them', async () => {
    const person = await openShell();
    try {
      await person.stopsAndGoesOn();
      person.type(endOfInput);
      await person.sees('nothing was entered: nothing was done');
      person.type('echo "code $?"\n');
      await person.sees('code 11');
    } finally {
      expect(await person.leaves()).toEqual([0, null]);
    }
  });
});

test.skipIf(isMissing).each(['xterm', 'dumb'])(
  'Ctrl-C at a question ends it in words, also on TERM=%s',
  async (type) => {
    const person = await openShell(type);
    try {
      person.type(interrupt);
      await person.sees('tally: interrupted: nothing was done');
      person.type('echo "code $?"\n');
      await person.sees('code 130');
    } finally {
      expect(await person.leaves()).toEqual([0, null]);
    }
  },
);
