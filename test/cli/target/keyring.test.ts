/**
 * Keys in the keyring of the system. What asks the keyring is stood in for by a program of the tests, since a machine that
 * builds has no keyring; the library behind the real one meets a bus without one. Both together were tried by hand, on
 * gnome-keyring 42.
 */

import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, test } from 'vitest';

import { askingArguments, createKeyring } from '../../../src/cli/target/keyring.ts';
import type { Keyring } from '../../../src/cli/target/profiles.ts';
import { createShell } from '../shell.ts';
import { newDirectory } from '../../support/temporary-files.ts';

const standIn = fileURLToPath(new URL('../../support/stand-in-keyring.cjs', import.meta.url));
const key = `tally_live_${'c0ffee'.repeat(8)}`;
const otherKey = `tally_live_${'decade'.repeat(8)}`;
const add = 'profile add box --environment sandbox --base-url https://box.example.com --no-check --key-stdin';
const env = { PATH: '/usr/bin', HOME: '/home/ada', TALLY_API_KEY: key, AWS_SECRET: 'x', NODE_OPTIONS: '--no-warnings' };

type Mode = 'keeps' | 'hangs' | 'breaks' | 'babbles' | 'refuses';

function standInKeyring(mode: Mode, timeoutMilliseconds = 10_000) {
  const home = newDirectory();
  const [store, log] = [join(home, 'store.json'), join(home, 'log')];
  const keyring = createKeyring({ command: [process.execPath, standIn, mode, store, log], env, timeoutMilliseconds });
  const entries = (): Record<string, string> => (existsSync(store) ? JSON.parse(readFileSync(store, 'utf8')) : {});
  const asked = () =>
    (existsSync(log) ? readFileSync(log, 'utf8') : '')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { pid: number; argv: string[]; env: Record<string, string> });
  return { keyring, entries, asked };
}

