import {
  chmodSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';

import { describe, expect, test } from 'vitest';

import { createShell } from '../shell.ts';
import type { Shell, ShellOptions } from '../shell.ts';

const key = `tally_live_${'c0ffee'.repeat(8)}`;
const otherKey = `tally_live_${'decade'.repeat(8)}`;
const sandbox = 'profile add box --environment sandbox --base-url https://box.example.com --no-check --key-stdin';
const isWindows = process.platform === 'win32';

const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);

async function withProfile(options: ShellOptions = {}): Promise<Shell> {
  const shell = createShell(options);
  expect(await shell.run(sandbox, { input: `${key}\n` })).toMatchObject({ code: 0, stdout: '' });
  expect(await shell.run('profile use box')).toMatchObject({ code: 0, stdout: '' });
  return shell;
}

async function shown(shell: Shell, flags = ''): Promise<Record<string, [unknown, string]>> {
  const { stdout, stderr } = await shell.run(`profile show -o json ${flags}`);
  if (stdout === '') throw new Error(stderr);
  const rows = JSON.parse(stdout).data as { setting: string; value: unknown; source: string }[];
  return Object.fromEntries(rows.map(({ setting, value, source }) => [setting, [value, source]]));
}

test('profile show cuts no path, however narrow the terminal', async () => {
  const path = `/srv/${'a-long-way/'.repeat(8)}billing.db`;
  const { stdout } = await createShell().run(`profile show --database ${path}`, { isTerminal: true, columns: 60 });
  expect(stdout).toContain(`${path}  --database\n`);
});

describe('files', () => {
  test.skipIf(isWindows).each([0o000, 0o022, 0o077])('are their owner’s alone under umask %o', async (mask) => {
    const before = process.umask(mask);
    try {
      const shell = await withProfile();
      await shell.run('profile add more --environment embedded');
      await shell.run('profile use more');
      expect(mode(join(shell.home, 'config'))).toBe('700');
      expect(mode(join(shell.home, 'config', 'config.json'))).toBe('600');
      expect(mode(join(shell.home, 'config', 'credentials.json'))).toBe('600');
    } finally {
      process.umask(before);
    }
  });

  test('take one key: two places for it are refused', async () => {
    const shell = createShell();
    const { code, stderr } = await shell.run(`${sandbox} --key-file other.txt`, { input: key });
    expect(code).toBe(2);
    expect(stderr).toContain('--key-file and --key-stdin both say where the key is');
  });

  test.skipIf(isWindows)('are not put where others may look, the first one neither', async () => {
    const shell = createShell();
    const directory = join(shell.home, 'config');
    mkdirSync(directory);
    chmodSync(directory, 0o755);
    const { code, stderr } = await shell.run(sandbox, { input: `${key}\n` });
    expect([code, readdirSync(directory)]).toEqual([2, []]);
    expect(stderr).toContain(`chmod 700 ${directory}`);
  });

  test('the key stands in its own file, and nothing else is left behind', async () => {
    const shell = await withProfile();
    const directory = join(shell.home, 'config');
    expect(readdirSync(directory).sort()).toEqual(['config.json', 'credentials.json']);
    expect(readFileSync(join(directory, 'config.json'), 'utf8')).not.toContain(key);
    expect(JSON.parse(readFileSync(join(directory, 'credentials.json'), 'utf8'))).toEqual({
      box: { key, baseUrl: 'https://box.example.com', environment: 'sandbox' },
    });
  });

  test.skipIf(isWindows).each([
    ['config.json', 0o644, 'chmod 600'],
    ['credentials.json', 0o640, 'chmod 600'],
    ['credentials.json', 0o602, 'chmod 600'],
    ['.', 0o710, 'chmod 700'],
    ['.', 0o755, 'chmod 700'],
  ])('%s with mode %o is refused, with the command that mends it', async (name, wide, command) => {
    const shell = await withProfile();
    chmodSync(join(shell.home, 'config', name), wide);
    const { code, stderr } = await shell.run('customers list');
    expect([code, shell.calls]).toEqual([2, []]);
    expect(stderr).toContain('open to other users');
    expect(stderr).toContain(command);
  });

  test.skipIf(isWindows)('a symbolic link is refused', async () => {
    const shell = await withProfile();
    const path = join(shell.home, 'config', 'credentials.json');
    renameSync(path, join(shell.home, 'elsewhere.json'));
    symlinkSync(join(shell.home, 'elsewhere.json'), path);
    expect((await shell.run('customers list')).stderr).toContain('is a symbolic link');
    expect((await shell.run(sandbox, { input: otherKey })).code).toBe(2);
    expect(readFileSync(join(shell.home, 'elsewhere.json'), 'utf8')).toContain(key);
  });

  test.skipIf(isWindows)('a file of another user is refused', async () => {
    const machine = { platform: 'linux', userId: 4_711, now: () => 0 };
    const shell = createShell({ dependencies: { machine } });
    mkdirSync(join(shell.home, 'config'), { mode: 0o700 });
    writeFileSync(join(shell.home, 'config', 'config.json'), '{}', { mode: 0o600 });
    expect((await shell.run('customers list')).stderr).toContain('belongs to another user');
  });

  test.each(['', '{"profiles":', '[]', '\u0000\u0001', 'null'])(
    'a damaged file (%j) is named and left as it is',
    async (text) => {
      const shell = createShell();
      const path = join(shell.home, 'config', 'config.json');
      mkdirSync(join(shell.home, 'config'), { mode: 0o700 });
      writeFileSync(path, text, { mode: 0o600 });
      for (const line of ['customers list', 'profile list', 'profile add x --environment embedded']) {
        const { code, stderr } = await shell.run(line);
        expect(code).toBe(2);
        expect(stderr).toContain(`${path} is damaged`);
      }
      expect(readFileSync(path, 'utf8')).toBe(text);
    },
  );

  test('two that write at once both find their profile afterwards', async () => {
    const shell = await withProfile();
    const names = ['a', 'b', 'c', 'd', 'e'];
    await Promise.all(names.map((name) => shell.run(`profile add ${name} --environment embedded`)));
    const { stdout } = await shell.run('profile list --columns name');
    expect(stdout.trimEnd().split('\n').sort()).toEqual(['a', 'b', 'box', 'c', 'd', 'e']);
  });
});

