/** The package as users get it: packed, installed without a network, and run. */

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join, posix } from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from '../support/sources.ts';
import { listenOnLoopback } from '../support/free-port.ts';

const onWindows = process.platform === 'win32';
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

let folder: string;
let packed: string[];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tally-package-'));
  const report = npm('pack', '--json', '--pack-destination', folder);
  const archive = JSON.parse(report.slice(report.search(/^\[/m)))[0];
  packed = archive.files.map((file: { path: string }) => file.path).sort();
  const prefix = join(folder, 'installed');
  // Under `npm test` an inner npm does not make its own prefix.
  mkdirSync(join(prefix, 'lib'), { recursive: true });
  npm('install', '--global', '--offline', '--prefix', prefix, join(folder, archive.filename));
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('holds the launcher, the bundle, its types, completions, manual, pages, schemas, examples and papers, and nothing else', () => {
  const bundled = packed.filter((path) => /^dist\/[\w-]+\.cjs$/.test(path));
  expect(bundled).toContain('dist/library.cjs');
  expect(bundled).toContain('dist/reading-thread.cjs');
  expect(
    packed.filter((path) => !bundled.includes(path) && !/^(completions|docs|examples|man|schemas)\//.test(path)),
  ).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'bin/keep-bytecode.js',
    'bin/package.json',
    'bin/tally.js',
    'dist/licenses.txt',
    'dist/main.txt',
    'dist/pack.txt',
    'dist/types/answer-facts.d.cts',
    'dist/types/errors.d.cts',
    'dist/types/exact-json.d.cts',
    'dist/types/library/library.d.cts',
    'dist/types/library/operations.d.cts',
    'package.json',
  ]);
});

test('has everything that its README and its pages lead to', () => {
  const pages = packed.filter((path) => path === 'README.md' || /^docs\/.*\.md$/.test(path));
  const links = pages.flatMap((page) =>
    [...readFileSync(join(root, page), 'utf8').matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, path = '']) => ({
      page,
      path: posix.join(posix.dirname(page), path),
    })),
  );
  expect(links.length).toBeGreaterThan(30);
  expect(links.filter(({ path }) => !packed.includes(path))).toEqual([]);
});

test('installing it brings no other package but the one that speaks to the keyring of the system', () => {
  const others = globSync('**/node_modules/*', { cwd: join(folder, 'installed') }).map((path) =>
    path.split(/[\\/]/).at(-1),
  );
  expect(others.filter((name) => name !== '@napi-rs')).toEqual(['tallybook']);
});

test('the bundle names no folder of the machine that built it, and needs nothing but Node', () => {
  for (const path of packed.filter((name) => /\.c?js$/.test(name))) {
    const text = readFileSync(join(root, path), 'utf8');
    expect(text).not.toContain(root);
    const outside = [...text.matchAll(/^(?:const|let)\b.*\brequire\("([^".][^"]*)"\)/gm)].map((match) => match[1]);
    expect(outside.filter((name) => !isBuiltin(name))).toEqual([]);
  }
});

test('no two files of the bundle need each other, or one would run before what it needs', () => {
  const needs = new Map(
    packed
      .filter((path) => path.endsWith('.cjs'))
      .map((path) => [
        path.replace('dist/', './'),
        [...readFileSync(join(root, path), 'utf8').matchAll(/^const .+ = require\("(\.\/[^"]+)"\);/gm)].map(
          ([, id]) => id,
        ),
      ]),
  );
  const isCycle = (id: string, above: readonly string[]): boolean =>
    above.includes(id) || (needs.get(id) ?? []).some((each) => isCycle(each ?? '', [...above, id]));
  expect([...needs.keys()].filter((id) => isCycle(id, []))).toEqual([]);
});

test('a command begins with a file whose bytecode is kept', () => {
  const first = readFileSync(join(root, 'dist/main.txt'), 'utf8');
  expect(first).toMatch(/-[\w-]{8}\.cjs$/);
  expect(packed).toContain(`dist/${first}`);
  expect(readFileSync(join(root, 'dist', first), 'utf8')).toMatch(/^module\.exports = \{[^}]*^\tmain,?$/m);
});

test('the pack has files of the bundle as they are, what every command runs among them, and is kept outside of the heap', () => {
  const pack = readFileSync(join(root, 'dist/pack.txt'), 'latin1');
  const [table = ''] = pack.split('\n\n', 1);
  const texts = pack.slice(table.length + 2);
  const places = table
    .trim()
    .split('\n')
    .map((line) => line.split(' '));
  for (const [name = '', begin, end] of places) {
    const text = readFileSync(join(root, 'dist', name), 'utf8');
    expect(texts.slice(Number(begin), Number(end))).toBe(`(function (exports, require, module) {${text}\n})`);
  }
  const first = readFileSync(join(root, 'dist/main.txt'), 'utf8');
  expect(places.map(([name]) => name?.slice(0, -13))).toEqual(
    expect.arrayContaining(['start', 'service', 'base', 'client']),
  );
  expect(places[0]?.[0]).toBe(first);
  // Node keeps a text of so many characters there (src/string_bytes.cc), and what is longer costs every command.
  expect(pack.length).toBeGreaterThan(1_031_913);
  expect(pack.length).toBeLessThan(1_150_000);
});

