/** SEC-23: a file is written only where the person named it, anew, for its owner alone, and never through a link. */

import { chmodSync, existsSync, lstatSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { checkOutputFile, writeOutputFile } from '../../src/cli/files/output-file.ts';
import { newDirectory } from '../support/temporary-files.ts';
import { saved, stage, useStage } from '../support/use-stage.ts';

useStage('embedded');
let events: string;
let scenario: string;
let previous: number;
beforeAll(async () => {
  events = saved('events.csv', 'timestamp,tokens\nnever,3\n');
  scenario = saved(
    'scenario.yaml',
    'start: 2026-03-01\nuntil: 2026-03-02\ncustomers: [{ id: acme, name: Acme Inc }]\n',
  );
  previous = process.umask(0);
});
afterAll(() => void process.umask(previous));

const importing = ['import', 'events', '--event-name', 'e', '--customer', 'c', '--timestamp', 'timestamp', '--yes'];

/** Every command that writes a file that the person names. */
const writers: readonly [string, (path: string) => readonly string[]][] = [
  ['catalog export --file', (path) => ['catalog', 'export', '--file', path]],
  ['import events --refused', (path) => [...importing, events, '--refused', path]],
  ['customers create --result', (path) => ['customers', 'create', '--from', '-', '--yes', '--result', path]],
  ['simulate run --junit', (path) => ['simulate', 'run', scenario, '--junit', path]],
  ['backup', (path) => ['backup', path]],
];

const place = () => join(newDirectory(), 'file');
const rows = (id: string) =>
  `name,externalCustomerId,contact.name,contact.email,contact.roles\nA,${id},Ada,ada@example.com,primary\n`;

describe.skipIf(process.platform === 'win32').each(writers)('%s', (_name, wordsFor) => {
  const write = async (path: string) => await stage.tally(wordsFor(path), { input: rows(path) });

  test('makes a file that only its owner may read, under umask 0', async () => {
    const path = place();
    await write(path);
    expect((statSync(path).mode & 0o777).toString(8)).toBe('600');
  });

  test('takes a dash for no file', async () => {
    expect(await write('-')).toMatchObject({ exitCode: 2, stdout: '' });
    expect(existsSync('-')).toBe(false);
  });

  test('leaves a file of somebody else’s work as it is', async () => {
    const path = place();
    writeFileSync(path, 'work');
    expect((await write(path)).exitCode).not.toBe(0);
    expect(readFileSync(path, 'utf8')).toBe('work');
  });

  test.each(['an existing', 'a missing'])('does not go through a link to %s file', async (kind) => {
    const [path, other] = [place(), place()];
    if (kind === 'an existing') writeFileSync(other, 'work');
    symlinkSync(other, path);
    // Refused in words, and not by accident.
    expect([0, 1]).not.toContain((await write(path)).exitCode);
    expect(existsSync(other) ? readFileSync(other, 'utf8') : undefined).toBe(
      kind === 'an existing' ? 'work' : undefined,
    );
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
  });
});

describe('a database is never replaced, even where force is given', () => {
  const forced = (path: string) => ['catalog', 'export', '--force', '--file', path];

  test.each(['', '-wal', '-shm', '-journal'])('nor the file that is called like it with %j', async (end) => {
    const database = place();
    await stage.tally(['customers', 'list', '--database', database]);
    const path = `${database}${end}`;
    const before = existsSync(path) ? readFileSync(path) : undefined;
    for (const more of [['--dry-run'], []]) {
      const { exitCode, stdout, stderr } = await stage.tally([...forced(path), '--database', database, ...more]);
      expect([exitCode, stdout]).toEqual([2, '']);
      expect(stderr).toContain(`${path} belongs to a database, which is never replaced: nothing was written`);
    }
    expect(existsSync(path) ? readFileSync(path) : undefined).toEqual(before);
  });

  test('by a page, as little', async () => {
    const database = place();
    await stage.tally(['customers', 'list', '--database', database]);
    expect(() => writeOutputFile(database, 'page', { isForced: true })).toThrow('belongs to a database');
  });
});

describe('a file that may not be replaced', () => {
  test('is made or left as it is', () => {
    const path = place();
    writeOutputFile(path, 'work');
    expect(() => writeOutputFile(path, 'other')).toThrow(expect.objectContaining({ kind: 'refused' }));
    expect(readFileSync(path, 'utf8')).toBe('work');
  });

  test('is looked for before the work whose outcome is to stand there', () => {
    const [path, link] = [place(), place()];
    expect(() => checkOutputFile(path)).not.toThrow();
    expect(existsSync(path)).toBe(false);
    writeFileSync(path, 'work');
    symlinkSync(path, link);
    expect(() => checkOutputFile(path)).toThrow('already exists: nothing was written');
    expect(() => checkOutputFile(path, { isForced: true })).not.toThrow();
    for (const isForced of [false, true]) expect(() => checkOutputFile(link, { isForced })).toThrow('it is a link');
    expect(() => checkOutputFile(tmpdir(), { isForced: true })).toThrow('it is a directory');
    expect(readFileSync(path, 'utf8')).toBe('work');
  });
});

describe.skipIf(process.platform === 'win32')('a file that may be replaced', () => {
  test('becomes its owner’s alone', () => {
    const path = place();
    writeFileSync(path, 'older and longer');
    chmodSync(path, 0o666);
    writeOutputFile(path, 'new', { isForced: true });
    expect([readFileSync(path, 'utf8'), (statSync(path).mode & 0o777).toString(8)]).toEqual(['new', '600']);
  });

  test('is not looked for behind a link', () => {
    const [path, other] = [place(), place()];
    writeFileSync(other, 'work');
    symlinkSync(other, path);
    expect(() => writeOutputFile(path, 'new', { isForced: true })).toThrow('it is a link');
    expect(readFileSync(other, 'utf8')).toBe('work');
  });

  test.each([
    ['a directory', tmpdir(), 'it is a directory'],
    ['no directory', join(tmpdir(), 'none-of-it', 'file'), 'the directory does not exist'],
  ])('%s is named', (_name, path, words) => {
    expect(() => writeOutputFile(path, '', { isForced: true })).toThrow(`cannot write ${path}: ${words}`);
  });

  test.skipIf(process.platform === 'win32')('a file in the place of its directory is named', () => {
    const path = join(process.execPath, 'file');
    expect(() => writeOutputFile(path, '')).toThrow(
      `cannot write ${path}: a part of the path is a file, not a directory`,
    );
  });

  test.runIf(existsSync('/dev/null'))('a device keeps its mode, also for root', () => {
    const { mode } = statSync('/dev/null');
    try {
      writeOutputFile('/dev/null', 'text', { isForced: true });
      expect(statSync('/dev/null').mode).toBe(mode);
    } finally {
      if (statSync('/dev/null').mode !== mode) chmodSync('/dev/null', mode);
    }
  });

  test.runIf(existsSync('/dev/full'))('a full disk is no fault of the command line', () => {
    expect(() => writeOutputFile('/dev/full', 'text', { isForced: true })).toThrow(
      expect.objectContaining({ kind: 'unavailable', message: 'cannot write /dev/full: the disk is full' }),
    );
  });
});
