/** Rows that the schema refuses, on each backend: the net below what the rooms check. */

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import type { Transaction } from '../../src/store/database.ts';
import { rowsOfText } from '../../src/store/raw-query.ts';
import type { Store } from '../../src/store/store.ts';
import { at, contractRow, entryRow, eventOf, insertTwoOrganizations, invoiceRow, row, ruleBroken } from './rows.ts';

const seal = 'a'.repeat(64);

export function describeRules(backend: string, open: () => Promise<Store>): void {
  describe(`rows on ${backend}`, () => {
    let store: Store;

    beforeEach(async () => {
      store = await open();
      await store.write(insertTwoOrganizations);
    });
    afterEach(() => store.close());

    const ruleBrokenBy = async (change: (tx: Transaction) => Promise<unknown>) => await ruleBroken(store, change);

    const insertEntry = (changes: Parameters<typeof entryRow>[1], id = 'entry') =>
      ruleBrokenBy((tx) => tx.insertInto('ledgerEntries').values(entryRow(id, changes)).execute());

    describe('a finalized invoice', () => {
      beforeEach(async () => {
        await store.write(async (tx) => {
          await tx
            .insertInto('contracts')
            .values(contractRow('org-a', 'second', 'customer'))
            .execute();
          const finalized = { status: 'In Progress', finalizedAt: at, contentHash: seal } as const;
          await tx
            .insertInto('invoices')
            .values(invoiceRow('org-a', 'i1', finalized))
            .execute();
        });
      });

      test.each([
        { id: 'i2' },
        { orgId: 'org-b' },
        { number: 'other' },
        { customerId: 'only-in-a' },
        { contractId: 'second' },
        { periodIndex: 1 },
        { periodStart: '2026-01-02' },
        { periodEnd: '2026-02-02' },
        { invoiceDate: '2026-02-02' },
        { dueDate: '2026-03-04' },
        { totalCents: 101n },
        { finalizedAt: '2026-01-02T00:00:00.000Z' },
        { createdAt: '2026-01-02T00:00:00.000Z' },
        { contentHash: 'b'.repeat(64) },
        { contentHash: '' },
      ])('keeps what it had where this is to be set: %o', async (changes: object) => {
        expect(await ruleBrokenBy((tx) => tx.updateTable('invoices').set(changes).execute())).toBe('appendOnly');
      });
    });

    describe('a ledger entry', () => {
      beforeEach(async () => {
        expect(await insertEntry({}, 'grant')).toBe('none');
      });

      test.each([
        ['a grant of less than nothing', { amountCents: -1n }],
        ['a grant of fewer credits than none', { creditMicros: -1n }],
        ['usage that gives', { type: 'usage', grantEntryId: 'grant', amountCents: 1n }],
        ['usage of no grant', { type: 'usage', amountCents: -1n }],
        ['an expiration that gives', { type: 'expiration', grantEntryId: 'grant', creditMicros: 1n }],
        ['an expiration of no grant', { type: 'expiration' }],
        ['a reversal of nothing', { type: 'reversal' }],
        ['a grant that undoes another', { reversesEntryId: 'grant' }],
        ['a balance below nothing', { balanceAfterCents: -1n }],
        ['fewer credits left than none', { creditBalanceAfterMicros: -1n }],
        ['more than 10^15 cents', { amountCents: 10n ** 15n + 1n }],
        ['more than 10^12 credits', { creditMicros: 10n ** 18n + 1n }],
        ['an instant that is none', { expiresAt: '2026-01-01' }],
      ] as const)('is not %s', async (_what, changes) => {
        expect(await insertEntry(changes)).toBe('value');
      });

      test("undoes no entry of another contract, and is of no other organization's contract", async () => {
        const second = contractRow('org-a', 'second', 'customer');
        await store.write((tx) => tx.insertInto('contracts').values(second).execute());
        const reversal = { type: 'reversal', contractId: 'second', reversesEntryId: 'grant' } as const;
        expect(await insertEntry(reversal)).toBe('reference');
        expect(await insertEntry({ orgId: 'org-b', contractId: 'second' })).toBe('reference');
      });
    });

    test('an invoice ends behind its beginning, and is of at most 10^15 cents', async () => {
      const insert = (changes: Parameters<typeof invoiceRow>[2]) =>
        ruleBrokenBy((tx) =>
          tx
            .insertInto('invoices')
            .values(invoiceRow('org-a', 'i1', changes))
            .execute(),
        );
      expect(await insert({ periodEnd: '2026-01-01' })).toBe('value');
      expect(await insert({ totalCents: 10n ** 15n + 1n })).toBe('value');
      expect(await insert({ totalCents: -1n })).toBe('value');
    });

    test('legal numbers begin with 1', async () => {
      const set = (nextInvoiceNumber: number) =>
        ruleBrokenBy((tx) => tx.updateTable('organizations').set({ nextInvoiceNumber }).execute());
      expect(await set(0)).toBe('value');
    });

    test('a customer of a payment provider is linked once in an organization', async () => {
      const linked = (orgId: string, id: string) => ({
        ...row.customer(orgId, id),
        paymentProvider: 'stripe',
        paymentProviderId: 'cus_1',
      });
      const insert = (orgId: string, id: string) =>
        ruleBrokenBy((tx) => tx.insertInto('customers').values(linked(orgId, id)).execute());
      expect([await insert('org-a', 'c1'), await insert('org-b', 'c1'), await insert('org-a', 'c2')]).toEqual([
        'none',
        'none',
        'unique',
      ]);
    });

    test('a contract has one budget for a usage dimension', async () => {
      const budget = (id: string, eventPropertyValue: string) => ({
        orgId: 'org-a',
        id,
        contractId: 'contract',
        position: 0,
        label: id,
        eventPropertyKey: 'model',
        eventPropertyValue,
        isExhausted: false,
        createdAt: at,
      });
      const insert = (id: string, value: string) =>
        ruleBrokenBy((tx) => tx.insertInto('budgets').values(budget(id, value)).execute());
      expect([await insert('b1', 'x'), await insert('b2', 'y'), await insert('b3', 'x')]).toEqual([
        'none',
        'none',
        'unique',
      ]);
    });

    test('a digest is of one key, in whichever organization', async () => {
      const key = { name: 'key', suffix: 'abcd', scopes: '[]', createdAt: at };
      const insert = (orgId: string, digest: string) =>
        ruleBrokenBy((tx) =>
          tx
            .insertInto('apiKeys')
            .values({ ...key, orgId, id: 'k1', digest })
            .execute(),
        );
      expect([await insert('org-a', seal), await insert('org-b', seal)]).toEqual(['none', 'unique']);
      expect(await insert('org-b', 'short')).toBe('value');
    });

    test('an event goes to an endpoint once, and its body never changes', async () => {
      await store.write(async (tx) => {
        const event = { orgId: 'org-a', id: 'event', type: 'customer.created' as const, body: '{}', createdAt: at };
        await tx.insertInto('webhookEvents').values(event).execute();
        const endpoint = { orgId: 'org-a', id: 'endpoint', url: 'https://example.com', secret: 'secret' };
        const rest = { isEnabled: true, allowPrivate: false, createdAt: at, updatedAt: at };
        await tx
          .insertInto('webhookEndpoints')
          .values({ ...endpoint, ...rest })
          .execute();
      });
      const insert = (id: string) =>
        ruleBrokenBy((tx) =>
          tx
            .insertInto('webhookDeliveries')
            .values({
              orgId: 'org-a',
              id,
              eventId: 'event',
              endpointId: 'endpoint',
              status: 'pending',
              attempts: 0,
              createdAt: at,
            })
            .execute(),
        );
      expect([await insert('d1'), await insert('d2')]).toEqual(['none', 'unique']);
      const body = '{"other":1}' as never;
      expect(await ruleBrokenBy((tx) => tx.updateTable('webhookEvents').set({ body }).execute())).toBe('appendOnly');
    });

    test('an event changes by a new version alone, and neither it nor a version of it is removed', async () => {
      await store.write(async (tx) => {
        await store.events.append(tx, 'org-a', [eventOf('k')], () => true);
        await store.events.append(tx, 'org-a', [eventOf('k', { eventName: 'other' })], () => true);
      });
      const run = (text: string) => ruleBrokenBy(async (tx) => await rowsOfText(tx, text));
      for (const change of [
        `"propertiesJson" = '{}'`,
        `"propertiesJson" = '{}', "version" = "version" - 1`,
        `"version" = "version" + 1, "idempotencyKey" = 'other'`,
        `"version" = "version" + 1, "seq" = "seq" + 1`,
      ]) {
        expect({ change, rule: await run(`UPDATE "events" SET ${change}`) }).toEqual({ change, rule: 'appendOnly' });
      }
      expect(await run('DELETE FROM "events"')).toBe('appendOnly');
      expect(await run('DELETE FROM "eventVersions"')).toBe('appendOnly');
      expect(await run(`UPDATE "eventVersions" SET "propertiesJson" = '{}'`)).toBe('appendOnly');
    });
  });
}
