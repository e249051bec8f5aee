/** bin/tally.js, tried beside small stand-ins for the program, because which one it starts is the question. */

import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { root } from '../support/sources.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tally-launcher-'));
  mkdirSync(join(folder, 'bin'));
  copyFileSync(join(root, 'bin/tally.js'), join(folder, 'bin/tally.js'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('an older Node is told which version is needed', () => {
  place('src/main.ts', 'sources');
  const older =
    'Object.defineProperty(process, "version", { value: "v20.20.2" });' +
    'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } });';
  const run = launch([], { before: ['--import', `data:text/javascript,${encodeURIComponent(older)}`] });
  expect(run.stderr).toMatch(/^tally needs Node 26 or newer; this is v20\.20\.2\. .*npm ci && npx tally\n$/);
  expect(run.stdout).toBe('');
  expect(run.status).toBe(2);
});

test('a checkout runs its sources even when a dist folder lies beside them', () => {
  place('src/main.ts', 'sources');
  place('dist/main.js', 'bundle');
  expect(launch().stdout).toBe('sources');
});

test('an installed package runs its bundle', () => {
  place('dist/main.js', 'bundle');
  expect(launch().stdout).toBe('bundle');
});

test('a package without its bundle says so', () => {
  const run = launch();
  expect(run.stderr).toBe('tally is incomplete: dist/main.js is missing. Install the package again.\n');
  expect(run.status).toBe(1);
});

test('the exit code is what the program set', () => {
  place('dist/main.js', 'bundle', 'process.exitCode = 7;');
  expect(launch().status).toBe(7);
});

test("compiled code is kept in the user's own cache folder", () => {
  place('dist/main.js', 'bundle');
  launch([], { environment: { XDG_CACHE_HOME: join(folder, 'cache') } });
  expect(existsSync(join(folder, 'cache/tallybook/compiled'))).toBe(true);
});

test('a cache folder that cannot be made stops nothing', () => {
  place('dist/main.js', 'bundle');
  const run = launch([], { environment: { XDG_CACHE_HOME: join(folder, 'package.json') } });
  expect(run).toMatchObject({ stdout: 'bundle', stderr: '', status: 0 });
});

function place(path: string, says: string, more = ''): void {
  mkdirSync(join(folder, path, '..'), { recursive: true });
  writeFileSync(join(folder, path), `export async function main() { process.stdout.write('${says}'); ${more} }`);
}

function launch(
  parameters: readonly string[] = [],
  options: { readonly before?: readonly string[]; readonly environment?: Record<string, string> } = {},
) {
  const words = [...(options.before ?? []), join(folder, 'bin/tally.js'), ...parameters];
  const { stdout, stderr, status } = spawnSync(process.execPath, words, {
    encoding: 'utf8',
    env: { ...process.env, XDG_CACHE_HOME: join(folder, 'cache'), ...options.environment },
  });
  return { stdout, stderr, status };
}
