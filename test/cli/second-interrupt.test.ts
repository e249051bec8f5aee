/** The second interrupt of long work, which does not wait for what is under way. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { launcher } from '../support/program.ts';
import { listenOnLoopback } from '../support/free-port.ts';
import { newDirectory } from '../support/temporary-files.ts';

const rows = 'name,externalCustomerId,contact.name,contact.email,contact.roles\nA,a,Ada,ada@example.com,primary\n';

test.runIf(process.platform !== 'win32').each([
  ['SIGINT', 'SIGINT', 130],
  ['SIGTERM', 'SIGTERM', 143],
  ['SIGINT', 'SIGTERM', 143],
  ['SIGTERM', 'SIGINT', 130],
] as const)(
  'after %s, %s ends a file of rows at once, and says that it can be repeated',
  async (first, second, code) => {
    const silent = createServer();
    const port = await listenOnLoopback(silent);
    onTestFinished(() => {
      silent.closeAllConnections();
      silent.close();
    });
    const directory = newDirectory();
    const env = {
      PATH: process.env['PATH'],
      TALLY_CONFIG_DIR: join(directory, 'config'),
      TALLY_DATA_DIR: join(directory, 'data'),
      TALLY_BASE_URL: `http://127.0.0.1:${port}`,
      TALLY_API_KEY: `test_live_${'5'.repeat(48)}`,
      TALLY_ENVIRONMENT: 'sandbox',
    };
    const child = spawn(process.execPath, [launcher, 'customers', 'create', '--from', '-', '--yes'], { env });
    const ended = once(child, 'close');
    let told = '';
    const isStopping = new Promise<void>((resolve) => {
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        told += text;
        if (told.includes('stopping once')) resolve();
      });
    });
    child.stdin.end(rows);
    await once(silent, 'request');
    child.kill(first);
    await isStopping;
    child.kill(second);
    expect(await ended).toEqual([code, null]);
    expect(told).toMatch(/\ntally: interrupted at once\n {2}hint: repeat the command: nothing is done twice\n$/);
  },
);
