/** Reads that wait together share a snapshot, and no reader can tell. */

import { CompiledQuery } from 'kysely';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';

import { limits } from '../../src/limits.ts';
import type { Transaction } from '../../src/store/database.ts';
import { onceUnchanged } from '../../src/store/prepared.ts';
import { turnOver } from '../../src/turns.ts';
import { watchStatements } from '../reliability/statements.ts';
import { refusal } from '../support/refusal.ts';
import { addCustomer, customers, file, open, openFilled, useTestFile, withSqlite } from './test-file.ts';

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

  test('are answered when all of them are done, and who reads after an answer sees what was written since', async () => {
    const store = await openFilled();
    await addCustomer(store, 'c');
    const order: string[] = [];
    const first = store.read(count).then((found) => order.push(`first ${found}`));
    const second = store.read(async (tx) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      removeOne();
      order.push(`second ${await count(tx)}`);
    });
    await first;
    expect(order).toEqual(['second 4', 'first 4']);
    expect(await store.read(count)).toBe(3);
    await second;
  });

  test('are spread over several snapshots when there are too many for one', async () => {
    const store = await openFilled();
    await addCustomer(store, 'c');
    const counts = await Promise.all(
      Array.from({ length: limits.readsPerSnapshot + 2 }, async (_, index) =>
        store.read(async (tx) => {
          if (index === 0) removeOne();
          return await count(tx);
        }),
      ),
    );
    expect(counts).toEqual([...Array.from({ length: limits.readsPerSnapshot }, () => 4), 3, 3]);
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
      store.read(async (tx) => {
        const before = await count(tx);
        withSqlite((other) => other.exec(`UPDATE "customers" SET "name" = 'changed'`));
        const changed = await tx.selectFrom('customers').select('id').where('name', '=', 'changed').execute();
        return [before, changed.length];
      }),
      store.read(count),
    ]);
    expect(counts).toEqual([4, undefined, [3, 0], 3]);
  });

  test('come to nothing for nobody but the one under whom it ended, nor for who came meanwhile', async () => {
    const store = await openFilled();
    const { promise: hasEnded, resolve: end } = Promise.withResolvers<void>();
    const late = hasEnded.then(async () => await store.read(count));
    const outcomes = await Promise.allSettled([
      store.read(count),
      store.read(async (tx) => {
        await tx.executeQuery(CompiledQuery.raw('ROLLBACK'));
        end();
        await turnOver();
        throw new Error('changed my mind');
      }),
      store.read(count),
      late,
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  });

  test('wait for a lock that is met once their transaction has begun', async () => {
    const store = await openFilled();
    let looks = 0;
    const stop = watchStatements((text) => {
      if (text !== 'PRAGMA user_version') return;
      looks += 1;
      if (looks === 1) throw Object.assign(new Error('database is locked'), { errcode: 261 });
    });
    const counts = await Promise.all([store.read(count), store.read(count)]).finally(stop);
    expect({ counts, looks }).toEqual({ counts: [3, 3], looks: 2 });
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

describe('what is read once until something is written', () => {
  const reading = () => {
    let times = 0;
    const read = onceUnchanged(async (tx, id) => {
      times += 1;
      return (await tx.selectFrom('customers').select('name').where('id', '=', id).execute())[0]?.name;
    });
    return { read, times: () => times };
  };

  test('is read once for all that share one, for each value', async () => {
    const store = await openFilled();
    await addCustomer(store, 'c');
    const { read, times } = reading();
    const names = await Promise.all(['c', 'c', 'a', 'c'].map(async (id) => await store.read((tx) => read(tx, id))));
    expect(names[1]).toBe(names[0]);
    expect(times()).toBe(2);
  });

  test('is read again for the next one, and sees what was written since', async () => {
    const store = await openFilled();
    await addCustomer(store, 'c');
    const { read } = reading();
    await store.read((tx) => read(tx, 'c'));
    withSqlite((other) => other.exec(`UPDATE "customers" SET "name" = 'changed' WHERE "id" = 'c'`));
    expect(await store.read((tx) => read(tx, 'c'))).toBe('changed');
  });

  test('is read once for all writes that share a commit and change nothing that it rests on', async () => {
    const store = await openFilled();
    await addCustomer(store, 'c');
    const { read, times } = reading();
    const names = await Promise.all(
      ['c', 'c', 'c'].map(async (id) => await store.write(async (tx) => await read(tx, id))),
    );
    expect(names[2]).toBe(names[0]);
    expect(times()).toBe(1);
  });

  test('is read again behind a write that was taken back', async () => {
    const store = await openFilled();
    await addCustomer(store, 'c');
    const { read } = reading();
    const before = await store.read((tx) => read(tx, 'c'));
    const outcomes = await Promise.allSettled([
      store.write((tx) => read(tx, 'c')),
      store.write(async (tx) => {
        await tx.updateTable('customers').set({ name: 'changed' }).where('id', '=', 'c').execute();
        throw new Error(`changed my mind about ${await read(tx, 'c')}`);
      }),
      store.write((tx) => read(tx, 'c')),
    ]);
    expect(outcomes).toMatchObject([
      { value: before },
      { reason: { message: 'changed my mind about changed' } },
      { value: before },
    ]);
  });

  test('is read each time where something may have been written in between', async () => {
    const store = await openFilled();
    await addCustomer(store, 'c');
    const { read } = reading();
    const names = await store.write(async (tx) => {
      const before = await read(tx, 'c');
      await tx.updateTable('customers').set({ name: 'changed' }).where('id', '=', 'c').execute();
      return [before, await read(tx, 'c')];
    });
    expect(names[0]).not.toBe('changed');
    expect(names[1]).toBe('changed');
  });
});