test('building twice gives the same bytes', () => {
  const again = join(folder, 'again');
  execFileSync(process.execPath, [join(root, 'tools/build.ts'), again]);
  const names = packed.filter((path) => path.startsWith('dist/')).map((path) => path.slice('dist/'.length));
  expect(
    globSync('**/*.*', { cwd: again })
      .map((path) => path.replaceAll('\\', '/'))
      .sort(),
  ).toEqual(names);
  for (const name of names) expect(readFileSync(join(again, name))).toEqual(readFileSync(join(root, 'dist', name)));
});

test('the installed command prints its version', () => {
  expect(tally('--version')).toEqual({ stdout: `${version}\n`, stderr: '', status: 0 });
});

test('the installed command explains itself', () => {
  const { stdout, status } = tally('--help');
  expect(stdout).toContain('customers');
  expect(status).toBe(0);
});

test('the first command works on a new database, offline', () => {
  const { stdout, stderr, status } = tally('customers', 'list', '-o', 'json');
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  expect(JSON.parse(stdout).data).toEqual([]);
});

test('what most calls run needs no query builder, no events and no calculation, and of records what it reads', () => {
  const contact = 'name=Ada,email=ada@example.com,roles=primary';
  const cache = join(folder, 'cache-of-short-commands');
  const XDG_DATA_HOME = join(folder, 'data-of-short-commands');
  const lateAfter = (...words: readonly string[]) => {
    expect(tallyWith({ XDG_DATA_HOME, XDG_CACHE_HOME: cache }, ...words, '-o', 'json')).toMatchObject({ status: 0 });
    const loaded = globSync('**/*.cjs', { cwd: cache }).map((path) => basename(path).replace(/-.{8}\.cjs$/, ''));
    expect(loaded).toContain('service');
    return loaded.filter((name) => name.startsWith('late-'));
  };
  // Making a database takes more.
  expect(tallyWith({ XDG_DATA_HOME }, 'customers', 'list')).toMatchObject({ status: 0 });
  expect(lateAfter('customers', 'list')).toEqual([]);
  expect(lateAfter('customers', 'create', '--name', 'Acme', '--contact', contact)).toEqual(['late-hash']);
  for (const room of ['invoices', 'meters']) {
    expect(lateAfter(room, 'list').toSorted()).toEqual(['late-hash', 'late-records', 'late-statements']);
  }
  for (const room of ['contracts', 'products', 'pricing', 'plans', 'keys', 'webhooks']) {
    expect(lateAfter(room, 'list')).not.toContain('late-queries');
  }
  // A verb that was not named.
  expect(globSync('**/invoices-export-*.cjs', { cwd: cache })).toEqual([]);
});

test('what is kept of a room is the outlines and the flags of the commands that were given, and of no others', () => {
  const XDG_CACHE_HOME = join(folder, 'cache-of-two-commands');
  const XDG_DATA_HOME = join(folder, 'data-of-two-commands');
  // The list finds all files kept by then, but not what it runs of them.
  for (const verb of ['create', 'list']) {
    const words =
      verb === 'create' ? ['--name', 'Acme', '--contact', 'name=Ada,email=ada@example.com,roles=primary'] : [];
    expect(tallyWith({ XDG_CACHE_HOME, XDG_DATA_HOME }, 'customers', verb, ...words)).toMatchObject({ status: 0 });
  }
  const kept = globSync('**/customers-*.cjs', { cwd: XDG_CACHE_HOME })
    .map((path) => readFileSync(join(XDG_CACHE_HOME, path), 'latin1'))
    .find((bytecode) => bytecode.includes('"name":"customers.list"'));
  expect(kept).toContain('"verb":"list"');
  expect(kept).not.toMatch(/"(?:name|operation)":"customers\.(?!list"|create")/);
});

test('a list makes few regular expressions: each takes as long as reading a file of the bundle', () => {
  const [counting, counted] = [join(folder, 'counting.cjs'), join(folder, 'counted.txt')];
  writeFileSync(
    counting,
    `const made = new Set();
    let asked = 0;
    const { exec } = RegExp.prototype;
    RegExp.prototype.exec = function (text) {
      made.add(String(this));
      asked += 1;
      return exec.call(this, text);
    };
    process.on('exit', () => process.getBuiltinModule('fs').writeFileSync(${JSON.stringify(counted)}, [asked, ...made].join('\\n')));`,
  );
  const environment = { NODE_OPTIONS: `--require ${JSON.stringify(counting)}` };
  expect(tallyWith(environment, 'customers', 'list', '-o', 'json')).toMatchObject({ status: 0 });
  const [asked, ...made] = readFileSync(counted, 'utf8').split('\n');
  // The parser's own, what no terminal may be sent, and what Node may be told, which was told something here.
  expect(made.length).toBeLessThanOrEqual(12);
  // The parser cuts the form of each flag apart: of those that every command has, of the ones that are given alone.
  expect(Number(asked)).toBeLessThanOrEqual(450);
});

test('a list of a service on this machine takes no Temporal, no stream of standard error and no http of Node', async () => {
  const [watching, seen] = [join(folder, 'watching.cjs'), join(folder, 'seen.txt')];
  writeFileSync(
    watching,
    `for (const [of, name] of [[globalThis, 'Temporal'], [process, 'stderr']]) {
      const { get, value } = Object.getOwnPropertyDescriptor(of, name);
      Object.defineProperty(of, name, { configurable: true, get() {
        process.getBuiltinModule('fs').appendFileSync(${JSON.stringify(seen)}, name + ' ');
        return get === undefined ? value : get.call(of);
      } });
    }
    process.on('exit', () => {
      if (process.moduleLoadList.includes('NativeModule http'))
        process.getBuiltinModule('fs').appendFileSync(${JSON.stringify(seen)}, 'http ');
    });`,
  );
  writeFileSync(seen, '');
  const service = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json; charset=utf-8');
    response.end(JSON.stringify({ data: [], hasMore: false, total: 0 }));
  });
  const port = await listenOnLoopback(service);
  try {
    const environment = {
      TALLY_BASE_URL: `http://127.0.0.1:${port}`,
      TALLY_API_KEY: `tally_live_${'0'.repeat(48)}`,
      NODE_OPTIONS: `--require ${JSON.stringify(watching)}`,
    };
    const command = spawn(commandPath(), ['customers', 'list', '-o', 'json'], optionsOf(environment));
    const [chunk] = await once(command.stdout, 'data');
    await once(command, 'exit');
    expect(JSON.parse(String(chunk))).toMatchObject({ data: [], total: 0 });
    expect(readFileSync(seen, 'utf8')).toBe('');
  } finally {
    service.closeAllConnections();
    service.close();
  }
});