function shellWith(keyring: Keyring, variables: Record<string, string> = {}) {
  return createShell({ env: variables, dependencies: { openKeyring: () => Promise.resolve(keyring) } });
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function keySource(shell: ReturnType<typeof createShell>): Promise<unknown> {
  const { stdout } = await shell.run('profile show box -o json');
  return (JSON.parse(stdout).data as { setting: string; source: string }[]).find(({ setting }) => setting === 'key');
}

describe('a key in the keyring', () => {
  test('stands in no file, is used for requests, and shows where it lies', async () => {
    const { keyring, entries } = standInKeyring('keeps');
    const shell = shellWith(keyring);
    const { code, stderr } = await shell.run(`${add} --keyring`, { input: key });
    expect([code, stderr.split('\n').length]).toEqual([0, 2]);
    const [account = ''] = Object.keys(entries());
    expect(entries()).toEqual({ [account]: key });
    expect(account).toMatch(/^box [0-9a-f-]{36}$/);
    expect(readFileSync(join(shell.home, 'config', 'credentials.json'), 'utf8')).not.toContain('c0ffee');
    await shell.run('customers list --profile box');
    expect(shell.targets.at(-1)).toMatchObject({ key, baseUrl: 'https://box.example.com' });
    expect(await keySource(shell)).toEqual({
      setting: 'key',
      value: 'tally_live_…ffee',
      source: `keyring: tallybook, ${account}`,
    });
  });

  test('is not asked for by who wants candidates for an id, of which a service elsewhere gives none', async () => {
    const { keyring, asked } = standInKeyring('keeps');
    const shell = shellWith(keyring);
    await shell.run(`${add} --keyring`, { input: key });
    const before = asked().length;
    const outcome = await shell.run('__complete 1 customers get --profile box');
    expect(outcome).toMatchObject({ code: 0, stdout: '', stderr: '' });
    expect([before > 0, asked().length - before]).toEqual([true, 0]);
  });

  test('goes with its profile, and when another takes its place', async () => {
    const { keyring, entries } = standInKeyring('keeps');
    const shell = shellWith(keyring);
    await shell.run(`${add} --keyring`, { input: key });
    await shell.run(`${add} --keyring`, { input: otherKey });
    expect(Object.values(entries())).toEqual([otherKey]);
    await shell.run(add, { input: key });
    expect(entries()).toEqual({});
    await shell.run(`${add} --keyring`, { input: key });
    expect((await shell.run('profile remove box')).code).toBe(0);
    expect(entries()).toEqual({});
  });

  test('is not left there where its profile cannot be written', async () => {
    const { keyring, entries } = standInKeyring('keeps');
    const shell = shellWith(keyring);
    mkdirSync(join(shell.home, 'config'), { mode: 0o755 });
    const { code, stderr } = await shell.run(`${add} --keyring`, { input: key });
    expect([code, stderr]).toEqual([2, expect.stringContaining('is open to other users of this machine')]);
    expect(entries()).toEqual({});
  });

  test('comes after the one in the environment', async () => {
    const { keyring } = standInKeyring('keeps');
    const shell = shellWith(keyring, { TALLY_API_KEY: otherKey });
    await shell.run(`${add} --keyring`, { input: key });
    expect(await keySource(shell)).toMatchObject({ value: 'tally_live_…cade', source: 'TALLY_API_KEY' });
  });

  test('that somebody took out of it is not there', async () => {
    const shell = shellWith({ ...standInKeyring('keeps').keyring, read: () => Promise.resolve(undefined) });
    await shell.run(`${add} --keyring`, { input: key });
    const { code, stderr } = await shell.run('customers list --profile box');
    expect([code, shell.calls.length]).toEqual([3, 0]);
    expect(stderr).toContain('profile "box" has no key');
  });
});

describe('a keyring that does not answer', () => {
  test.each<[Mode, string]>([
    ['hangs', 'no answer within 1.5 seconds; it may have to be unlocked'],
    ['breaks', 'the program that asks it crashed'],
    ['babbles', 'the program that asks it crashed'],
    ['refuses', 'the collection is locked'],
  ])('and %s leaves the key in a file, and says so in one line', async (mode, words) => {
    const { keyring, asked } = standInKeyring(mode, mode === 'hangs' ? 1_500 : 10_000);
    const shell = shellWith(keyring);
    const { code, stderr } = await shell.run(`${add} --keyring --quiet`, { input: key });
    const path = join(shell.home, 'config', 'credentials.json');
    expect(code).toBe(0);
    expect(stderr).toBe(
      `the keyring of this system is not available: ${words}; the key is in ${path}, which only you can read\n`,
    );
    expect(readFileSync(path, 'utf8')).toContain(key);
    expect((statSync(path).mode & 0o077) === 0 || process.platform === 'win32').toBe(true);
    for (const { pid } of mode === 'hangs' ? asked() : []) await expect.poll(() => isRunning(pid)).toBe(false);
  });

  test('is told where the key lies in it, and what to do', async () => {
    const kept = standInKeyring('keeps').keyring;
    const shell = shellWith({
      ...standInKeyring('refuses').keyring,
      write: async (...entry) => await kept.write(...entry),
    });
    await shell.run(`${add} --keyring`, { input: key });
    const { code, stderr } = await shell.run('customers list --profile box');
    expect([code, shell.calls.length]).toEqual([9, 0]);
    expect(stderr).toContain('not available: the collection is locked');
    expect(stderr).toContain('unlock it and repeat the command, or set TALLY_API_KEY');
  });

  test('does not keep a profile from being removed', async () => {
    const kept = standInKeyring('keeps').keyring;
    const shell = shellWith({
      ...standInKeyring('refuses').keyring,
      write: async (...entry) => await kept.write(...entry),
    });
    await shell.run(`${add} --keyring`, { input: key });
    const { code, stderr } = await shell.run('profile remove box');
    expect(code).toBe(0);
    expect(stderr).toContain('its key is still in the keyring: tallybook, box ');
    expect((await shell.run('profile list')).stdout).toBe('');
  });

  test.each([
    [undefined, 'this installation has no access to it'],
    [['/nowhere/at/all'], 'the program that asks it cannot be started'],
  ])('because of the program %j is named', async (command, words) => {
    await expect(createKeyring({ command, env }).read('a')).rejects.toThrow(words);
  });

  test('because the library is not there is named', async () => {
    const command = [process.execPath, ...askingArguments('/nowhere/keyring.js')];
    await expect(createKeyring({ command, env }).read('a')).rejects.toThrow("Cannot find module '/nowhere/keyring.js'");
  });
});

describe.runIf(process.platform === 'linux')('the library of this system, on a bus without a keyring', () => {
  const library = createRequire(import.meta.url).resolve('@napi-rs/keyring');

  async function busThat(
    behaves: (socket: Socket) => void,
    timeoutMilliseconds = 10_000,
  ): Promise<{ keyring: Keyring; close: () => void }> {
    const path = join(newDirectory(), 'bus');
    const sockets: Socket[] = [];
    const bus = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
      behaves(socket);
    }).listen(path);
    await once(bus, 'listening');
    const command = [process.execPath, ...askingArguments(library)];
    const bussed = { DBUS_SESSION_BUS_ADDRESS: `unix:path=${path}` };
    const close = () => {
      for (const socket of sockets) socket.destroy();
      bus.close();
    };
    return { keyring: createKeyring({ command, env: bussed, timeoutMilliseconds }), close };
  }

  test('is not waited for where nobody answers', async () => {
    const { keyring, close } = await busThat(() => undefined, 1_000);
    await expect(keyring.write('box', key)).rejects.toThrow('no answer within 1 seconds');
    close();
  });

  test('says so where the bus hangs up', async () => {
    const { keyring, close } = await busThat((socket) => socket.destroy());
    await expect(keyring.read('box')).rejects.toThrow(/^the keyring of this system is not available: (?!no answer)/);
    close();
  });
});

test('the program that asks gets no key in its arguments, and of the environment only what a keyring needs', async () => {
  const { keyring, asked } = standInKeyring('keeps');
  await keyring.write('box', otherKey);
  expect(await keyring.read('box')).toBe(otherKey);
  expect(asked()).toHaveLength(2);
  for (const { argv, env: seen } of asked()) {
    expect(seen).toEqual({ HOME: '/home/ada' });
    expect(argv.join(' ')).not.toContain('decade');
  }
});
