/** Writes that wait together are committed together, and each is answered for itself. */

import { readdirSync, readlinkSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';

import { ConflictError, UnknownOutcomeError } from '../../src/errors.ts';
import { limits } from '../../src/limits.ts';
import type { Transaction } from '../../src/store/database.ts';
import { turnOver } from '../../src/turns.ts';
import { watchStatements } from '../reliability/statements.ts';
import { row } from './rows.ts';
import { refusal } from '../support/refusal.ts';
import { addCustomer, customers, file, open, openFilled, useTestFile } from './test-file.ts';

useTestFile();

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `c${index}`);

/** How often another connection has seen the file change, by SQLite's own counter. */
async function commitsDuring(work: (look: () => void) => Promise<unknown>): Promise<number> {
  const other = new DatabaseSync(file);
  const version = (): unknown => other.prepare('PRAGMA data_version').get()?.['data_version'];
  const seen = new Set([version()]);
  await work(() => seen.add(version()));
  seen.add(version());
  other.close();
  return seen.size - 1;
}

describe('writes that wait together', () => {
  test('share one commit', async () => {
    const store = await openFilled();
    const commits = await commitsDuring(async (look) => {
      await Promise.all(names(20).map(async (id) => await addCustomer(store, id).then(look)));
    });
    expect(commits).toBe(1);
    expect(await customers(store)).toBe(23);
  });

  test('share it with one that comes a turn or two later, as a request over HTTP does', async () => {
    const store = await openFilled();
    const late = async (): Promise<unknown> => {
      for (let turn = 0; turn < limits.quietTurns; turn += 1) await turnOver();
      return await addCustomer(store, 'late');
    };
    const commits = await commitsDuring(async (look) => {
      await Promise.all(
        [...names(2).map(async (id) => await addCustomer(store, id)), late()].map((each) => each.then(look)),
      );
    });
    expect(commits).toBe(1);
  });

  test('are spread over several commits when there are too many for one', async () => {
    const store = await openFilled();
    const commits = await commitsDuring(async (look) => {
      await Promise.all(names(limits.writesPerCommit + 1).map(async (id) => await addCustomer(store, id).then(look)));
    });
    expect(commits).toBe(2);
  });

  test('are committed as soon as there are as many as one commit takes, though others keep coming', async () => {
    const store = await openFilled();
    let isAnswered = false;
    const writes = [addCustomer(store, 'first').then(() => (isAnswered = true)), addCustomer(store, 'second')];
    for (const id of names(3 * limits.writesPerCommit)) {
      if (isAnswered) break;
      writes.push(addCustomer(store, id));
      await turnOver();
    }
    expect(isAnswered).toBe(true);
    await Promise.all(writes);
  });

  test('are each answered after the commit: what was answered is there for everyone', async () => {
    const store = await openFilled();
    const other = new DatabaseSync(file);
    const isThere = other.prepare('SELECT 1 AS "found" FROM "customers" WHERE "id" = ?');
    const found = await Promise.all(
      names(30).map(async (id) => await addCustomer(store, id).then(() => isThere.get(id)?.['found'])),
    );
    other.close();
    expect(found).toEqual(names(30).map(() => 1));
  });

  test('lose nothing but the one that fails', async () => {
    const store = await openFilled();
    const outcomes = await Promise.allSettled([
      addCustomer(store, 'c'),
      store.write(async (tx) => {
        await tx.updateTable('customers').set({ name: 'changed' }).execute();
        throw new Error('changed my mind');
      }),
      addCustomer(store, 'c'),
      addCustomer(store, 'd'),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
    expect(await customers(store)).toBe(5);
    const changed = await store.read((tx) =>
      tx.selectFrom('customers').select('id').where('name', '=', 'changed').execute(),
    );
    expect(changed).toEqual([]);
  });

  test.each([0, 1, 2])('are kept but for the one that fails, as number %d of them', async (place) => {
    const store = await openFilled();
    const outcomes = await Promise.allSettled(
      names(3).map(async (id, index) => {
        if (index !== place) return await addCustomer(store, id);
        return await store.write(async () => await Promise.reject(new Error('changed my mind')));
      }),
    );
    expect(outcomes.map(({ status }) => status === 'rejected')).toEqual([0, 1, 2].map((index) => index === place));
    expect(await customers(store)).toBe(5);
  });

  test('are all told why, where one of them ends their transaction', async () => {
    const store = await openFilled();
    const outcomes = await Promise.allSettled([
      addCustomer(store, 'c'),
      store.write(async (tx) => {
        await sql`ROLLBACK`.execute(tx);
        throw new Error('no room');
      }),
      addCustomer(store, 'd'),
    ]);
    const reason = expect.objectContaining({ message: 'no room' });
    expect(outcomes.slice(0, 2)).toEqual([0, 1].map(() => ({ status: 'rejected', reason })));
    expect(outcomes[2]?.status).toBe('fulfilled');
    expect(await customers(store)).toBe(4);
  });

  test('are run once, and once more where one of them fails; those behind such a group once again', async () => {
    const store = await openFilled();
    const runs = new Map<string, number>();
    const add = async (id: string): Promise<unknown> =>
      await store.write(async (tx) => {
        runs.set(id, (runs.get(id) ?? 0) + 1);
        await tx.insertInto('customers').values(row.customer('org-a', id)).execute();
        if (id.startsWith('bad')) throw new Error('changed my mind');
      });
    const runsOf = async (...ids: readonly string[]): Promise<(number | undefined)[]> => {
      await Promise.allSettled(ids.map(add));
      return ids.map((id) => runs.get(id));
    };
    expect(await runsOf('c', 'd')).toEqual([1, 1]);
    expect(await runsOf('e', 'bad-1', 'f')).toEqual([2, 2, 1]);
    expect(await runsOf('g', 'bad-2', 'h')).toEqual([1, 1, 1]);
    expect(await customers(store)).toBe(9);
  });

  test('are all refused when the file stays locked, and leave nothing', async () => {
    await openFilled();
    const store = await open(file, { busyTimeoutMilliseconds: 60 });
    const other = new DatabaseSync(file);
    other.exec('BEGIN IMMEDIATE');
    const errors = await Promise.all(names(3).map(async (id) => await refusal(addCustomer(store, id))));
    other.close();
    expect(errors.map((error) => error.kind)).toEqual(['unavailable', 'unavailable', 'unavailable']);
    expect(await customers(store)).toBe(3);
    await addCustomer(store, 'c');
    expect(await customers(store)).toBe(4);
  });

  test('are not joined by one that waits no longer than it says', async () => {
    const store = await openFilled();
    const other = new DatabaseSync(file);
    other.exec('BEGIN IMMEDIATE');
    const long = addCustomer(store, 'c');
    const add = async (tx: Transaction) =>
      await tx.insertInto('customers').values(row.customer('org-a', 'd')).execute();
    const error = await refusal(store.write(add, { busyTimeoutMilliseconds: 60 }));
    other.close();
    expect(error.message).toContain('(waited 60 ms)');
    await long;
    expect(await customers(store)).toBe(4);
  });

  test('are refused together when they have waited for a lock, and those not that came later', async () => {
    await openFilled();
    const store = await open(file, { busyTimeoutMilliseconds: 60 });
    const other = new DatabaseSync(file);
    other.exec('BEGIN IMMEDIATE');
    const unlock = (): void => other.close();
    const refused = ['c', 'd'].map(async (id, index) => {
      const error = await refusal(addCustomer(store, id));
      if (index === 0) unlock();
      return error.kind;
    });
    // By then the others have begun to wait.
    for (let turn = 0; turn < 2 * limits.quietTurns; turn += 1) await turnOver();
    await addCustomer(store, 'later');
    expect(await Promise.all(refused)).toEqual(['unavailable', 'unavailable']);
    expect(await customers(store)).toBe(4);
  });

  test('are all told of a commit that fails, and none what it would have been told after it', async () => {
    const store = await openFilled();
    const outcomes = await Promise.allSettled([
      addCustomer(store, 'c'),
      store.write(async () => await Promise.reject(new Error('changed my mind'))),
      store.write(async (tx) => {
        // Found out at the commit alone.
        await sql`PRAGMA defer_foreign_keys = ON`.execute(tx);
        await tx.insertInto('customers').values(row.customer('org-nobody', 'd')).execute();
      }),
    ]);
    const reason = expect.objectContaining({ message: expect.stringContaining('FOREIGN KEY') });
    expect(outcomes).toEqual(outcomes.map(() => ({ status: 'rejected', reason })));
    expect(await customers(store)).toBe(3);
  });

  test('are finished before the store is closed', async () => {
    const store = await openFilled();
    const writes = names(5).map(async (id) => await addCustomer(store, id));
    await store.close();
    await Promise.all(writes);
    expect(await customers(await open())).toBe(8);
  });

  test('do not keep out what is only read: it sees whole commits', async () => {
    const store = await openFilled();
    const counts = await Promise.all(
      names(10).flatMap((id) => [addCustomer(store, id).then(() => 0), customers(store)]),
    );
    expect(counts.filter((count) => count > 0).every((count) => count === 3 || count === 13)).toBe(true);
  });
});

test('writes that share a transaction are all refused where the disk fails under one of them, and none is tried again', async () => {
  const store = await openFilled();
  let count = 0;
  const stop = watchStatements((text) => {
    if (!text.startsWith('insert into "customers"')) return;
    count += 1;
    if (count === 2) throw Object.assign(new Error('disk I/O error'), { errcode: 266 });
  });
  const refused = await Promise.all(names(2).map(async (id) => await refusal(addCustomer(store, id)))).finally(stop);
  expect(refused.map((error) => error.kind)).toEqual(['unavailable', 'unavailable']);
  expect(await customers(store)).toBe(3);
});

/**
 * What comes of two writes whose commit ends with a code of SQLite's, how many customers there are then, and whether the file
 * was opened anew to count them. A second commit would succeed.
 */
async function outcomeOfCommit(errcode: number) {
  const store = await openFilled();
  let commits = 0;
  const stop = watchStatements((text) => {
    if (text === 'COMMIT') commits += 1;
    if (text === 'COMMIT' && commits === 1) throw Object.assign(new Error('disk I/O error'), { errcode });
  });
  const refused = await Promise.all(names(2).map(async (id) => await refusal(addCustomer(store, id)))).finally(stop);
  const statements: string[] = [];
  const stopAgain = watchStatements((text) => statements.push(text));
  const count = await customers(store).finally(stopAgain);
  return { refused, count, isOpenedAnew: statements.some((text) => text.includes('synchronous = FULL')) };
}

describe('a commit under which the disk fails', () => {
  test.each([
    ['the log cannot be synced', 1034],
    ['its index has no room', 4874],
    ['nobody says how', 10],
  ])('may have been kept where %s, and each of its writes is told so', async (_what, errcode) => {
    const { refused, isOpenedAnew } = await outcomeOfCommit(errcode);
    expect(refused.map((error) => error instanceof UnknownOutcomeError)).toEqual([true, true]);
    // A second sync of the same open file may succeed though the data is gone.
    expect(isOpenedAnew).toBe(true);
    expect(refused[0]?.message).toBe(
      `the disk failed during a commit to the database ${file}; whether the change was kept is not known`,
    );
  });

  test.each([
    ['cannot be written', 778],
    ['has no room', 13],
    ['is locked', 5],
  ])('has changed nothing where the log %s', async (_what, errcode) => {
    const { refused, count } = await outcomeOfCommit(errcode);
    expect(refused.map((error) => error instanceof UnknownOutcomeError)).toEqual([false, false]);
    expect(refused[0]?.message).toContain('nothing was changed');
    expect(count).toBe(3);
  });
});

/** The temporary files of SQLite that this process has open; they have no name any more. */
const temporaryFiles = (): string[] =>
  readdirSync('/proc/self/fd')
    .map((descriptor) => orNothing(() => readlinkSync(`/proc/self/fd/${descriptor}`)))
    .filter((path) => path.includes('etilqs_'));

/** The list of them has the one that reads it. */
function orNothing(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}

// Elsewhere nothing lists the open files.
test.skipIf(process.platform !== 'linux')(
  'what takes back a write beside others lies in no file, for which a machine may have no place',
  async () => {
    const store = await openFilled();
    await store.write(async (tx) => {
      for (const id of names(300)) {
        await tx
          .insertInto('customers')
          .values({ ...row.customer('org-a', id), name: 'x'.repeat(1_000) })
          .execute();
      }
    });
    const found: string[] = [];
    const failing = store.write(async () => await Promise.reject(new ConflictError('refused')));
    const changing = store.write(async (tx) => {
      await tx
        .updateTable('customers')
        .set({ name: 'y'.repeat(1_000) })
        .execute();
      found.push(...temporaryFiles());
    });
    expect((await refusal(failing)).message).toBe('refused');
    await changing;
    expect(found).toEqual([]);
  },
);
