import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import type { Readable } from 'node:stream';

import { describe, expect, onTestFinished, test } from 'vitest';

import { descriptorEnd, streamEnd } from '../../../src/cli/terminal/output-end.ts';
import { limits } from '../../../src/limits.ts';
import { canFillDisk, limitFiles, spawnLimited } from '../../support/full-disk.ts';
import { launcher } from '../../support/program.ts';
import { newDirectory } from '../../support/temporary-files.ts';

const directory = newDirectory();

function neverOpened(): never {
  throw new Error('a stream was opened');
}

test('a file is written to in order, without a stream, and is no terminal', () => {
  const path = join(directory, 'file');
  const descriptor = openSync(path, 'w');
  const end = descriptorEnd(descriptor, neverOpened);
  end.write('é one\n');
  end.write('two\n');
  expect(end).toMatchObject({ isTTY: false, columns: undefined });
  closeSync(descriptor);
  expect(readFileSync(path, 'utf8')).toBe('é one\ntwo\n');
});

test('a device is asked by its stream whether it is a terminal, and written to by it', () => {
  const descriptor = openSync(process.platform === 'win32' ? '\\\\.\\nul' : '/dev/zero', 'w');
  const stream = Object.assign(new PassThrough(), { isTTY: true, columns: 70 });
  const end = descriptorEnd(descriptor, () => stream);
  expect(end).toMatchObject({ isTTY: true, columns: 70 });
  end.write('text\n');
  expect(String(stream.read())).toBe('text\n');
  closeSync(descriptor);
});

test.runIf(existsSync('/dev/null'))('what is thrown away needs no stream', () => {
  const descriptor = openSync('/dev/null', 'w');
  const end = descriptorEnd(descriptor, neverOpened);
  end.write('text\n');
  expect(end).toMatchObject({ isTTY: false, columns: undefined });
  closeSync(descriptor);
});

test('what cannot be written is said, for what the command did is done', () => {
  const path = join(directory, 'file');
  const descriptor = openSync(path, 'r');
  expect(() => descriptorEnd(descriptor, neverOpened).write('text\n')).toThrow('the output cannot be written: EBADF');
  closeSync(descriptor);
});

test.runIf(existsSync('/dev/full'))('a full disk is called that', () => {
  const full = openSync('/dev/full', 'w');
  const { status, stderr } = spawnSync(process.execPath, [launcher, 'commands'], {
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  });
  closeSync(full);
  expect([status, stderr]).toEqual([
    1,
    'tally: the output cannot be written: the disk is full\n' +
      '  hint: if the command changes something, that was done: check before repeating it\n',
  ]);
});

