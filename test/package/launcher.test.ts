/** bin/tally.js, tried beside small stand-ins for the program, because which one it starts is the question. */

import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { root } from '../support/sources.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tally-launcher-'));
  mkdirSync(join(folder, 'bin'));
  cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true });
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
  place('dist/main.cjs', 'bundle');
  expect(launch().stdout).toBe('sources');
});

test('an installed package runs its bundle', () => {
  place('dist/main.cjs', 'bundle');
  expect(launch().stdout).toBe('bundle');
});

describe('a pack of what commands run', () => {
  const asFunction = (text: string): string => `(function (exports, require, module) {${text}\n})`;
  const says = (words: string): string => `exports.tell = () => process.stdout.write('${words}');`;

  beforeEach(() => {
    place('dist/main.cjs', 'bundle', `require('./part-a1B2_c-4.cjs').tell(); require('./more-a1B2_c-4.cjs').tell();`);
    writeFileSync(join(folder, 'dist/part-a1B2_c-4.cjs'), says(' part by its file'));
    writeFileSync(join(folder, 'dist/more-a1B2_c-4.cjs'), says(' more by its file'));
  });

  test('is read instead of the files that are in it, also with their bytecode', () => {
    const [part, more] = [asFunction(says(' part')), asFunction(says(' more'))];
    const table = `\npart-a1B2_c-4.cjs 0 ${part.length}\nmore-a1B2_c-4.cjs ${part.length} ${part.length + more.length}`;
    writeFileSync(join(folder, 'dist/pack.txt'), `${table}\n\n${part}${more}`);
    for (let run = 0; run < 3; run += 1)
      expect(launch()).toEqual({ stdout: 'bundle part more', stderr: '', status: 0 });
  });

  test('leaves other files to themselves, and all of them where it breaks off', () => {
    const part = asFunction(says(' part'));
    const table = `\nmore-a1B2_c-4 0 9\nart-a1B2_c-4.cjs 0 9\npart-a1B2_c-4.cjs 0 ${part.length}`;
    writeFileSync(join(folder, 'dist/pack.txt'), `${table}\n\n${part}`);
    expect(launch().stdout).toBe('bundle part more by its file');
    for (const broken of [`${table}\n\n${part.slice(0, -1)}`, table, '', '\n\n']) {
      writeFileSync(join(folder, 'dist/pack.txt'), broken);
      expect(launch()).toEqual({ stdout: 'bundle part by its file more by its file', stderr: '', status: 0 });
    }
  });
});

test('a package without its bundle says so', () => {
  const run = launch();
  expect(run.stderr).toBe('tally is incomplete: dist/main.txt is missing. Install the package again.\n');
  expect(run.status).toBe(1);
});

test('a part of the bundle that cannot be loaded now is loaded when it can, with all that it takes', () => {
  place(
    'dist/main.cjs',
    'bundle',
    `const { writeFileSync } = process.getBuiltinModule('node:fs');
    const tell = () => require('./part-a1B2_c-4.cjs').tell();
    try {
      tell();
    } catch (error) {
      process.stdout.write(' ' + error.code);
    }
    writeFileSync(${JSON.stringify(join(folder, 'dist/deeper-a1B2_c-4.cjs'))}, "exports.words = ' and its part';");
    tell();`,
  );
  const part = `const { words } = require('./deeper-a1B2_c-4.cjs'); exports.tell = () => process.stdout.write(words);`;
  writeFileSync(join(folder, 'dist/part-a1B2_c-4.cjs'), part);
  expect(launch().stdout).toBe('bundle ENOENT and its part');
});

test('a service has all of the bundle from its start, whatever becomes of the package', () => {
  const removal = `process.getBuiltinModule('node:fs').rmSync(${JSON.stringify(join(folder, 'dist'))}, { recursive: true });`;
  place('dist/main.cjs', 'bundle', `arguments[1]('serve'); ${removal} require('./part-a1B2_c-4.cjs').tell();`);
  writeFileSync(
    join(folder, 'dist/part-a1B2_c-4.cjs'),
    `exports.tell = () => process.stdout.write(' and its part …');`,
  );
  expect(launch()).toEqual({ stdout: 'bundle and its part …', stderr: '', status: 0 });
});

test('the exit code is what the program set', () => {
  place('dist/main.cjs', 'bundle', 'process.exitCode = 7;');
  expect(launch().status).toBe(7);
});

