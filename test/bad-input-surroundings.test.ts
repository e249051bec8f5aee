/**
 * A file, a port or a host that cannot be used, at the real program: the exit code of the command, the status over HTTP where
 * it is served, and nothing lost. store/sqlite-file and store/sqlite-sharing have more of such files, cli/profiles of settings.
 */

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { withDatabase } from './reliability/database-image.ts';
import { launcher, runProgram, serveProgram } from './support/program.ts';
import type { Outcome, ProgramOptions, Serving } from './support/program.ts';
import { newDirectory } from './support/temporary-files.ts';
import { rowsOf, writeTwoTenants } from './support/two-tenants.ts';
import type { TwoTenants } from './support/two-tenants.ts';
import { createWorld } from './support/world.ts';

let home: string;
let file: string;
let serving: Serving;
let before: string;
let names: TwoTenants;

beforeAll(async () => {
  home = newDirectory();
  file = join(home, 'billing.db');
  names = await writeTwoTenants(file);
  serving = await serveProgram(['--database', file], { home });
  before = rowsOf(file);
});
afterAll(async () => await serving.stop());

const createWords = [
  'customers',
  'create',
  '--name',
  'Initech',
  '--contact',
  'name=Ada,email=ada@i.example,roles=primary',
];

/** Asks a service for a list and for a change. */
async function asked(url: string): Promise<{ read: number; write: number; retryAfter: string | null }> {
  const headers = { authorization: `Bearer ${names.key}`, 'content-type': 'application/json' };
  const contacts = [{ name: 'Ada', email: 'ada@i.example', roles: ['primary'] }];
  const body = JSON.stringify({ name: 'Initech', contacts });
  const read = await fetch(`${url}/v1/customers`, { headers });
  const write = await fetch(`${url}/v1/customers`, { method: 'POST', headers, body });
  return { read: read.status, write: write.status, retryAfter: write.headers.get('retry-after') };
}

async function readAgain(url: string): Promise<void> {
  await fetch(`${url}/v1/customers`, { headers: { authorization: `Bearer ${names.key}` } });
}

