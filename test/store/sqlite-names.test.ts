/** The log of a database and its index, when somebody takes them for what an earlier process left behind. */

import { execFileSync } from 'node:child_process';
import { rename, rm } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';

import { refusal } from '../support/refusal.ts';
import { addCustomer, customers, file, fill, open, openFilled, useTestFile } from './test-file.ts';

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
