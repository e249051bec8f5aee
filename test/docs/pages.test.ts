/** Every page for readers, performed by bash on a terminal, or in a pipe where the page is for CI: what it prints is what the page says. */

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

import { describe, expect, test } from 'vitest';

import { newDirectory } from '../support/temporary-files.ts';
import { pageOf, parsePage, performances, scriptOf } from './page.ts';
import { freePort } from '../support/free-port.ts';
import { launcher } from '../support/program.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const mark = 'END-OF-PART';
const reader = '/home/ada';
const usualPort = '8787';

/** Writes what was printed into the pages; what differs from run to run is then to be made `…` by hand. */
const isRecording = process.env['TALLY_RECORD_PAGES'] === '1';

/** Of a machine that does much else: a page is up to thirty commands, each a process. */
const timeout = 120_000;

const pages = [
  { path: 'README.md', isTerminal: true },
  { path: 'docs/grant-credits-from-csv.md', isTerminal: true },
  { path: 'docs/close-the-month.md', isTerminal: true },
  { path: 'docs/change-a-contract.md', isTerminal: true },
  { path: 'docs/simulate-a-price-change.md', isTerminal: true },
  { path: 'docs/test-billing-in-ci.md', isTerminal: false },
  { path: 'docs/serve-a-sandbox.md', isTerminal: true },
  { path: 'docs/move-between-environments.md', isTerminal: true },
] as const;

/** The script(1) of util-linux: that of BSD takes other words. */
const isMissing = ['bash', 'curl', 'script'].some((command) => spawnSync(command, ['--version']).status !== 0);

describe.skipIf(isMissing)(
  'a page prints what it says (skipped without bash, curl and the script of util-linux)',
  () => {
    test.concurrent.each(pages)(
      '$path',
      async ({ path, isTerminal }) => {
        const page = readFileSync(join(root, path), 'utf8');
        const performed = await perform(page, isTerminal);
        if (isRecording) writeFileSync(join(root, path), performed);
        expect(performed).toBe(page);
      },
      timeout,
    );
  },
);

async function perform(page: string, isTerminal: boolean): Promise<string> {
  const home = newDirectory();
  const port = String(await freePort());
  const parts = parsePage(page);
  const printed = await runBash(scriptOf(parts, mark).replaceAll(usualPort, port), home, isTerminal);
  const shown = withoutProgress(printed).replaceAll(home, reader).replaceAll(port, usualPort);
  return pageOf(parts, performances(shown, mark));
}

/** Ends what the page left running, so that a page which breaks off leaves no server behind. */
const beginning = `
cd; stty cols 120 2> /dev/null
exec < /dev/null
trap 'kill $(jobs -p) 2> /dev/null' EXIT
`;

async function runBash(script: string, home: string, isTerminal: boolean): Promise<string> {
  const bin = join(home, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'tally'), `#!/bin/sh\nexec '${process.execPath}' '${launcher}' "$@"\n`);
  chmodSync(join(bin, 'tally'), 0o755);
  cpSync(join(root, 'examples'), join(home, 'examples'), { recursive: true });
  writeFileSync(join(bin, 'page.sh'), beginning + script);
  const env = { PATH: `${bin}:${process.env['PATH']}`, HOME: home, TERM: 'xterm', LANG: 'C.UTF-8', NO_COLOR: '1' };
  // script(1) gives the shell a terminal of its own, whatever this process has.
  const [command, words] = isTerminal
    ? ['script', ['--quiet', '--return', '--command', `bash ${bin}/page.sh`, '/dev/null']]
    : ['sh', ['-c', `exec bash ${bin}/page.sh 2>&1`]];
  const child = spawn(command, words, { env, stdio: ['ignore', 'pipe', 'inherit'], timeout: timeout - 10_000 });
  const ended = once(child, 'close');
  const printed = await text(child.stdout);
  await ended;
  return printed.replaceAll('\r\n', '\n');
}

/** A bar of progress is drawn over and over, and says how long it took. */
function withoutProgress(printed: string): string {
  return printed.replaceAll(/\u001B7[^]*?\u001B8\n?/g, '');
}