describe('the surroundings are wrong, and nothing is lost', () => {
  /** A copy of the book that nobody has open. */
  function copy(name: string): string {
    const folder = join(home, name);
    mkdirSync(folder);
    const path = join(folder, 'billing.db');
    withDatabase(file, (database) => database.prepare('VACUUM INTO ?').run(path));
    // As the command makes its own, which it does not warn of.
    chmodSync(path, 0o600);
    return path;
  }

  async function run(words: readonly string[], database: string, more: Partial<ProgramOptions> = {}): Promise<Outcome> {
    return await runProgram(words, { home, environment: { TALLY_DATABASE: database }, ...more });
  }

  test.concurrent('a file that is no database: exit code 1 of the command and of serve', async () => {
    const path = join(home, 'notes.txt');
    writeFileSync(path, 'name,amount\nAcme,12\n'.repeat(100));
    const bytes = readFileSync(path);
    for (const words of [createWords, ['customers', 'list'], ['serve', '--port', '0']]) {
      const outcome = await run(words, path);
      expect(outcome).toMatchObject({ code: 1, stdout: '' });
      expect(outcome.stderr).toContain(`${path} is not a tallybook database`);
    }
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  test.concurrent('a database of a newer version: exit code 1', async () => {
    const path = copy('newer');
    withDatabase(path, (database) => database.exec('PRAGMA user_version = 1000'));
    const bytes = readFileSync(path);
    const outcome = await run(createWords, path);
    expect(outcome).toMatchObject({ code: 1, stdout: '' });
    expect(outcome.stderr).toContain('use a newer tallybook');
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  test.concurrent('a damaged database: exit code 1', async () => {
    const path = copy('damaged');
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(0xff, 4096));
    const outcome = await run(createWords, path);
    expect(outcome).toMatchObject({ code: 1, stdout: '' });
    expect(outcome.stderr).toContain('is damaged');
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  test.concurrent('a directory that cannot be made, where a file stands in its way: said in words', async () => {
    const blocked = join(home, 'file');
    writeFileSync(blocked, '');
    const path = copy('restored');
    const backup = join(home, 'restored', 'backup.db');
    expect(await run(['backup', backup], path)).toMatchObject({ code: 0 });
    const environment = { TALLY_DATABASE: path, NODE_DISABLE_COMPILE_CACHE: '1' };
    const outcomes = [
      await run(['demo', '--into', join(blocked, 'demo')], path),
      await run(['restore', backup, '--to', join(blocked, 'new', 'billing.db')], path),
      await run(createWords, path, { home: join(blocked, 'home'), environment }),
    ];
    expect(
      outcomes.map(({ code, stderr }) => [
        code,
        stderr.split(home)[0],
        stderr.includes('a part of the path is a file, not a directory'),
      ]),
    ).toEqual([
      [2, 'tally: ', true],
      [9, 'tally: ', true],
      [2, 'tally: the directory ', true],
    ]);
    expect(outcomes[2]?.stderr).toContain('hint: set TALLY_DATA_DIR to a directory that can be written');
  });

  test.concurrent('a clock that is far behind the newest row: every write says so, and so does serve', async () => {
    const path = join(home, 'ahead.db');
    const world = await createWorld({ database: path, start: '2099-12-31T00:00:00.000Z' });
    await world.call('products.create', { body: { name: 'Ahead' } });
    await world.close();
    const words =
      'the clock of this machine is behind the newest row, which is of 2099-12-31T00:00:00.000Z: ' +
      'until then new rows get that time, and grants expire by it; correct the clock';
    const outcomes = [await run(createWords, path), await run(['bill', 'run'], path)];
    expect(outcomes.map(({ code, stderr }) => [code, stderr])).toEqual([
      [0, `warning: ${words}\n`],
      [0, `warning: ${words}\n`],
    ]);
    expect((await run([...createWords, '--quiet'], path)).stderr).toBe('');
    const rows = join(home, 'rows.csv');
    writeFileSync(
      rows,
      `name,externalCustomerId,contact\n${['a', 'b'].map((id) => `C,${id},"${createWords.at(-1)}"\n`).join('')}`,
    );
    const { stdout, stderr } = await run(['customers', 'create', '--from', rows, '--yes'], path);
    expect([stdout, stderr.split('\n').filter((line) => line.startsWith('warning'))]).toEqual([
      '2\t2\t0\t0\t0\t0\n',
      [`warning: ${words}`],
    ]);
    const served = await serveProgram(['--database', path, '--bill-every', '3600'], { home });
    expect(JSON.parse(await served.stop())).toMatchObject({ clock: 'behind', error: words });
  });

  test.skipIf(process.platform === 'win32')('a current directory that was removed: said in words', () => {
    const words = ['-c', 'mkdir gone && cd gone && rmdir ../gone && exec "$0" "$@"', process.execPath, launcher];
    const more = { cwd: home, env: { ...process.env, HOME: home }, encoding: 'utf8' } as const;
    const { status, stderr } = spawnSync('sh', [...words, 'customers', 'list', '--database', 'book.db'], more);
    expect([status, stderr]).toEqual([
      2,
      'tally: the current directory no longer exists\n' +
        '  hint: change to another directory, and repeat the command\n',
    ]);
  });

  test.concurrent('a directory in place of the file: exit code 9', async () => {
    const outcome = await run(createWords, home);
    expect(outcome).toMatchObject({ code: 9, stdout: '' });
    expect(outcome.stderr).toContain(home);
  });

  test.concurrent('a read-only file: it is read, a change ends with exit code 9 and status 503, and `serve` says so before', async () => {
    const path = copy('read-only');
    const rows = rowsOf(path);
    chmodSync(path, 0o444);
    const ordinary = { isOrdinary: true };
    expect(await run(['customers', 'list', '-o', 'name'], path, ordinary)).toMatchObject({
      code: 0,
      stdout: `${names.customer}\n`,
      stderr: '',
    });
    const outcome = await run(createWords, path, ordinary);
    expect(outcome).toMatchObject({ code: 9, stdout: '' });
    expect(outcome.stderr).toContain(`the database ${path} is read-only; nothing was changed`);
    const service = await serveProgram(['--database', path], { home, ...ordinary });
    expect(await asked(service.url)).toMatchObject({ read: 200, write: 503 });
    expect(await service.stop()).toContain(
      `warning: changes are refused, nothing is billed and no webhook is sent until this is fixed and, for a file, serve is restarted: the database ${path} is read-only`,
    );
    expect(rowsOf(path)).toBe(rows);
  });

  test.concurrent('a read-only file with webhooks that are due: `webhooks deliver` ends with exit code 9', async () => {
    const path = copy('webhooks');
    await run(['webhooks', 'create', '--url', 'http://127.0.0.1:9/', '--allow-private'], path);
    const deliver = ['webhooks', 'deliver', '--allow-private-webhooks'];
    const ordinary = { isOrdinary: true };
    chmodSync(path, 0o444);
    expect(await run(deliver, path, ordinary)).toMatchObject({ code: 0, stdout: '0\t0\t0\n', stderr: '' });
    chmodSync(path, 0o644);
    await run(['webhooks', 'trigger', 'customer.created'], path);
    chmodSync(path, 0o444);
    const outcome = await run(deliver, path, ordinary);
    expect(outcome).toMatchObject({ code: 9, stdout: '' });
    expect(outcome.stderr).toContain(`the database ${path} is read-only; nothing was changed`);
  });

  test.concurrent('a locked file: it is read, a change ends with exit code 9 and status 503 after the wait', async () => {
    const path = copy('locked');
    const service = await serveProgram(['--database', path], { home });
    const rows = rowsOf(path);
    await withLock(path, async () => {
      const changing = asked(service.url);
      // A reading that comes after a change that waits does not wait with it.
      const order: string[] = [];
      const [outcome, answer] = await Promise.all([
        run(createWords, path),
        changing.finally(() => order.push('changed')),
        readAgain(service.url).finally(() => order.push('read')),
      ]);
      expect(order).toEqual(['read', 'changed']);
      expect(outcome).toMatchObject({ code: 9, stdout: '' });
      expect(outcome.stderr).toContain(`the database ${path} is locked by another process`);
      expect(answer).toEqual({ read: 200, write: 503, retryAfter: '1' });
    });
    expect(rowsOf(path)).toBe(rows);
    expect(await asked(service.url)).toMatchObject({ read: 200, write: 201 });
    await service.stop();
  });

  test.concurrent('a port in use: exit code 9', async () => {
    const outcome = await run(['serve', '--port', new URL(serving.url).port], file);
    expect(outcome).toMatchObject({ code: 9, stdout: '' });
    expect(outcome.stderr).toContain(new URL(serving.url).port);
    expect(rowsOf(file)).toBe(before);
  });

  test.concurrent.each([
    ['a reading', ['customers', 'list']],
    ['a change', [...createWords, '--yes']],
  ])('an unreachable host: exit code 9 of %s', async (_what, words) => {
    // Port 1 has no service that this program could talk to.
    const environment = { TALLY_BASE_URL: 'http://127.0.0.1:1', TALLY_API_KEY: names.key };
    const outcome = await runProgram(words, { home, environment: { ...environment, TALLY_ENVIRONMENT: 'sandbox' } });
    expect(outcome).toMatchObject({ code: 9, stdout: '' });
    expect(outcome.stderr).toContain('127.0.0.1:1');
    expect(outcome.stderr).not.toContain(names.key);
  });
});

async function withLock(path: string, work: () => Promise<void>): Promise<void> {
  const other = new DatabaseSync(path);
  try {
    other.exec('BEGIN IMMEDIATE');
    await work();
  } finally {
    other.close();
  }
}