test.runIf(canFillDisk)(
  'a service whose log cannot be written goes on, and so does its log (skipped without prlimit)',
  async () => {
    const log = join(directory, 'log');
    const descriptor = openSync(log, 'a');
    const child = spawnLimited(['serve', '--port', '0', '--bill-every', '0', '--log-requests'], {
      env: { PATH: process.env['PATH'] ?? '', TALLY_CONFIG_DIR: directory, TALLY_DATA_DIR: directory },
      stdio: ['ignore', 'pipe', descriptor],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    closeSync(descriptor);
    const [line] = (await once(child.stdout as Readable, 'data')) as [Buffer];
    const url = `${/listening on (\S+)/.exec(line.toString())?.[1]}/healthz`;
    const ask = async (): Promise<number> => (await fetch(url)).status;
    const lines = (): number => readFileSync(log, 'utf8').split('\n').length - 1;
    expect(await ask()).toBe(200);
    await expect.poll(lines).toBe(1);
    limitFiles(child, statSync(log).size);
    expect([await ask(), await ask()]).toEqual([200, 200]);
    limitFiles(child, 'unlimited');
    expect(await ask()).toBe(200);
    await expect.poll(lines).toBe(2);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  },
);

describe.runIf(process.platform !== 'win32')('a pipe', () => {
  function openPipe(name: string) {
    const path = join(directory, name);
    execFileSync('mkfifo', [path]);
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return { path, reader, writer: openSync(path, constants.O_WRONLY | constants.O_NONBLOCK) };
  }

  test('that nobody reads holds up no service which logs to it, and does not keep it from ending', async () => {
    const { path, reader, writer } = openPipe('unread');
    const log = openSync(path, 'w');
    const child = spawn(process.execPath, [launcher, 'serve', '--port', '0', '--rate-limit', '0', '--log-requests'], {
      env: { PATH: process.env['PATH'] ?? '', TALLY_CONFIG_DIR: directory, TALLY_DATA_DIR: directory },
      stdio: ['ignore', 'pipe', log],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    closeSync(log);
    const [line] = (await once(child.stdout as Readable, 'data')) as [Buffer];
    const url = `${/listening on (\S+)/.exec(line.toString())?.[1]}/nowhere`;
    // More than the pipe holds.
    for (let count = 0; count < 600; count += 1) await (await fetch(url)).text();
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    const logged = Buffer.alloc(32_768);
    const lines = logged.toString('utf8', 0, readSync(reader, logged)).split('\n').slice(0, -1);
    // As texts, they stand in the order of time.
    for (const each of lines) expect(each).toMatch(/^\{"at":"[-\d]{10}T[:\d]{8}\.\d{3}Z",/);
    closeSync(reader);
    closeSync(writer);
  });

  test('that takes no more for now gets the rest by its stream, and later texts behind it', () => {
    const { reader, writer } = openPipe('full');
    const rest: Buffer[] = [];
    const stream = new Writable({
      write(chunk: Buffer, _encoding, done) {
        rest.push(chunk);
        done();
      },
    });
    const end = descriptorEnd(writer, () => stream);
    const text = Array.from({ length: 40_000 }, (_, index) => `line ${index}\n`).join('');
    end.write(text);
    end.write('last\n');
    const bytes = Buffer.alloc(text.length);
    const taken = readSync(reader, bytes);
    expect(taken).toBeLessThan(text.length);
    expect(bytes.toString('utf8', 0, taken) + String(Buffer.concat(rest))).toBe(`${text}last\n`);
    closeSync(reader);
    closeSync(writer);
  });

  test('whose reader went away is no failure, and known to have none', () => {
    const { reader, writer } = openPipe('closed');
    closeSync(reader);
    const end = descriptorEnd(writer, neverOpened);
    expect(end.hasReader).toBe(true);
    expect(() => end.write('text\n')).not.toThrow();
    expect(end.hasReader).toBe(false);
    closeSync(writer);
  });

  test('is known to have no reader by what its stream finds, too', () => {
    const { reader, writer } = openPipe('with a stream');
    const stream = new PassThrough();
    const end = descriptorEnd(writer, () => stream);
    expect([end.stream() === stream, end.hasReader]).toEqual([true, true]);
    stream.emit('error', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    expect(end.hasReader).toBe(false);
    for (const descriptor of [reader, writer]) closeSync(descriptor);
  });
});

test('of a log that nobody reads some is kept, and the rest dropped; everything else is kept', () => {
  const stream = Object.assign(new Writable({ write: () => undefined }), { isTTY: false });
  const end = streamEnd(stream);
  const mebibyte = 'x'.repeat(1024 * 1024);
  for (let count = 0; count < 20; count += 1) end.log(mebibyte);
  expect([end.hasLog, stream.writableLength]).toEqual([true, limits.unreadLogBytes]);
  end.write(mebibyte);
  expect(stream.writableLength).toBe(limits.unreadLogBytes + mebibyte.length);
});

test('any other failure to write is one', () => {
  const path = join(directory, 'read-only');
  closeSync(openSync(path, 'w'));
  const descriptor = openSync(path, 'r');
  expect(() => descriptorEnd(descriptor, neverOpened).write('text\n')).toThrow('EBADF');
  closeSync(descriptor);
});
