import { chmodSync } from 'node:fs';

import { describe, expect, onTestFinished, test } from 'vitest';

import { BillingError } from '../../src/errors.ts';
import { openConnection } from '../../src/store/backends/sqlite/connection.ts';
import { isBusy, isInputOutputFailure, meaningOf } from '../../src/store/backends/sqlite/errors.ts';
import { ConstraintViolation } from '../../src/store/constraint-violation.ts';
import { refusal } from '../support/refusal.ts';
import { asOrdinaryUser, directory, file, fill, open, useTestFile } from './test-file.ts';

useTestFile();

function sqliteError(errcode: number, message = 'what SQLite says'): Error {
  return Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode });
}

describe('what SQLite answers', () => {
  test.each([
    ['BUSY', 5, 'unavailable', 'locked'],
    ['BUSY_SNAPSHOT', 517, 'unavailable', 'locked'],
    ['READONLY', 8, 'unavailable', 'read-only'],
    ['READONLY_DIRECTORY', 1544, 'unavailable', 'read-only'],
    ['IOERR_WRITE', 778, 'unavailable', 'the disk failed'],
    ['IOERR_FSYNC', 1034, 'unavailable', 'the disk failed'],
    ['IOERR_GETTEMPPATH', 6410, 'unavailable', 'needs a temporary file'],
    ['CORRUPT', 11, 'internal', 'damaged'],
    ['CORRUPT_INDEX', 779, 'internal', 'damaged'],
    ['FULL', 13, 'unavailable', 'no space is left'],
    ['CANTOPEN', 14, 'unavailable', 'cannot be opened'],
    ['PROTOCOL', 15, 'unavailable', 'cannot be locked'],
    ['NOTADB', 26, 'internal', 'not a tallybook database'],
  ])('%s (%i) is %s: the file and what to do next are named', (_, errcode, kind, words) => {
    const error = meaningOf(sqliteError(errcode), '/data/billing.db') as BillingError;
    expect(error).toBeInstanceOf(BillingError);
    expect(error.kind).toBe(kind);
    expect(error.message).toContain(words);
    expect(error.message).toContain('/data/billing.db');
    expect(error.hint).not.toBe(undefined);
  });

  test.each([11, 779, 26])(
    'a file that is no sound database (%i) is restored with the command that is named',
    (errcode) => {
      const { hint } = meaningOf(sqliteError(errcode), '/data/billing.db') as BillingError;
      expect(hint).toContain('restore it from a backup: tally restore FILE --to DATABASE');
    },
  );

  test.each([
    ['UNIQUE', 2067, 'unique'],
    ['PRIMARYKEY', 1555, 'unique'],
    ['FOREIGNKEY', 787, 'reference'],
    ['TRIGGER', 1811, 'appendOnly', 'append-only: a ledger entry cannot be changed or removed'],
    ['TRIGGER', 1811, 'reference', 'reference: a line of an invoice names no grant of its organization'],
    ['CHECK', 275, 'value'],
    ['NOTNULL', 1299, 'value'],
    ['DATATYPE', 3091, 'value'],
  ])('CONSTRAINT_%s (%i) is a violation of the rule "%s"', (_, errcode, rule, message?: string) => {
    const error = meaningOf(sqliteError(errcode, message), '/data/billing.db');
    expect(error).toBeInstanceOf(ConstraintViolation);
    expect((error as ConstraintViolation).rule).toBe(rule);
  });

  test('anything else comes back as it is', () => {
    const ours = new BillingError('conflict', 'the contract has ended');
    expect(meaningOf(ours, 'f')).toBe(ours);
    const misuse = sqliteError(21);
    expect(meaningOf(misuse, 'f')).toBe(misuse);
    expect(meaningOf('text', 'f')).toBe('text');
  });

  test('a machine without a place for temporary files says nothing against the handle', () => {
    expect([778, 6410].map((errcode) => isInputOutputFailure(sqliteError(errcode)))).toEqual([true, false]);
    expect(meaningOf(sqliteError(6410), 'f')).toMatchObject({ hint: expect.stringContaining('set TMPDIR') as string });
  });

  // Windows has no such modes.
  test.skipIf(process.platform === 'win32')('a file that this user may not read: the hint says so', async () => {
    await fill();
    chmodSync(directory, 0o777);
    chmodSync(file, 0o000);
    expect(await refusal(asOrdinaryUser(() => open()))).toMatchObject({
      kind: 'unavailable',
      hint: expect.stringContaining('that this user may read the file'),
    });
  });

  test('a handle whose write or sync failed is never used again', async () => {
    const connection = await openConnection(file, {});
    onTestFinished(() => connection.close());
    const writeOnce = async (failure?: Error) => {
      await connection.begin('write');
      connection.execute('CREATE TABLE IF NOT EXISTS "t" ("a")');
      if (failure === undefined) connection.commit();
      else {
        connection.noteFailure(failure);
        connection.rollback();
      }
      return { handles: connection.handleCount, isBroken: connection.isBroken };
    };
    expect(await writeOnce()).toEqual({ handles: 1, isBroken: false });
    expect(await writeOnce(sqliteError(13))).toEqual({ handles: 1, isBroken: false });
    // After one fsync that failed, the next may report success with the data gone.
    expect(await writeOnce(sqliteError(1034))).toEqual({ handles: 1, isBroken: true });
    expect(await writeOnce()).toEqual({ handles: 2, isBroken: false });
  });

  test('a lock is waited for, and a failed disk gets a new handle', () => {
    expect([5, 6, 517, 8, 11].filter((errcode) => isBusy(sqliteError(errcode)))).toEqual([5, 6, 517]);
    expect([10, 778, 1034, 13].filter((errcode) => isInputOutputFailure(sqliteError(errcode)))).toEqual([
      10, 778, 1034,
    ]);
  });
});
