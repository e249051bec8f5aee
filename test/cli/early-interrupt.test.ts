/** A signal that comes while the program is still loading what it will run. */

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { expect, test } from 'vitest';

import { launcher } from '../support/program.ts';
import { newDirectory } from '../support/temporary-files.ts';

/** Signals in the last moment before a listener is taken away, when Node can tell nobody yet. */
const signalling = `const off = process.off;
process.off = (name, ...rest) => {
  if (name === 'SIGINT') {
    process.kill(process.pid, 'SIGINT');
    const end = performance.now() + 50;
    while (performance.now() < end);
  }
  return off.call(process, name, ...rest);
};`;

test.skipIf(process.platform === 'win32')('serve ends although it was interrupted before it was ready', async () => {
  const directory = newDirectory();
  const env = {
    PATH: process.env['PATH'],
    TALLY_CONFIG_DIR: join(directory, 'config'),
    TALLY_DATA_DIR: join(directory, 'data'),
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(signalling)}`,
  };
  const options = { env, timeout: 20_000, killSignal: 'SIGKILL' } as const;
  const served = promisify(execFile)(process.execPath, [launcher, 'serve', '--port', '0'], options);
  expect((await served).stdout).toMatch(/^tally serve: listening on /);
});
