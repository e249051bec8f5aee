/** Reads that wait together share a snapshot, and no reader can tell. */

import { CompiledQuery } from 'kysely';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';

import type { Transaction } from '../../src/store/database.ts';
import { addCustomer, customers, file, open, openFilled, refusal, useTestFile, withSqlite } from './test-file.ts';

useTestFile();

const count = async (tx: Transaction): Promise<number> =>
  (await tx.selectFrom('customers').select('id').execute()).length;

/** As another program does. */
function removeOne(): void {
  withSqlite((other) =>
    other.exec(
      'DELETE FROM "customers" WHERE "seq" = (SELECT max("seq") FROM "customers" WHERE "id" NOT IN (SELECT "customerId" FROM "contracts"))',
    ),
  );
}

describe('reads that wait together', () => {
  test('share one snapshot, whatever is written while they run', async () => {
    const store = await openFilled();
    await addCustomer(store, 'c');
    const counts = await Promise.all([
      store.read(async (tx) => {
        const before = await count(tx);
        removeOne();
        return before;
      }),
      store.read(count),
      store.read(count),
    ]);
    expect(counts).toEqual([4, 4, 4]);
    expect(await customers(store)).toBe(3);
  });

  test('see what was there when the last of them came', async () => {
    const store = await openFilled();
    await addCustomer(store, 'c');
    const first = store.read(count);
    removeOne();
    expect(await Promise.all([first, store.read(count)])).toEqual([3, 3]);
  });

  test('are answered one by one, and who reads after an answer sees what was written since', async () => {
    const store = await openFilled();
    await addCustomer(store, 'c');
    const first = store.read(count);
    const second = store.read(async (tx) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      return await count(tx);
    });
    expect(await first).toBe(4);
    removeOne();
    expect(await store.read(count)).toBe(3);
    expect(await second).toBe(4);
  });

  test('leave nothing open when the last of them is answered', async () => {
    const store = await openFilled();
    const other = new DatabaseSync(file);
    await Promise.all([store.read(count), store.read(count), store.read(count)]);
    const { busy } = other.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() ?? {};
    other.close();
    expect(busy).toBe(0);
  });

  test('lose nothing but the one that fails', async () => {
    const store = await openFilled();
    const outcomes = await Promise.allSettled([
      store.read(count),
      store.read(async () => {
        throw new Error('changed my mind');
      }),
      store.read(
        async (tx) =>
          await tx
            .selectFrom('customers')
            .select('nothing' as 'id')
            .execute(),
      ),
      store.read(count),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
  });

  test('go on with another snapshot where theirs has ended under one of them', async () => {
    const store = await openFilled();
    await addCustomer(store, 'c');
    const counts = await Promise.all([
      store.read(count),
      store.read(async (tx) => {
        await tx.executeQuery(CompiledQuery.raw('ROLLBACK'));
        removeOne();
      }),
      store.read(count),
      store.read(count),
    ]);
    expect(counts).toEqual([4, undefined, 3, 3]);
  });

  test('are all refused where it cannot begin, and the next ones are not', async () => {
    const store = await openFilled();
    const version = withSqlite((other) => Number(other.prepare('PRAGMA user_version').get()?.['user_version']));
    withSqlite((other) => other.exec(`PRAGMA user_version = ${version + 1}`));
    const errors = await Promise.all([refusal(store.read(count)), refusal(store.read(count))]);
    expect(errors.map((error) => error.kind)).toEqual(['unavailable', 'unavailable']);
    withSqlite((other) => other.exec(`PRAGMA user_version = ${version}`));
    expect(await customers(store)).toBe(3);
  });

  test('are finished before the store is closed', async () => {
    const store = await openFilled();
    const reads = [store.read(count), store.read(count)];
    await store.close();
    expect(await Promise.all(reads)).toEqual([3, 3]);
    expect(await customers(await open())).toBe(3);
  });
});
