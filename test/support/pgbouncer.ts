/** PgBouncer before a server on loopback, where this machine has it. */

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { onTestFinished } from 'vitest';

import { freePort } from './free-port.ts';
import { untilItAnswers } from './postgres-process.ts';
import { newDirectory } from './temporary-files.ts';

export const hasPgbouncer = spawnSync('pgbouncer', ['--version']).error === undefined;

/** The URL of the same database by way of a pooler, which ends with the test. */
export async function pooled(url: string, mode: 'session' | 'transaction', sessions = 20): Promise<string> {
  const directory = newDirectory();
  // It does not run as root either.
  chmodSync(directory, 0o755);
  const file = join(directory, 'pgbouncer.ini');
  const server = new URL(url);
  const port = await freePort();
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: String(port),
    auth_type: 'any',
    unix_socket_dir: '',
    pool_mode: mode,
    default_pool_size: String(sessions),
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const database = `* = host=127.0.0.1 port=${server.port} user=${server.username}`;
  writeFileSync(file, ['[databases]', database, '[pgbouncer]', ...lines, ''].join('\n'));
  const words = process.geteuid?.() === 0 ? ['-u', 'nobody', file] : [file];
  const child = spawn('pgbouncer', words, { stdio: 'ignore' });
  onTestFinished(async () => {
    const ended = once(child, 'exit');
    child.kill('SIGINT');
    await ended;
  });
  const near = new URL(url);
  near.port = String(port);
  await untilItAnswers(child, near.href, () => '');
  return near.href;
}
