/** What a transaction sees of others on a server, and what it leaves behind of its locks. */

import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import type { Transaction } from '../../src/store/database.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { usePostgres } from '../support/postgres.ts';
import { insertTwoOrganizations } from './rows.ts';

const postgres = await usePostgres();

describe.runIf(postgres !== undefined)('of two processes on a PostgreSQL server', () => {
  let url: string;
  let one: Store;
  let another: Store;

  beforeEach(async () => {
    url = (await postgres?.create()) ?? '';
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

  test('a write that met one of the other is done again, also in the commit of one that failed', async () => {
    let runs = 0;
    const failing = one.write(
      async () => {
        throw new Error('changed my mind');
      },
      { turn: 'org-a' },
    );
    const meeting = one.write(
      async (tx) => {
        const name = await nameOf(tx, 'org-b');
        runs += 1;
        if (runs === 1)
          await another.write(async (theirs) => await rename(theirs, 'org-b', 'theirs'), { turn: 'org-b' });
        await rename(tx, 'org-b', `${name} and ours`);
      },
      { turn: 'org-a' },
    );
    expect((await Promise.allSettled([failing, meeting])).map(({ status }) => status)).toEqual([
      'rejected',
      'fulfilled',
    ]);
    expect(await one.read(async (tx) => await nameOf(tx, 'org-b'))).toBe('theirs and ours');
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

  test('a write that is told not to wait is refused at once, whoever holds it up', async () => {
    const begun = Promise.withResolvers<void>();
    const isOver = Promise.withResolvers<void>();
    const holding = one.write(
      async () => {
        begun.resolve();
        await isOver.promise;
      },
      { turn: 'org-a' },
    );
    await begun.promise;
    for (const store of [one, another]) {
      const hasty = store.write(async () => undefined, { turn: 'org-a', busyTimeoutMilliseconds: 0 });
      await expect(hasty).rejects.toMatchObject({
        kind: 'unavailable',
        message: expect.stringContaining('locked by another writer'),
      });
    }
    isOver.resolve();
    await holding;
  });

  test('books in two schemas of one database hold up neither writes nor bill runs of each other', async () => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query('CREATE SCHEMA second');
    await client.end();
    const second = await openStore(`${url}?options=-csearch_path%3Dsecond`, { busyTimeoutMilliseconds: 50 });
    await second.write(insertTwoOrganizations);
    const outcome = await one.exclusively('bill run', async () =>
      one.write(async () => {
        await second.write(async (tx) => await rename(tx, 'org-a', 'second'));
        return await second.exclusively('bill run', async () => await Promise.resolve('done'));
      }),
    );
    await second.close();
    expect(outcome).toBe('done');
  });
});
