/** What prepared queries give and refuse, on each backend. */

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import type { Transaction } from '../../src/store/database.ts';
import { prepared, preparedRows } from '../../src/store/prepared.ts';
import type { Store } from '../../src/store/store.ts';
import { insertTwoOrganizations, row, ruleBroken } from './rows.ts';

export function describePrepared(backend: string, open: () => Promise<Store>): void {
  describe(`prepared queries on ${backend}`, () => {
    let store: Store;

    beforeEach(async () => {
      store = await open();
      await store.write(insertTwoOrganizations);
    });
    afterEach(() => store.close());

    test('give what the same query gives anew, whatever the values of the first run were', async () => {
      const find = (tx: Transaction, { orgId, id }: { readonly orgId: string; readonly id: string }) =>
        tx.selectFrom('customers').selectAll().where('orgId', '=', orgId).where('id', '=', id);
      const quick = prepared(find);
      const asked = ['org-a', 'org-b', 'org-c'].flatMap((orgId) =>
        ['only-in-a', 'customer'].map((id) => ({ orgId, id })),
      );
      await store.read(async (tx) => {
        for (const values of asked) expect(await quick(tx, values)).toEqual(await find(tx, values).execute());
      });
    });

    test('write null where the first run wrote a value, and the other way round', async () => {
      const insert = prepared((tx, { id, legalName }: { readonly id: string; readonly legalName: string | null }) =>
        tx
          .insertInto('customers')
          .values({ ...row.customer('org-a', ''), id, legalName })
          .returning('legalName'),
      );
      const legalNames = ['GmbH', null, 'AG'];
      const written = await store.write(async (tx) => {
        const rows = [];
        for (const [index, legalName] of legalNames.entries()) {
          rows.push(...(await insert(tx, { id: `c${index}`, legalName })));
        }
        return rows;
      });
      expect(written.map(({ legalName }) => legalName)).toEqual(legalNames);
    });

    test('are refused like others: a broken rule, a write in a read, a transaction that has ended', async () => {
      const naming = prepared((tx, { orgId, name }: { readonly orgId: string; readonly name: string }) =>
        tx.updateTable('customers').set({ name }).where('orgId', '=', orgId),
      );
      const values = { orgId: 'org-b', name: 'changed' };
      const adding = prepared((tx, customer: ReturnType<typeof row.customer>) =>
        tx.insertInto('customers').values(customer),
      );
      expect(await ruleBroken(store, (tx) => adding(tx, row.customer('nobody', 'c')))).toBe('reference');
      await expect(store.read((tx) => naming(tx, values))).rejects.toThrow('read-only');
      let leaked: Transaction | undefined;
      await store.write(async (tx) => {
        leaked = tx;
      });
      await expect(naming(leaked as Transaction, values)).rejects.toThrow('already committed');
      const names = await store.read((tx) =>
        tx.selectFrom('customers').select('name').where('orgId', '=', 'org-b').execute(),
      );
      expect(names).toEqual([{ name: 'customer' }]);
    });

    test('refuse a value that was left out', async () => {
      const find = prepared((tx, { orgId, id }: { readonly orgId: string; readonly id: string }) =>
        tx.selectFrom('customers').select('name').where('orgId', '=', orgId).where('id', '=', id),
      );
      await store.read((tx) => find(tx, { orgId: 'org-a', id: 'customer' }));
      const incomplete = { orgId: 'org-a' } as { readonly orgId: string; readonly id: string };
      await expect(store.read((tx) => find(tx, incomplete))).rejects.toThrow('cannot be stored');
    });

    describe('rows', () => {
      interface Named {
        readonly id: string;
        readonly legalName: string | null;
      }

      const insertNamed = preparedRows<Named>((tx, rows) =>
        tx.insertInto('customers').values(rows.map((each) => ({ ...row.customer('org-c', ''), ...each }))),
      );

      const listNamed = async (): Promise<readonly Named[]> =>
        await store.read(async (tx) =>
          tx.selectFrom('customers').select(['id', 'legalName']).where('orgId', '=', 'org-c').orderBy('seq').execute(),
        );

      beforeEach(async () => {
        await store.write((tx) => tx.insertInto('organizations').values(row.organization('org-c')).execute());
      });

      test.for([0, 1, 2, 7, 8, 9, 63, 64, 65, 203])(
        '%i new ones keep their order and their own values',
        async (count) => {
          const rows = Array.from({ length: count }, (_row, index) => ({
            id: `c${index}`,
            legalName: index % 3 === 1 ? null : `Name of ${index}`,
          }));
          await store.write((tx) => insertNamed(tx, rows));
          expect(await listNamed()).toEqual(rows);
        },
      );

      test('with a column that others of them lack are refused, since it would be left out', async () => {
        const rows = [{ id: 'c0' } as Named, { id: 'c1', legalName: 'GmbH' }];
        await expect(store.write((tx) => insertNamed(tx, rows))).rejects.toThrow('the same columns');
        expect(await listNamed()).toEqual([]);
      });

      test('if one breaks a rule, none is kept', async () => {
        const rows = ['c0', 'c1', 'c0', 'c2'].map((id) => ({ id, legalName: null }));
        expect(await ruleBroken(store, (tx) => insertNamed(tx, rows))).toBe('unique');
        expect(await listNamed()).toEqual([]);
      });
    });
  });
}
