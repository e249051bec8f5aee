/** The log of a database and its index, when somebody takes them for what an earlier process left behind. */

import { execFileSync } from 'node:child_process';
import { chmod, copyFile, rename, rm, symlink } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';

import { refusal } from '../support/refusal.ts';
import {
  addCustomer,
  asOrdinaryUser,
  customers,
  directory,
  file,
  fill,
  open,
  openFilled,
  useTestFile,
} from './test-file.ts';

useTestFile();

/** What another process finds: the stores of this one share what they know of a file. */
function elsewhere(sql: string): unknown[] {
  const program = `const { DatabaseSync } = require('node:sqlite');
    const database = new DatabaseSync(process.argv[1]);
    process.stdout.write(JSON.stringify(database.prepare(process.argv[2]).all()));
    database.close();`;
  return JSON.parse(execFileSync(process.execPath, ['-e', program, file, sql], { encoding: 'utf8' })) as unknown[];
}

describe.skipIf(process.platform === 'win32')('a file that is in use', () => {
  test.each([
    ['log', '-wal'],
    ['index of the log', '-shm'],
  ])('is not written any more once the %s is removed, and what was written before stays', async (_, name) => {
    const store = await openFilled();
    await addCustomer(store, 'before');
    await rm(`${file}${name}`);
    expect(await refusal(addCustomer(store, 'lost'))).toMatchObject({
      kind: 'unavailable',
      message: `the log of the database ${file} (-wal, -shm) was removed or replaced while it was in use; nothing was changed`,
    });
    expect(await customers(store)).toBe(4);
    await store.close();
    expect(await customers(await open())).toBe(4);
  });

  test.each(['-wal', '-shm'])('and was only read so far is not written once its %s is removed', async (name) => {
    await fill();
    const store = await open();
    expect(await customers(store)).toBe(3);
    await rm(`${file}${name}`);
    expect((await refusal(addCustomer(store, 'lost'))).message).toContain(
      'was removed or replaced while it was in use',
    );
    await store.close();
    expect(await customers(await open())).toBe(3);
  });

  test('and was opened by a link has its log beside what the link leads to', async () => {
    await fill();
    const link = `${file}.link`;
    await symlink(file, link);
    const store = await open(link);
    await addCustomer(store, 'before');
    await chmod(`${file}-wal`, 0o644);
    const { exposedFiles } = await store.inspect({ isFull: false });
    expect(exposedFiles).toEqual([`${file}-wal`]);
    await rm(`${file}-wal`);
    expect((await refusal(addCustomer(store, 'lost'))).message).toContain(
      `the log of the database ${link} (-wal, -shm)`,
    );
  });

  test('and whose directory was closed to its user is unavailable for writing, and is closed in order', async () => {
    await chmod(directory, 0o777);
    const store = await asOrdinaryUser(() => openFilled());
    // The directory is the superuser's, if the tests are.
    await chmod(directory, 0o600);
    expect(await refusal(asOrdinaryUser(() => addCustomer(store, 'c')))).toMatchObject({
      kind: 'unavailable',
      message: `${file} cannot be looked up: permission denied`,
    });
    await asOrdinaryUser(() => store.close());
    await chmod(directory, 0o755);
    expect(elsewhere('SELECT count(*) AS "count" FROM "customers"')).toEqual([{ count: 3 }]);
  });

  test('and was left by a killed process is not read without its log, by a link neither', async () => {
    const store = await openFilled();
    await addCustomer(store, 'in the log alone');
    const [left, link] = [`${file}.left`, `${file}.link`];
    for (const end of ['', '-wal']) await copyFile(file + end, left + end);
    for (const end of ['', '-wal']) await chmod(left + end, 0o444);
    await symlink(left, link);
    await chmod(directory, 0o555);
    for (const path of [left, link]) {
      const opening = asOrdinaryUser(() => open(path, { readOnly: true }));
      expect((await refusal(opening)).message).toContain(`the database ${path} cannot be opened`);
    }
  });

  test.each([
    ['it was put back beside its log', async () => await rename(`${file}.moved`, file), () => file],
    ['its log was moved after it', async () => await rename(`${file}-wal`, `${file}.moved-wal`), () => `${file}.moved`],
  ])('and was moved has all that was written once %s', async (_how, mend, place) => {
    const store = await openFilled();
    await addCustomer(store, 'before');
    await rename(file, `${file}.moved`);
    const { hint } = await refusal(addCustomer(store, 'lost'));
    expect(hint).toContain('put the file back beside its log (-wal), or move the log after it');
    await store.close();
    await mend();
    expect(await customers(await open(place()))).toBe(4);
  });

  test('loses nothing that others wrote after the index of its log was removed', async () => {
    const store = await openFilled();
    await addCustomer(store, 'before');
    await rm(`${file}-shm`);
    elsewhere(`UPDATE "customers" SET "name" = 'by another process' WHERE "id" = 'before'`);
    await refusal(addCustomer(store, 'lost'));
    await store.close();
    expect(elsewhere(`SELECT "name" FROM "customers" WHERE "id" = 'before'`)).toEqual([{ name: 'by another process' }]);
  });
});