test.each([
  [['completion', 'fish'], 'complete -c tally'],
  [['catalog', 'schema'], '"$schema"'],
])('%s is there without a file of the checkout', (words, part) => {
  const { stdout, stderr, status } = tally(...words);
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  expect(stdout).toContain(part);
});

test('what is bundled as a library works: YAML and jq', () => {
  expect(tally('customers', 'list', '-o', 'yaml').stdout).toContain('data: []');
  expect(tally('customers', 'list', '--jq', '.data|length').stdout).toBe('0\n');
});

test('an SQL meter is read by a process of its own', () => {
  const create = (code: string, sql: string) =>
    tally('meters', 'create', '--code', code, '--display-name', 'Users', '--sql', sql);
  expect(create('USERS', 'SELECT count(*) AS value FROM events')).toMatchObject({ stderr: '', status: 0 });
  expect(create('READER', 'SELECT 1 AS other FROM events')).toMatchObject({ stdout: '', status: 8 });
});

test('a large file is read by a thread of its own', () => {
  const contact = 'name=Ada,email=ada@example.com,roles=primary';
  const customer = ['--name', 'Acme', '--external-customer-id', 'acme', '--contact', contact];
  expect(tally('customers', 'create', ...customer)).toMatchObject({ status: 0 });
  const file = join(folder, 'large.csv');
  const row = (index: number) => `2026-02-01 00:00:00,${index},${'n'.repeat(400)}\n`;
  writeFileSync(file, `timestamp,row,note\n${Array.from({ length: 6_000 }, (_, index) => row(index)).join('')}`);
  const words = ['--customer', 'acme', '--event-name', 'request', '--quiet', '-o', 'json'];
  const { stdout, stderr, status } = tally('import', 'events', file, ...words);
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  expect(JSON.parse(stdout).data).toMatchObject({ rows: 6_000, accepted: 6_000, refused: 0 });
});

test('it tells the story of the demo', () => {
  expect(tally('demo')).toMatchObject({ stderr: '', status: 0 });
});

function isBuiltin(name: string | undefined): boolean {
  return name !== undefined && process.getBuiltinModule(name) !== undefined;
}

function npm(...words: readonly string[]): string {
  return execFileSync('npm', words, {
    cwd: root,
    encoding: 'utf8',
    shell: onWindows,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function tally(...words: readonly string[]) {
  return tallyWith({}, ...words);
}

function tallyWith(environment: Readonly<Record<string, string>>, ...words: readonly string[]) {
  const { stdout, stderr, status } = spawnSync(commandPath(), words, { encoding: 'utf8', ...optionsOf(environment) });
  return { stdout, stderr, status };
}

function commandPath(): string {
  return join(folder, 'installed', onWindows ? 'tally.cmd' : 'bin/tally');
}

function optionsOf(environment: Readonly<Record<string, string>>) {
  return {
    shell: onWindows,
    env: {
      PATH: [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter),
      HOME: folder,
      TMPDIR: folder,
      USERPROFILE: folder,
      APPDATA: folder,
      LOCALAPPDATA: folder,
      XDG_CACHE_HOME: join(folder, 'cache'),
      XDG_CONFIG_HOME: join(folder, 'config'),
      XDG_DATA_HOME: join(folder, 'data'),
      ...(onWindows ? { SystemRoot: process.env['SystemRoot'] ?? '' } : {}),
      ...environment,
    },
  };
}
