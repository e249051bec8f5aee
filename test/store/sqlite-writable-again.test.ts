import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

import { expect, onTestFinished, test, vi } from 'vitest';

import { openConnection } from '../../src/store/backends/sqlite/connection.ts';
import { at } from './rows.ts';
import { file, fill, open, useTestFile } from './test-file.ts';

useTestFile();

/** Has the system say, until the returned function is called, that the disk can only be read. */
function makeDiskReadOnly(): () => void {
  vi.spyOn(fs, 'accessSync').mockImplementation(() => {
    throw Object.assign(new Error('EROFS: read-only file system'), { code: 'EROFS' });
  });
  syncBuiltinESMExports();
  const undo = () => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  };
  onTestFinished(undo);
  return undo;
}

test('a disk that comes back read-only after a failure takes changes once it can be written again', async () => {
  await fill();
  const connection = await openConnection(file, {});
  onTestFinished(() => connection.close());
  const write = async () => {
    await connection.begin('write');
    connection.commit();
  };
  await write();
  const makeWritable = makeDiskReadOnly();
  connection.noteFailure(Object.assign(new Error('disk I/O error'), { errcode: 778 }));
  for (let time = 0; time < 2; time += 1) await expect(write()).rejects.toThrow('is read-only; nothing was changed');
  makeWritable();
  await write();
  expect([connection.isReadOnly, connection.handleCount]).toEqual([false, 3]);
});

test('where it cannot be opened yet, it is as soon as it can', async () => {
  await fill();
  const connection = await openConnection(file, {});
  onTestFinished(() => connection.close());
  const makeWritable = makeDiskReadOnly();
  connection.noteFailure(Object.assign(new Error('disk I/O error'), { errcode: 778 }));
  await expect(connection.begin('write')).rejects.toThrow('is read-only');
  makeWritable();
  const whole = fs.readFileSync(file);
  fs.writeFileSync(file, 'x'.repeat(whole.length));
  await expect(connection.begin('write')).rejects.toThrow('file is not a database');
  fs.writeFileSync(file, whole);
  await connection.begin('read');
  connection.rollback();
});

test('what such a disk takes is noted beside the file, although the first change was refused', async () => {
  await fill();
  const store = await open();
  const makeWritable = makeDiskReadOnly();
  const failing = async () => await Promise.reject(Object.assign(new Error('disk I/O error'), { errcode: 778 }));
  await expect(store.read(failing)).rejects.toThrow('the disk failed');
  await store.read(async () => {});
  expect(store.isReadOnly).toBe(true);
  await expect(store.write(async () => {})).rejects.toThrow('is read-only');
  makeWritable();
  await store.write(async () => {});
  store.noteNewest?.(at);
  expect(fs.readFileSync(`${file}-newest`, 'utf8')).toContain(at);
});

test('a file that was opened for reading alone stays so', async () => {
  await fill();
  const connection = await openConnection(file, { readOnly: true });
  onTestFinished(() => connection.close());
  await expect(connection.begin('write')).rejects.toThrow('is read-only; nothing was changed');
  expect(connection.handleCount).toBe(1);
});
