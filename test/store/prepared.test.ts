/** Queries whose text is made once: for each form of their values, and for the bundle ahead of time. */

import { expect, test } from 'vitest';

import type { Transaction } from '../../src/store/database.ts';
import type { Statement } from '../../src/store/known-statements.ts';
import { prepared } from '../../src/store/prepared.ts';
import { statementModules } from '../../tools/known-statements.ts';
import { root } from '../support/sources.ts';
import { openFilled, useTestFile, withSqlite } from './test-file.ts';

useTestFile();

interface Asked {
  readonly orgId: string | undefined;
  readonly ids: readonly string[];
}

test('a query has another text where a value is undefined, and for lists of another length', async () => {
  const find = (tx: Transaction, { orgId, ids }: Asked) => {
    const query = tx.selectFrom('customers').select(['orgId', 'id']).where('id', 'in', ids).orderBy('orgId');
    return orgId === undefined ? query : query.where('orgId', '=', orgId);
  };
  const quick = prepared(find);
  const asked = [undefined, 'org-a', 'org-b'].flatMap((orgId) =>
    [['customer'], ['only-in-a', 'customer'], ['nobody', 'only-in-a']].map((ids): Asked => ({ orgId, ids })),
  );
  const store = await openFilled();
  await store.read(async (tx) => {
    for (const values of [...asked, ...asked.toReversed()]) {
      expect(await quick(tx, values)).toEqual(await find(tx, values).execute());
    }
  });
});

test('the texts of the bundle are statements of the schema, with a place for every value that they were made of', async () => {
  const parts: Record<string, Record<string, Statement>>[] = [];
  for (const [name, text] of Object.entries(await statementModules(root))) {
    parts.push((await import(`data:text/javascript,${encodeURIComponent(text)}`))[name]);
  }
  const [known = {}, other = {}] = parts;
  expect(Object.keys(known)).toEqual(
    expect.arrayContaining(['organization and clock', 'customers', 'page of customers']),
  );
  expect(Object.keys(other)).toEqual(expect.arrayContaining(['wallet', 'ledger', 'page of contracts']));
  expect(Object.keys(known).filter((name) => name in other)).toEqual([]);
  const store = await openFilled();
  await store.close();
  const all = [known, other].flatMap((part) => Object.values(part).flatMap((shapes) => Object.entries(shapes)));
  expect(all.length).toBeGreaterThan(10);
  for (const [shape, { sql, parameters }] of all) {
    withSqlite((database) => database.prepare(sql));
    const places = parameters.filter((each) => typeof each === 'object' && each !== null);
    const [names = '', ...forms] = shape.split(/ (?=-|\d)/);
    const missing = forms.filter((form) => form.startsWith('-')).map((form) => form.slice(1));
    const given = names.split(' ').filter((name) => name !== '' && !missing.includes(name));
    expect([...new Set(places.map(({ name }) => name))].sort()).toEqual(given);
  }
});
