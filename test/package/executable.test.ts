/**
 * The program as one file: it prints what the sources print, with no Node on the path and no other file of ours beside it.
 * Two scripts here; all of them with TALLY_LONG=1 (`npm run test:binary`).
 */

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { performScript, sameEverywhere } from '../scripts/script.ts';
import { root } from '../support/sources.ts';
import type { Surface } from '../support/stage.ts';
import { createExecutableStage } from './executable-stage.ts';

const isLong = process.env['TALLY_LONG'] === '1';
const { version } = JSON.parse(read('package.json'));
const scripts = isLong
  ? readdirSync(join(root, 'test/scripts')).filter((name) => name.endsWith('.script'))
  : ['customers.script', 'meters-test.script'];

let folder: string;
let executable: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tally-executable-'));
  // Sources and a bundle of somebody else's near the executable are none of its business.
  for (const path of ['src/main.ts', 'dist/main.txt']) {
    mkdirSync(join(folder, 'place', path, '..'), { recursive: true });
    writeFileSync(join(folder, 'place', path), 'throw new Error("this is not mine")');
  }
  executable = join(folder, 'place/bin', process.platform === 'win32' ? 'tally.exe' : 'tally');
  execFileSync(process.execPath, [join(root, 'tools/build-binary.ts'), executable]);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('it prints its version', () => {
  expect(tally('--version')).toEqual({ stdout: `${version}\n`, stderr: '', status: 0 });
});

test('the first command works on a new database', () => {
  expect(JSON.parse(tally('customers', 'list', '-o', 'json').stdout).data).toEqual([]);
});

test('a wrong command line has its exit code and its hint', () => {
  const { stdout, stderr, status } = tally('custmers', 'list');
  expect({ stdout, status }).toEqual({ stdout: '', status: 2 });
  expect(stderr).toContain('customers');
});

test('it does not start for a debugger', () => {
  const { stdout, stderr, status } = tallyWith({ NODE_OPTIONS: '--inspect-port=0' }, 'customers', 'list');
  expect({ stdout, status }).toEqual({ stdout: '', status: 2 });
  expect(stderr).toContain('--allow-inspect');
});

test.each([
  [['completion', 'bash'], 'complete -o default -F _tally tally'],
  [['completion', 'zsh'], '#compdef tally'],
  [['catalog', 'schema'], '"$schema"'],
])('%s is there without a file beside it', (words, part) => {
  const { stdout, stderr, status } = tally(...words);
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  expect(stdout).toContain(part);
});

test('it describes its interface', () => {
  expect(JSON.parse(tally('api', '--openapi').stdout)).toMatchObject({ openapi: expect.stringMatching(/^3\.1\./) });
});

test('what it holds as a library works: YAML, CSV and jq', () => {
  expect(tally('customers', 'list', '-o', 'yaml').stdout).toContain('data: []');
  expect(tally('customers', 'list', '-o', 'csv').stdout).toContain('"createdAt"');
  expect(tally('customers', 'list', '--jq', '.data | length').stdout).toBe('0\n');
});

test('it tells the story of the demo', () => {
  expect(tally('demo')).toMatchObject({ stderr: '', status: 0 });
});

test('it brings a database of the first schema to its own', () => {
  const database = join(folder, 'v1.db');
  writeFileSync(database, gunzipSync(readFileSync(join(root, 'test/fixtures/db/v1.sqlite.gz'))));
  const stderr = `upgraded the database; a copy from before is kept: ${database}.schema-1\n`;
  expect(tally('--database', database, 'customers', 'list', '-o', 'name')).toMatchObject({ stderr, status: 0 });
});

describe('an SQL meter', () => {
  const create = (code: string, sql: string) =>
    tally('meters', 'create', '--code', code, '--display-name', 'Users', '--sql', sql);

  test('is read in a process of the same executable', () => {
    expect(create('USERS', 'SELECT count(*) AS value FROM events')).toMatchObject({ stderr: '', status: 0 });
  });

  test('is refused what it must not reach', () => {
    expect(create('READER', "SELECT readfile('/etc/passwd') AS value FROM events")).toMatchObject({ status: 8 });
  });
});

describe.each(scripts)('%s prints what the sources print', (name) => {
  test.each<Surface>(['embedded', 'http'])('%s', { timeout: 300_000 }, async (surface) => {
    const recorded = read(`test/scripts/${name}`);
    const stage = await createExecutableStage(executable, surface);
    try {
      const transcript = await performScript(recorded, stage);
      expect(inOrder(sameEverywhere(transcript, stage.directory))).toBe(inOrder(recorded));
    } finally {
      await stage.close();
    }
  });
});

/** Ids, and what is made of them, by their first appearance: processes share a count of ids that a world has several of. */
function inOrder(text: string): string {
  const seen = new Map<string, string>();
  return text.replaceAll(
    /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<=DRAFT-)[0-9a-f]{8}|\b[0-9a-f]{64}\b/g,
    (id) => {
      if (!seen.has(id)) seen.set(id, `<${seen.size + 1}>`);
      return seen.get(id) ?? id;
    },
  );
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

function tally(...words: readonly string[]) {
  return tallyWith({}, ...words);
}

function tallyWith(environment: Readonly<Record<string, string>>, ...words: readonly string[]) {
  const { stdout, stderr, status } = spawnSync(executable, words, {
    encoding: 'utf8',
    cwd: folder,
    env: {
      PATH: folder,
      HOME: folder,
      TMPDIR: folder,
      USERPROFILE: folder,
      TALLY_CONFIG_DIR: join(folder, 'config'),
      TALLY_DATA_DIR: join(folder, 'data'),
      ...(process.platform === 'win32' ? { SystemRoot: process.env['SystemRoot'] ?? '' } : {}),
      ...environment,
    },
  });
  return { stdout, stderr, status };
}
