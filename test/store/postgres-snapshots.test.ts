/** What a transaction sees of others on a server, and what it leaves behind of its locks. */

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import type { Transaction } from '../../src/store/database.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { usePostgres } from '../support/postgres.ts';
import { insertTwoOrganizations } from './rows.ts';

const postgres = await usePostgres();

describe.runIf(postgres !== undefined)('of two processes on a PostgreSQL server', () => {
  let one: Store;
  let another: Store;

  beforeEach(async () => {
    const url = (await postgres?.create()) ?? '';
    [one, another] = [await openStore(url), await openStore(url, { busyTimeoutMilliseconds: 500 })];
    await one.write(insertTwoOrganizations);
  });
  afterEach(async () => {
    await Promise.all([one.close(), another.close()]);
  });

  const nameOf = async (tx: Transaction, id: string) =>
    (await tx.selectFrom('organizations').select('name').where('id', '=', id).executeTakeFirstOrThrow()).name;
  const rename = async (tx: Transaction, id: string, name: string) =>
    await tx.updateTable('organizations').set({ name }).where('id', '=', id).execute();

  test('a reading sees one state from its first query to its last', async () => {
    const seen = await one.read(async (tx) => {
      const before = await nameOf(tx, 'org-a');
      await another.write(async (theirs) => await rename(theirs, 'org-a', 'changed'));
      return [before, await nameOf(tx, 'org-a')];
    });
    expect(seen).toEqual(['org-a', 'org-a']);
    expect(await one.read(async (tx) => await nameOf(tx, 'org-a'))).toBe('changed');
  });

  test('writes of two turns that each rest on what the other changes are not both kept as they were', async () => {
    const bothHaveRead = Promise.withResolvers<void>();
    let readers = 0;
    /** The first to be renamed; who sees the other one renamed leaves its own as it is. */
    const beFirst = (own: string, other: string) => async (tx: Transaction) => {
      const name = await nameOf(tx, other);
      readers += 1;
      if (readers === 2) bothHaveRead.resolve();
      await bothHaveRead.promise;
      if (name !== 'first') await rename(tx, own, 'first');
    };
    await Promise.all([
      one.write(beFirst('org-a', 'org-b'), { turn: 'org-a' }),
      another.write(beFirst('org-b', 'org-a'), { turn: 'org-b' }),
    ]);
    const names = await one.read(async (tx) => [await nameOf(tx, 'org-a'), await nameOf(tx, 'org-b')]);
    expect(names.filter((name) => name === 'first')).toHaveLength(1);
  });

  test('one whose write failed holds up no write of the other', async () => {
    const failing = one.write(
      async () => {
        throw new Error('changed my mind');
      },
      { turn: 'org-a' },
    );
    await expect(failing).rejects.toThrow('changed my mind');
    await another.write(async (tx) => await rename(tx, 'org-a', 'theirs'), { turn: 'org-a' });
    await another.write(async (tx) => await rename(tx, 'org-b', 'alone'));
    expect(await one.read(async (tx) => [await nameOf(tx, 'org-a'), await nameOf(tx, 'org-b')])).toEqual([
      'theirs',
      'alone',
    ]);
  });
});
