/** `tally copy`: where a book goes, by URL or by the name of a profile. */

import { existsSync, linkSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';

import { beforeEach, expect, test } from 'vitest';

import { openStage, stage } from '../../support/use-stage.ts';

beforeEach(async () => {
  await openStage('embedded');
  await stage.tally([
    'customers',
    'create',
    '--name',
    'Acme',
    '--contact',
    'name=Ada,email=ada@acme.example,roles=primary',
  ]);
});

const placeOf = (name: string): string => join(stage.directory, name);

test('a book goes to the database of a profile, and no word of the command names it', async () => {
  await stage.tally(['profile', 'add', 'new', '--environment', 'embedded', '--database', placeOf('new.db')]);
  const { exitCode, stderr } = await stage.tally(['copy', '--to-profile', 'new']);
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('is the same book') });
  const { stdout } = await stage.tally(['customers', 'list', '--json', 'name', '--database', placeOf('new.db')]);
  expect(JSON.parse(stdout)).toEqual([{ name: 'Acme' }]);
});

test('a dry run says that nothing was copied', async () => {
  const { exitCode, stderr } = await stage.tally(['copy', '--to', placeOf('new.db'), '--dry-run']);
  expect([exitCode, existsSync(placeOf('new.db'))]).toEqual([0, false]);
  expect(stderr).toMatch(/\ndry run: nothing was copied, and the target was not looked at\n$/);
});

test.each([
  [['--to', 'other.db'], '--to-profile already says where the book and its events go'],
  [
    ['--to-events', 'clickhouse://events.example/billing'],
    '--to-profile already says where the book and its events go',
  ],
])('a profile and %j are two places, and neither is taken', async (words, message) => {
  await stage.tally(['profile', 'add', 'new', '--environment', 'embedded', '--database', placeOf('new.db')]);
  const { exitCode, stderr } = await stage.tally(['copy', '--to-profile', 'new', ...words]);
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(message) });
  expect(existsSync(placeOf('new.db'))).toBe(false);
});

test('a profile without a database of its own, and one that is not there, are refused', async () => {
  await stage.tally(['profile', 'add', 'bare', '--environment', 'embedded']);
  const bare = await stage.tally(['copy', '--to-profile', 'bare']);
  expect(bare).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('names no database to copy to'),
  });
  const missing = await stage.tally(['copy', '--to-profile', 'nobody']);
  expect(missing.exitCode).not.toBe(0);
  expect(missing.stderr).toContain('nobody');
});

test.each([':memory:', 'sqlite::memory:', 'file::memory:'])(
  'no book is copied to %s, where it would be lost',
  async (to) => {
    const { exitCode, stdout, stderr } = await stage.tally(['copy', '--to', to]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toBe(
      'tally: a database in memory would be gone as soon as the command ends\n  hint: copy it with: --to PATH\n',
    );
  },
);

test.each([
  ['its path from here', (file: string) => relative('.', file)],
  ['its URL', (file: string) => pathToFileURL(file).href],
  [
    'a link',
    (file: string) => {
      symlinkSync(file, placeOf('link.db'));
      return placeOf('link.db');
    },
  ],
  [
    'a second name',
    (file: string) => {
      linkSync(file, placeOf('second.db'));
      return placeOf('second.db');
    },
  ],
])('a book is not copied onto itself by %s', async (_name, otherName) => {
  const { exitCode, stdout, stderr } = await stage.tally(['copy', '--to', otherName(placeOf('stage.db'))]);
  expect([exitCode, stdout]).toEqual([2, '']);
  expect(stderr).toContain('the database to copy to is the one to copy from');
});

test('without a place to go to nothing happens', async () => {
  const { exitCode, stderr } = await stage.tally(['copy']);
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('missing --to') });
});