describe('the bytecode of a bundle', () => {
  const part = 'dist/part-a1B2_c-4.cjs';
  const kept = () => globSync('cache/tallybook/bytecode/*/*', { cwd: folder });

  beforeEach(() => {
    place('dist/main.cjs', 'bundle', `require('./part-a1B2_c-4.cjs').tell();`);
    writeFileSync(join(folder, part), `exports.tell = () => process.stdout.write(' and its part');`);
  });

  test("is kept in the user's own cache folder, for nobody else to read, and used again", () => {
    expect(launch().stdout).toBe('bundle and its part');
    expect(kept().map((path) => basename(path))).toEqual([basename(part)]);
    const [first] = kept().map((path) => statSync(join(folder, path)));
    if (process.platform !== 'win32') expect(first?.mode).toBe(0o100600);
    expect(launch().stdout).toBe('bundle and its part');
    const [second] = kept().map((path) => statSync(join(folder, path)));
    expect(second?.ino).toBe(first?.ino);
  });

  test('is kept again by the first run of another command, with what that ran, and by no other', () => {
    const main = `exports.main = async (_, noteCommand) => {
      noteCommand(process.argv[2]);
      require('./part-a1B2_c-4.cjs')[process.argv[2]]();
    }`;
    place('dist/main.cjs', '');
    writeFileSync(join(folder, 'dist/main.cjs'), main);
    writeFileSync(
      join(folder, part),
      `exports.one = () => String('the first'); exports.two = () => String('the second');`,
    );
    const seen = ['one', 'one', 'two', 'two', 'one'].map((command) => {
      expect(launch([command])).toMatchObject({ stderr: '', status: 0 });
      const path = kept().find((name) => basename(name) === basename(part)) ?? '';
      const bytecode = readFileSync(join(folder, path), 'latin1');
      const { ino } = statSync(join(folder, path));
      return { ino, texts: ['the first', 'the second'].filter((text) => bytecode.includes(text)) };
    });
    const [first, , second] = seen;
    expect(first?.texts).toEqual(['the first']);
    expect(second?.texts).toEqual(['the first', 'the second']);
    expect(seen.map(({ ino }) => ino)).toEqual([first, first, second, second, second].map((each) => each?.ino));
    expect(second?.ino).not.toBe(first?.ino);
  });

  test('is kept again by every command once one had to make it anew', () => {
    writeFileSync(
      join(folder, 'dist/main.cjs'),
      `exports.main = async (_, noteCommand) => {
        noteCommand(process.argv[2]);
        require('./part-a1B2_c-4.cjs')[process.argv[2]]();
      }`,
    );
    writeFileSync(
      join(folder, part),
      `exports.one = () => String('the first'); exports.two = () => String('the second');`,
    );
    for (const command of ['one', 'two', 'one']) launch([command]);
    const path = join(folder, kept().find((name) => basename(name) === basename(part)) ?? '');
    writeFileSync(path, 'spoilt');
    launch(['one']);
    expect(readFileSync(path, 'latin1')).not.toContain('the second');
    launch(['two']);
    expect(readFileSync(path, 'latin1')).toContain('the second');
  });

  // In /proc Node's own way of making folders never comes back.
  test.each(['package.json', '../../../../../../../../proc'])('is not kept below %s, which stops nothing', (at) => {
    const run = launch([], { environment: { XDG_CACHE_HOME: join(folder, at) } });
    expect(run).toMatchObject({ stdout: 'bundle and its part', stderr: '', status: 0 });
  });

  test('is not kept below the directory in which the command is given, where there is no home to speak of', () => {
    const run = launch([], { environment: { XDG_CACHE_HOME: '', HOME: '' } });
    expect(run).toMatchObject({ stdout: 'bundle and its part', stderr: '', status: 0 });
    expect(existsSync(join(folder, '.cache'))).toBe(false);
  });

  test.each([
    ['of another version of Node', (bytes: Buffer) => bytes.fill(1, 4, 8)],
    ['cut short', (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
    ['empty', () => Buffer.alloc(0)],
    ['nothing but zeros', (bytes: Buffer) => bytes.fill(0)],
    ['with one wrong bit', (bytes: Buffer) => bytes.fill((bytes[200] ?? 0) ^ 4, 200, 201)],
    [
      'with one wrong bit near its end',
      (bytes: Buffer) => bytes.fill((bytes.at(-9) ?? 0) ^ 1, bytes.length - 9, bytes.length - 8),
    ],
  ])('%s is made anew', (_, spoilt) => {
    launch();
    const [path = ''] = kept().map((name) => join(folder, name));
    const good = readFileSync(path);
    writeFileSync(path, spoilt(Buffer.from(good)));
    expect(launch()).toEqual({ stdout: 'bundle and its part', stderr: '', status: 0 });
    const made = readFileSync(path);
    expect(made.length).toBe(good.length);
    expect(made.subarray(0, made.length / 2).equals(made.subarray(made.length / 2))).toBe(true);
  });

  const isRoot = process.getuid?.() === 0;
  const others: readonly (readonly [string, (path: string) => void])[] = [
    ['that others may write in', (path) => chmodSync(path, 0o722)],
    ['of another user', (path) => chownSync(path, 65_534, 65_534)],
  ];

  test.skipIf(process.platform === 'win32').each(others.slice(0, isRoot ? 2 : 1))(
    'in a folder %s is not run, since it may be of another text',
    (_, give) => {
      const text = readFileSync(join(folder, part), 'utf8');
      // V8 takes bytecode for every text of the same length.
      writeFileSync(join(folder, part), text.replace('its part', 'evil one'));
      expect(launch().stdout).toBe('bundle and evil one');
      writeFileSync(join(folder, part), text);
      expect(launch().stdout).toBe('bundle and evil one');
      give(join(folder, kept()[0] ?? '', '..'));
      expect(launch()).toEqual({ stdout: 'bundle and its part', stderr: '', status: 0 });
    },
  );

  test('of versions that are gone is removed after a week', () => {
    launch();
    const [own = ''] = kept().map((name) => join(folder, name));
    const [gone, recent, node] = [
      join(own, '../gone-a1B2_c-4.cjs'),
      join(own, '../recent-a1B2_c-4.cjs'),
      join(own, '../../v20.0.0-x64-0'),
    ];
    for (const path of [gone, recent]) writeFileSync(path, 'x');
    mkdirSync(node);
    const weekAgo = Date.now() / 1000 - 8 * 86_400;
    for (const path of [gone, node, own]) utimesSync(path, weekAgo, weekAgo);
    writeFileSync(join(folder, part), `exports.tell = () => process.stdout.write(' and another part');`);
    writeFileSync(own, 'spoilt');
    utimesSync(own, weekAgo, weekAgo);
    expect(launch().stdout).toBe('bundle and another part');
    expect([gone, recent, node, own].map((path) => existsSync(path))).toEqual([false, true, false, true]);
  });

  test('is not kept where the package was removed meanwhile, which stops nothing', () => {
    const removed = `process.getBuiltinModule('node:fs').rmSync(${JSON.stringify(join(folder, 'bin'))}, { recursive: true });`;
    place('dist/main.cjs', 'bundle', `require('./part-a1B2_c-4.cjs').tell(); ${removed}`);
    expect(launch()).toEqual({ stdout: 'bundle and its part', stderr: '', status: 0 });
    expect(kept()).toEqual([]);
  });

  test('is neither read nor kept where Node is told to keep none', () => {
    launch([], { environment: { NODE_DISABLE_COMPILE_CACHE: '1' } });
    expect(kept()).toEqual([]);
  });
});

function place(path: string, says: string, more = ''): void {
  mkdirSync(join(folder, path, '..'), { recursive: true });
  const start = path.endsWith('.cjs') ? 'exports.main = async function () {' : 'export async function main() {';
  if (path === 'dist/main.cjs') writeFileSync(join(folder, 'dist/main.txt'), 'main.cjs');
  writeFileSync(join(folder, path), `${start} process.stdout.write('${says}'); ${more} }`);
}

function launch(
  parameters: readonly string[] = [],
  options: { readonly before?: readonly string[]; readonly environment?: Record<string, string> } = {},
) {
  const words = [...(options.before ?? []), join(folder, 'bin/tally.js'), ...parameters];
  const { stdout, stderr, status } = spawnSync(process.execPath, words, {
    encoding: 'utf8',
    timeout: 30_000,
    cwd: folder,
    env: { ...process.env, XDG_CACHE_HOME: join(folder, 'cache'), ...options.environment },
  });
  return { stdout, stderr, status };
}
