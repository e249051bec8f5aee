/** Reliability 7, C5: a disk on which nothing more can be written, by a limit that the system sets on a real server. */

import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

import { expect, onTestFinished, test } from 'vitest';

import { canFillDisk, limitFiles, runOnFullDisk, spawnLimited } from '../support/full-disk.ts';
import { usePostgres } from '../support/postgres.ts';
import { launcher, runProgram } from '../support/program.ts';
import { newDirectory } from '../support/temporary-files.ts';

function newHome(): string {
  const home = newDirectory();
  return home;
}

function environmentOf(home: string) {
  const PATH = process.env['PATH'] ?? '';
  return { PATH, TALLY_CONFIG_DIR: home, TALLY_DATA_DIR: home, NODE_DISABLE_COMPILE_CACHE: '1' };
}

test.runIf(canFillDisk)(
  'while the disk is full writes are refused with 503 and nothing of them is kept, readiness says so, and readers go on (skipped without prlimit)',
  async () => {
    const home = newHome();
    const environment = { TALLY_DATABASE: join(home, 'book.db') };
    const { stdout: key } = await runProgram(
      ['keys', 'create', '--name', 'k', '--scopes', '*', '--jq', '.data.key', '--quiet'],
      { home, environment },
    );
    const served = ['serve', '--port', '0', '--rate-limit', '0', '--bill-every', '0'];
    const child = spawnLimited(served, { env: { ...environmentOf(home), ...environment } });
    onTestFinished(() => void child.kill('SIGKILL'));
    const [line] = (await once(child.stdout as Readable, 'data')) as [Buffer];
    const url = /listening on (\S+)/.exec(line.toString())?.[1] ?? '';
    const headers = { authorization: `Bearer ${key.trim()}`, 'content-type': 'application/json' };
    const contacts = [{ name: 'Ada', email: 'ada@acme.example', roles: ['primary'] }];
    const create = async (name: string): Promise<number> =>
      (await fetch(`${url}/v1/customers`, { method: 'POST', headers, body: JSON.stringify({ name, contacts }) }))
        .status;
    const list = async () => {
      const response = await fetch(`${url}/v1/customers`, { headers });
      return ((await response.json()) as { data: { name: string }[] }).data.map(({ name }) => name);
    };
    const readiness = async (): Promise<number> => (await fetch(`${url}/readyz`)).status;

    expect([await create('before'), await readiness()]).toEqual([201, 200]);
    limitFiles(child, statSync(`${environment.TALLY_DATABASE}-wal`).size);
    expect([await create('meanwhile'), await create('meanwhile, too'), await readiness()]).toEqual([503, 503, 503]);
    expect(await list()).toEqual(['before']);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    limitFiles(child, 'unlimited');
    expect([await readiness(), await create('after')]).toEqual([200, 201]);
    expect(await list()).toEqual(['after', 'before']);
    child.kill('SIGTERM');
    await once(child, 'exit');
    expect(await runProgram(['doctor', '--full', '--quiet'], { home, environment })).toMatchObject({ code: 0 });
  },
);

test.runIf(canFillDisk)(
  'a profile for which there is no room is refused as what later may do, and leaves no lock behind (skipped without prlimit)',
  () => {
    const home = newHome();
    const config = join(home, 'config');
    mkdirSync(config, { mode: 0o700 });
    const words = ['profile', 'add', 'local', '--environment', 'embedded', '--database', join(home, 'book.db')];
    const { status, stderr } = runOnFullDisk(words, { env: { ...environmentOf(home), TALLY_CONFIG_DIR: config } });
    expect([status, stderr.split('\n')[0]]).toEqual([
      9,
      `tally: cannot write ${join(config, 'config.json.lock')}: the file would exceed the size limit`,
    ]);
    expect(readdirSync(config)).toEqual([]);
  },
);

test.runIf(canFillDisk).each([0, 1_000_000])(
  'a demo for which there are %i bytes is refused as what later may do, and leaves its directory empty (skipped without prlimit)',
  (bytes) => {
    const home = newHome();
    const into = join(home, 'playground');
    const words = ['demo', '--into', into, '--quiet'];
    const options = { env: environmentOf(home) };
    const { status, stderr } = runOnFullDisk(words, options, bytes);
    expect([status, stderr]).toEqual([9, expect.stringMatching(/^tally: (?:cannot write|the story ends at tally)/)]);
    expect(readdirSync(into)).toEqual([]);
    expect(runOnFullDisk(words, options, 100_000_000).status).toBe(0);
  },
);

