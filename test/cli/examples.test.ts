/** Every example of every help page, run as it is printed on the demo's database. */

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { helpPages } from '../../src/cli/help-pages.ts';
import { createPlayground } from '../support/playground.ts';
import type { Playground } from '../support/playground.ts';
import { manifest, shellWords } from './shell.ts';

const pages = (await helpPages(manifest)).map((page) => ({ ...page, title: ['tally', ...page.words].join(' ') }));
const launcher = fileURLToPath(new URL('../../bin/tally.js', import.meta.url));

/** What needs a service elsewhere or a certificate; its words are still those that the command takes. */
const isElsewhere = (line: string) => /--profile|--base-url|tally pull|mirror\.db|\.pem/.test(line);
const needsShell = (line: string) => /[<>|]/.test(line.replaceAll(/'[^']*'/g, ''));
const waits = (words: readonly string[]) => words[0] === 'serve' || words.includes('listen');

let playground: Playground;
beforeAll(async () => (playground = await createPlayground()));
afterAll(async () => await playground.close());

test.each(pages)('the help of $title ends with examples', ({ examples }) => {
  expect(examples.length).toBeGreaterThanOrEqual(2);
});

describe('the examples run in their order', () => {
  test.each(pages)('$title', async ({ examples }) => {
    // Below, in what runs one.
    expect.hasAssertions();
    const directory = playground.copy();
    for (const { line } of examples) {
      if (isElsewhere(line)) await takes(line);
      else if (needsShell(line)) byBash(line, directory);
      else await byHand(line, directory);
    }
  });
});

/** As a person would run it, who confirms what is asked. */
async function byHand(line: string, directory: string): Promise<void> {
  const words = shellWords(line).slice(1);
  // Any free port, since that of the example may be taken here.
  const port = words.indexOf('--port');
  if (words.includes('listen') && port !== -1) words[port + 1] = '0';
  const instead = waits(words) ? { untilStopped: async () => await Promise.resolve() } : {};
  const terminal = { isTerminal: true, answers: ['yes'] };
  const { exitCode, stderr } = await playground.tally(words, { directory, terminal, instead });
  expect([line, exitCode, exitCode === 0 ? '' : stderr]).toEqual([line, 0, '']);
}

function byBash(line: string, directory: string): void {
  const bin = join(directory, 'bin');
  mkdirSync(join(directory, '.config/fish/completions'), { recursive: true });
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'tally'), `#!/bin/sh\nexec '${process.execPath}' '${launcher}' "$@"\n`);
  chmodSync(join(bin, 'tally'), 0o755);
  const env = {
    PATH: `${bin}:${process.env['PATH']}`,
    HOME: directory,
    TALLY_DATABASE: join(directory, 'demo.db'),
    TALLY_CONFIG_DIR: join(directory, 'config'),
    TALLY_DATA_DIR: directory,
  };
  const options = { cwd: directory, env, encoding: 'utf8' } as const;
  const { status, stderr } = spawnSync('bash', ['-o', 'pipefail', '-ec', line], options);
  expect([line, status, status === 0 ? '' : stderr]).toEqual([line, 0, '']);
}

async function takes(line: string): Promise<void> {
  for (const part of line.split(' | ')) {
    const words = shellWords(part.replace(/ > \S+$/, '')).slice(1);
    const { exitCode, stderr } = await playground.tally([...words, '--help']);
    expect([line, exitCode, stderr]).toEqual([line, 0, '']);
  }
}
