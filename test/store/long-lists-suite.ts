/** Lists of ids that are longer than a statement may be, on each backend. */

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { listArmedBudgets } from '../../src/store/records/budgets.ts';
import { findPricings, insertPricing, insertProduct, listPricingsOfMeters } from '../../src/store/records/catalog.ts';
import { findCatalogIds } from '../../src/store/records/census.ts';
import { listFinalizedPeriods } from '../../src/store/records/event-owners.ts';
import { findMeters, insertMeter } from '../../src/store/records/meters.ts';
import type { Store } from '../../src/store/store.ts';
import { at, insertTwoOrganizations, invoiceRow } from './rows.ts';

export function describeLongLists(backend: string, open: () => Promise<Store>): void {
  describe(`lists of ids on ${backend}`, () => {
    let store: Store;

    beforeEach(async () => {
      store = await open();
      await store.write(insertTwoOrganizations);
    });
    afterEach(() => store.close());

    // A batch of 10,000 events may have as many customers, each with a contract that was renewed and renewed again.
    const ids = Array.from({ length: 40_000 }, (_, index) => `none-${index}`);

    test('armed budgets are found among more contracts than a statement can name', async () => {
      const budget = { orgId: 'org-a', id: 'b', contractId: 'contract', position: 0, label: 'b', createdAt: at };
      await store.write((tx) =>
        tx
          .insertInto('budgets')
          .values({
            ...budget,
            eventPropertyKey: 'k',
            eventPropertyValue: 'v',
            maxCreditsCents: 1n,
            isExhausted: false,
          })
          .execute(),
      );
      const found = await store.read((tx) => listArmedBudgets(tx, 'org-a', [...ids, 'contract']));
      expect(found.map(({ id }) => id)).toEqual(['b']);
    });

    test('finalized periods are found among more contracts than a statement can name', async () => {
      const invoice = invoiceRow('org-a', 'i', { status: 'In Progress', finalizedAt: at });
      await store.write((tx) => tx.insertInto('invoices').values(invoice).execute());
      const found = await store.read((tx) => listFinalizedPeriods(tx, 'org-a', [...ids, 'contract']));
      expect(found).toEqual([{ contractId: 'contract', periodIndex: 0, periodEnd: invoice.periodEnd }]);
    });

    test('meters and their prices are found among more than a statement can name', async () => {
      const own = { description: null, archivedAt: null, createdAt: at };
      await store.write(async (tx) => {
        await insertProduct(tx, 'org-a', { ...own, id: 'product', name: 'product' });
        await insertMeter(tx, 'org-a', {
          ...own,
          id: 'meter',
          code: 'meter',
          displayName: 'meter',
          aggregationType: 'COUNT',
          eventTypeFilter: { include: [], exclude: [] },
          propertyFilters: [],
          aggregationKey: null,
          groupKeys: [],
          sql: null,
          status: 'active',
          updatedAt: at,
        });
        for (const id of ['earlier', 'later']) {
          await insertPricing(tx, 'org-a', {
            ...own,
            id,
            productId: 'product',
            productName: 'product',
            name: id,
            model: 'USAGE',
            billingMode: 'ONE_TIME',
            tiering: 'NONE',
            unitAmount: '1',
            flatAmount: null,
            priceInterval: null,
            priceIntervalCount: null,
            meterId: 'meter',
            pricingTiers: [],
          });
        }
      });
      const found = await store.read(async (tx) => [
        ...(await findMeters(tx, 'org-a', [...ids, 'meter'])),
        ...(await findPricings(tx, 'org-a', [...ids, 'earlier'])),
        ...(await listPricingsOfMeters(tx, 'org-a', [...ids, 'meter'])),
      ]);
      expect(found.map(({ id }) => id)).toEqual(['meter', 'earlier', 'later', 'earlier']);
      const named = { meterIds: [...ids, 'meter'], pricingIds: [...ids, 'later'], productIds: [...ids, 'product'] };
      expect(await store.read((tx) => findCatalogIds(tx, 'org-a', named))).toEqual({
        meterIds: ['meter'],
        pricingIds: ['later'],
        productIds: ['product'],
      });
    });
  });
}