test.runIf(canFillDisk)(
  'a copy for which there is no room says that what was copied is kept, and goes on where there is (skipped without prlimit)',
  async () => {
    const home = newHome();
    const [book, copied] = [join(home, 'playground', 'demo.db'), join(home, 'copied.db')];
    await runProgram(['demo', '--into', join(home, 'playground')], { home });
    const words = ['copy', '--from', book, '--to', copied];
    const options = { env: environmentOf(home) };
    const { status, stderr } = runOnFullDisk(words, options, statSync(book).size - 100_000);
    expect([status, stderr]).toEqual([
      9,
      expect.stringMatching(/^tally: the disk failed .*: disk I\/O error; what was copied to \S+copied\.db is kept\n/),
    ]);
    expect(stderr).toMatch(/hint: .*, then repeat the command\n$/);
    expect(await runProgram(words, { home })).toMatchObject({ code: 0 });
  },
);

const postgres = canFillDisk ? await usePostgres() : undefined;

test.runIf(postgres !== undefined)(
  'a backup of a server of which not even the last line fits is none, and nothing of it stays (skipped without prlimit)',
  async () => {
    const home = newHome();
    const database = (await postgres?.create()) ?? '';
    const whole = join(home, 'whole.dump');
    await runProgram(['orgs', 'list'], { home, environment: { TALLY_DATABASE: database } });
    expect(await runProgram(['backup', whole, '--database', database], { home })).toMatchObject({ code: 0 });
    const env = { ...process.env, ...environmentOf(home) };
    const words = ['backup', join(home, 'cut.dump'), '--database', database];
    const { status, stderr } = runOnFullDisk(words, { env }, statSync(whole).size - 1);
    expect({ status, stderr }).toEqual({
      status: 9,
      stderr: expect.stringContaining(`nothing can be written to ${home}`),
    });
    expect(readdirSync(home).filter((name) => name.startsWith('cut') || name.startsWith('.tally'))).toEqual([]);
  },
);

test.runIf(canFillDisk).each([
  ['is not in the way then', { words: [], before: {} }],
  ['leaves the one that it was to replace as it is', { words: ['--force'], before: { 'catalog.yaml': 'work' } }],
])(
  'a file for which there is no room is refused as what later may do, and %s (skipped without prlimit)',
  (_how, { words, before }) => {
    const home = newHome();
    const out = join(home, 'out');
    mkdirSync(out);
    for (const [name, text] of Object.entries(before)) writeFileSync(join(out, name), text);
    const file = join(out, 'catalog.yaml');
    const exporting = ['catalog', 'export', '--database', ':memory:', '--file', file, ...words];
    const { status, stderr } = runOnFullDisk(exporting, { env: environmentOf(home) });
    expect([status, stderr.split('\n')[0]]).toEqual([
      9,
      `tally: cannot write ${file}: the file would exceed the size limit`,
    ]);
    expect(Object.fromEntries(readdirSync(out).map((name) => [name, readFileSync(join(out, name), 'utf8')]))).toEqual(
      before,
    );
  },
);

/** For the command alone, and gone with it. */
const canMount =
  process.platform === 'linux' && spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()]).status === 0;

test.runIf(canMount).each([
  [
    'stays as it is where nothing can be made beside it',
    'mount -t tmpfs -o nr_inodes=2 tmpfs . && cd "$PWD" && echo work > file',
    9,
    /^work\n$/,
  ],
  ['is written in place where it is mounted by itself', 'touch file other; mount --bind other file', 0, /^products:/m],
])('a file to replace %s (skipped where nothing can be mounted)', (_how, mount, exitCode, content) => {
  const home = newHome();
  mkdirSync(join(home, 'out'));
  const exporting = ['catalog', 'export', '--database', ':memory:', '--file', 'file', '--force'];
  const { status, stdout } = spawnSync(
    'unshare',
    [
      '-rm',
      'bash',
      '-c',
      `${mount}; "$@"; code=$?; cat file; exit $code`,
      'bash',
      process.execPath,
      launcher,
      ...exporting,
    ],
    { cwd: join(home, 'out'), encoding: 'utf8', env: environmentOf(home) },
  );
  expect([status, stdout]).toEqual([exitCode, expect.stringMatching(content)]);
});
