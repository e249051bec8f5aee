/** The package as users have it: packed, and installed into a separate folder with its own home. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { runCommand } from './measure.ts';
import type { Command, Outcome } from './measure.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

export interface InstalledPackage {
  readonly folder: string;
  readonly command: (...words: readonly string[]) => Command;
  readonly run: (...words: readonly string[]) => Outcome;
}

export function installPackage(): InstalledPackage {
  const folder = mkdtempSync(join(tmpdir(), 'tally-bench-'));
  const prefix = join(folder, 'installed');
  mkdirSync(join(prefix, 'lib'), { recursive: true });
  const report = npm('pack', '--json', '--pack-destination', folder);
  const { filename } = JSON.parse(report.slice(report.search(/^\[/m)))[0];
  npm('install', '--global', '--offline', '--prefix', prefix, join(folder, filename));

  const launcher = join(prefix, process.platform === 'win32' ? '' : 'lib', 'node_modules/tallybook/bin/tally.js');
  const environment = {
    PATH: process.env['PATH'],
    HOME: folder,
    USERPROFILE: folder,
    XDG_CACHE_HOME: join(folder, 'cache'),
    XDG_CONFIG_HOME: join(folder, 'config'),
    XDG_DATA_HOME: join(folder, 'data'),
    CI: 'true',
  };
  // Names Node itself, like `node -e 0`, so that the ratio includes no lookup of a shebang.
  const command = (...words: readonly string[]): Command => ({
    file: process.execPath,
    words: [launcher, ...words],
    environment,
  });
  return { folder, command, run: (...words) => runCommand(command(...words)) };
}

function npm(...words: readonly string[]): string {
  return execFileSync('npm', words, {
    cwd: root,
    encoding: 'utf8',
    shell: process.platform === 'win32',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}