describe('a profile', () => {
  test('is in use when somebody says so, not when it is added', async () => {
    const shell = createShell();
    await shell.run(sandbox, { input: `${key}\n` });
    expect(await shown(shell)).toMatchObject({ environment: ['embedded', 'default'] });
    expect(await shown(shell, 'box')).toMatchObject({ environment: ['sandbox', 'profile'] });
    await shell.run('profile use box');
    await shell.run('profile add local --environment embedded --database ./x.db');
    expect((await shell.run('profile list')).stdout).toBe(
      `box\tsandbox\thttps://box.example.com\ttrue\nlocal\tembedded\t${resolve('x.db')}\tfalse\n`,
    );
    await shell.run('profile use local');
    expect(await shown(shell)).toMatchObject({
      profile: ['local', 'tally profile use'],
      database: [resolve('x.db'), 'profile'],
    });
  });

  test.each([
    ['books/x.db', resolve('books/x.db')],
    ['/srv/x.db', '/srv/x.db'],
    ['sqlite:/srv/x.db', '/srv/x.db'],
    ['file:books/x.db', resolve('books/x.db')],
    ['sqlite::memory:', ':memory:'],
    [':memory:', ':memory:'],
    ['postgres://localhost/books', 'postgres://localhost/books'],
  ])('of the database %s is of the same one in every directory', async (database, kept) => {
    const shell = createShell();
    await shell.run(`profile add local --environment embedded --database ${database}`);
    expect(await shown(shell, '--profile local')).toMatchObject({ database: [kept, 'profile'] });
  });

  test.each(['file:books/x.db', `sqlite:${resolve('books/x.db')}`])(
    'need not be there for the file of %s to be known by its path, as the journal names it',
    async (url) => {
      const database = [resolve('books/x.db'), '--database'];
      expect(await shown(createShell(), `--database ${url}`)).toMatchObject({ database });
    },
  );

  test.each([
    ['a home directory that no shell has put in', '~/x.db', '~/x.db begins with ~'],
    ['a variable that is not set', '', 'the path of the database is empty'],
  ])('is not made of %s', async (_what, database, words) => {
    const shell = createShell();
    const { code, stderr } = await shell.run([
      'profile',
      'add',
      'x',
      '--environment',
      'embedded',
      '--database',
      database,
    ]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
  });

  test('is missed on a terminal alone', async () => {
    const shell = createShell();
    const { stderr } = await shell.run('profile list', { isTerminal: true });
    expect(stderr).toBe('there are none; make one with: tally profile add NAME\n');
    expect(await shell.run('profile list')).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });

  test('goes with its key when it is removed', async () => {
    const shell = await withProfile();
    expect((await shell.run('profile remove box')).code).toBe(0);
    expect(readFileSync(join(shell.home, 'config', 'credentials.json'), 'utf8')).not.toContain(key);
    expect((await shell.run('customers list --profile box')).stderr).toContain('there is no profile "box"');
    expect((await shell.run('customers list')).code).toBe(0);
  });

  test('that was in use is missed when it is removed, and any other is not', async () => {
    const shell = await withProfile();
    await shell.run('profile add other --environment embedded --database ./other.db');
    const words = 'it was in use: commands work on the default database from now on';
    expect((await shell.run('profile remove other')).stderr).not.toContain(words);
    expect((await shell.run('profile remove box')).stderr).toContain(words);
  });

  test.each(['__proto__', 'a.b', '../x', '-rf', 'Box', '', 'x'.repeat(33), 'a b', 'é'])(
    'cannot be called %j',
    async (name) => {
      const shell = createShell();
      expect((await shell.run(['profile', 'add', '--environment', 'embedded', '--', name])).code).toBe(2);
      expect((await shell.run(['customers', 'list', `--profile=${name}`])).code).toBe(2);
      expect(shell.calls).toEqual([]);
    },
  );

  test.each(['constructor', 'hasownproperty', 'valueof'])(
    'that is called %s but was never added is not there',
    async (name) => {
      expect((await createShell().run(`customers list --profile ${name}`)).stderr).toContain(
        `there is no profile "${name}"`,
      );
    },
  );

  test('called constructor is one like any other', async () => {
    const shell = createShell();
    await shell.run('profile add constructor --environment embedded --database ./c.db');
    expect(await shown(shell, '--profile constructor')).toMatchObject({ database: [resolve('c.db'), 'profile'] });
  });

  test('that becomes one of a database leaves no key behind', async () => {
    const shell = await withProfile();
    expect((await shell.run('profile add box --environment embedded')).code).toBe(0);
    expect(readFileSync(join(shell.home, 'config', 'credentials.json'), 'utf8')).not.toContain(key);
  });

  test('of production asks before it writes', async () => {
    const shell = createShell();
    const add = 'profile add live --environment production --base-url https://box.example.com --no-check --key-stdin';
    expect((await shell.run(add, { input: `${key}\n` })).code).toBe(0);
    const { code, asked, stderr } = await shell.run('customers pause c1 --profile live', {
      isTerminal: true,
      answers: ['no'],
    });
    expect([code, asked]).toEqual([11, ['Go on?']]);
    expect(shell.calls.map(({ name }) => name)).not.toContain('customers.pause');
    expect(stderr).toContain('(profile live)');
  });

  test('called constructor has the key that was stored for it, or none', async () => {
    const shell = createShell();
    await shell.run(sandbox.replace('box', 'constructor'), { input: `${key}\n` });
    writeFileSync(join(shell.home, 'config', 'credentials.json'), '{}', { mode: 0o600 });
    const { code, stderr } = await shell.run('customers list --profile constructor');
    expect([code, stderr]).toEqual([3, expect.stringContaining('profile "constructor" has no key')]);
  });

  test('whose address was changed by hand does not send its key there', async () => {
    const shell = await withProfile();
    const path = join(shell.home, 'config', 'config.json');
    writeFileSync(path, readFileSync(path, 'utf8').replace('box.example.com', 'evil.example.com'), { mode: 0o600 });
    const { code, stderr } = await shell.run('customers list');
    expect([code, shell.targets]).toEqual([2, []]);
    expect(stderr).toContain('stored for another address');
    // Whoever repeats it types the address that they know.
    expect(stderr).toContain('tally profile add box --environment sandbox --base-url URL\n');
  });

  test.each<[string, string, string]>([
    ['profile add x --environment live', '', 'Allowed choices are production, sandbox, embedded'],
    ['profile add x', '', '--environment takes one of'],
    ['profile add x --environment sandbox', '', 'needs --base-url, or --database'],
    ['profile add x --environment embedded --base-url https://a', '', 'a database has no address and no key'],
    ['profile add x --environment production --database a.db --base-url https://a', '', 'a database has no address'],
    ['profile add x --environment production --database a.db --key-stdin', '', 'a database has no address and no key'],
    ['profile add x --environment sandbox --base-url https://a', '', 'the key cannot be asked for'],
    ['profile add x --environment sandbox --base-url https://a --key-stdin', 'not a key', 'this is not an API key'],
    ['profile add --environment embedded', '', 'missing <name>'],
    ['profile use nowhere', '', 'there is no profile "nowhere"'],
  ])('%s is refused', async (line, input, words) => {
    const shell = createShell();
    const { code, stderr } = await shell.run(line, { input });
    expect(code).toBe(2);
    expect(stderr).toContain(words);
    if (input !== '') expect(stderr).not.toContain(input);
  });

  test('its key may be typed, and is never shown', async () => {
    const shell = createShell();
    const line = 'profile add box --no-check --environment sandbox --base-url https://box.example.com';
    const { code, asked, stderr } = await shell.run(line, { isTerminal: true, answers: [key] });
    expect([code, asked]).toEqual([0, ['API key']]);
    expect(stderr).not.toContain(key);
  });
});

describe('what commands work on', () => {
  const address = { TALLY_BASE_URL: 'https://env.example.com', TALLY_API_KEY: otherKey };

  test.each<[string, Record<string, string>, string, Record<string, [unknown, string]>]>([
    [
      'a flag goes before everything',
      { TALLY_DATABASE: 'env.db' },
      '--database flag.db',
      { database: ['flag.db', '--database'] },
    ],
    [
      '--profile goes before a variable',
      { TALLY_DATABASE: 'env.db' },
      '--profile box',
      { profile: ['box', '--profile'] },
    ],
    [
      'a variable goes before the profile in use',
      { TALLY_DATABASE: 'env.db' },
      '',
      { database: ['env.db', 'TALLY_DATABASE'] },
    ],
    [
      'an address goes before the profile in use',
      address,
      '',
      { baseUrl: ['https://env.example.com', 'TALLY_BASE_URL'], environment: ['production', 'default'] },
    ],
    [
      'an address has no slash at its end, and of https is production on this machine too',
      { ...address, TALLY_BASE_URL: 'https://localhost/billing//' },
      '',
      { baseUrl: ['https://localhost/billing', 'TALLY_BASE_URL'], environment: ['production', 'default'] },
    ],
    [
      'the profile in use goes before the default',
      {},
      '',
      { profile: ['box', 'tally profile use'], key: ['tally_live_…ffee', expect.stringContaining('credentials.json')] },
    ],
    [
      'a key in the environment, even with the line end of the file it came from, goes before the stored one',
      { TALLY_API_KEY: `${otherKey}\r\n` },
      '',
      { key: ['tally_live_…cade', 'TALLY_API_KEY'] },
    ],
    [
      '--org goes before TALLY_ORG',
      { TALLY_ORG: 'eu', TALLY_DATABASE: 'x.db' },
      '--org us',
      { organization: ['us', '--org'] },
    ],
    [
      'an empty variable is none',
      { TALLY_DATABASE: '', TALLY_PROFILE: '' },
      '',
      { profile: ['box', 'tally profile use'] },
    ],
  ])('%s', async (_rule, env, flags, expected) => {
    expect(await shown(await withProfile({ env }), flags)).toMatchObject(expected);
  });

  test('with nothing said it is a database in the data directory', async () => {
    const shell = createShell();
    expect(await shown(shell)).toMatchObject({ database: [join(shell.home, 'data', 'tallybook.db'), 'default'] });
  });

  test.each<[Record<string, string>, string, string]>([
    [{ TALLY_DATABASE: 'a', TALLY_PROFILE: 'b' }, '', 'TALLY_PROFILE and TALLY_DATABASE both say'],
    [{ TALLY_API_KEY: otherKey }, '', 'nothing says which service the key is for'],
    [{ ...address, TALLY_ENVIRONMENT: 'live' }, '', 'TALLY_ENVIRONMENT must be production or sandbox'],
    [{ ...address, TALLY_ENVIRONMENT: 'embedded' }, '', 'TALLY_ENVIRONMENT must be production or sandbox'],
    [address, '--org eu', '--org is for databases'],
  ])('%j with "%s" is refused', async (env, flags, words) => {
    const shell = createShell({ env });
    const { code, stderr } = await shell.run(`customers list ${flags}`);
    expect([code, shell.targets]).toEqual([2, []]);
    expect(stderr).toContain(words);
  });

  test('an address without a key is not authenticated', async () => {
    expect((await createShell({ env: { TALLY_BASE_URL: 'https://a.example' } }).run('customers list')).code).toBe(3);
  });
});
