/** What every backend must keep, run on each: keys, references, frozen rows, exact numbers, transactions. */

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import type { Transaction } from '../../src/store/database.ts';
import type { Store } from '../../src/store/store.ts';
import { at, contractRow, entryRow, insertTwoOrganizations, invoiceRow, row, ruleBroken } from './rows.ts';

export function describeDatabase(backend: string, open: () => Promise<Store>): void {
  describe(`a database on ${backend}`, () => {
    let store: Store;

    beforeEach(async () => {
      store = await open();
      await store.write(insertTwoOrganizations);
    });
    afterEach(() => store.close());

    const ruleBrokenBy = async (change: (tx: Transaction) => Promise<unknown>) => await ruleBroken(store, change);

    async function customerNames(orgId: string): Promise<readonly string[]> {
      const query = (tx: Transaction) =>
        tx.selectFrom('customers').select('name').where('orgId', '=', orgId).orderBy('seq').execute();
      return (await store.read(query)).map(({ name }) => name);
    }

    describe('organizations', () => {
      test('two of them may use the same ids for different rows', async () => {
        await store.write((tx) =>
          tx.updateTable('customers').set({ name: 'changed' }).where('orgId', '=', 'org-a').execute(),
        );
        expect(await customerNames('org-b')).toEqual(['customer']);
      });

      test("a contract cannot name another organization's customer", async () => {
        const contract = contractRow('org-b', 'second', 'only-in-a');
        expect(await ruleBrokenBy((tx) => tx.insertInto('contracts').values(contract).execute())).toBe('reference');
      });

      test("an entry cannot draw on another organization's grant", async () => {
        await store.write((tx) => tx.insertInto('ledgerEntries').values(entryRow('grant')).execute());
        const usage = entryRow('usage', { orgId: 'org-b', type: 'usage', grantEntryId: 'grant' });
        expect(await ruleBrokenBy((tx) => tx.insertInto('ledgerEntries').values(usage).execute())).toBe('reference');
      });

      test("an entry cannot draw on another contract's grant", async () => {
        await store.write((tx) =>
          tx
            .insertInto('contracts')
            .values(contractRow('org-a', 'second', 'customer'))
            .execute(),
        );
        await store.write((tx) => tx.insertInto('ledgerEntries').values(entryRow('grant')).execute());
        const usage = entryRow('usage', { contractId: 'second', type: 'usage', grantEntryId: 'grant' });
        expect(await ruleBrokenBy((tx) => tx.insertInto('ledgerEntries').values(usage).execute())).toBe('reference');
      });
    });

    describe('unique keys', () => {
      test('an external customer id is linked once in an organization, and again in another', async () => {
        const linked = (orgId: string, id: string) => ({ ...row.customer(orgId, id), externalCustomerId: 'crm-1' });
        await store.write((tx) => tx.insertInto('customers').values(linked('org-a', 'c1')).execute());
        expect(await ruleBrokenBy((tx) => tx.insertInto('customers').values(linked('org-b', 'c1')).execute())).toBe(
          'none',
        );
        expect(await ruleBrokenBy((tx) => tx.insertInto('customers').values(linked('org-a', 'c2')).execute())).toBe(
          'unique',
        );
      });

      test('an external customer id is compared byte for byte', async () => {
        const linked = (id: string, externalCustomerId: string) => ({
          ...row.customer('org-a', id),
          externalCustomerId,
        });
        await store.write((tx) => tx.insertInto('customers').values(linked('c1', 'Acme')).execute());
        expect(await ruleBrokenBy((tx) => tx.insertInto('customers').values(linked('c2', 'ACME')).execute())).toBe(
          'none',
        );
      });

      test('a payment provider needs its customer id', async () => {
        const halfLinked = { ...row.customer('org-a', 'c1'), paymentProvider: 'stripe' };
        expect(await ruleBrokenBy((tx) => tx.insertInto('customers').values(halfLinked).execute())).toBe('value');
      });

      test('a grant of one external id exists once in a contract', async () => {
        const grant = (id: string) => entryRow(id, { externalId: 'ticket-7' });
        await store.write((tx) => tx.insertInto('ledgerEntries').values(grant('g1')).execute());
        expect(await ruleBrokenBy((tx) => tx.insertInto('ledgerEntries').values(grant('g2')).execute())).toBe('unique');
      });

      test('an entry is reversed at most once', async () => {
        const reversal = (id: string) => entryRow(id, { type: 'reversal', reversesEntryId: 'grant' });
        await store.write((tx) =>
          tx
            .insertInto('ledgerEntries')
            .values([entryRow('grant'), reversal('r1')])
            .execute(),
        );
        expect(await ruleBrokenBy((tx) => tx.insertInto('ledgerEntries').values(reversal('r2')).execute())).toBe(
          'unique',
        );
      });

      test('a contract has one invoice for a period, and an organization one invoice of a number', async () => {
        await store.write((tx) => tx.insertInto('invoices').values(invoiceRow('org-a', 'i1')).execute());
        const samePeriod = invoiceRow('org-a', 'i2');
        const sameNumber = invoiceRow('org-a', 'i2', { number: 'i1', periodIndex: 1 });
        expect(await ruleBrokenBy((tx) => tx.insertInto('invoices').values(samePeriod).execute())).toBe('unique');
        expect(await ruleBrokenBy((tx) => tx.insertInto('invoices').values(sameNumber).execute())).toBe('unique');
      });

      test('the code of an archived meter may be used again, and that of an unarchived one may not', async () => {
        const meter = (id: string) => ({
          orgId: 'org-a',
          id,
          code: 'TOKENS',
          displayName: 'Tokens',
          aggregationType: 'COUNT' as const,
          eventTypeFilter: '{}',
          propertyFilters: '[]',
          groupKeys: '[]',
          status: 'active' as const,
          createdAt: at,
          updatedAt: at,
        });
        await store.write((tx) => tx.insertInto('meters').values(meter('m1')).execute());
        expect(await ruleBrokenBy((tx) => tx.insertInto('meters').values(meter('m2')).execute())).toBe('unique');
        await store.write((tx) => tx.updateTable('meters').set({ archivedAt: at }).where('id', '=', 'm1').execute());
        expect(await ruleBrokenBy((tx) => tx.insertInto('meters').values(meter('m2')).execute())).toBe('none');
      });
    });

    describe('frozen rows', () => {
      beforeEach(async () => {
        await store.write(async (tx) => {
          await tx
            .insertInto('ledgerEntries')
            .values(entryRow('grant', { amountCents: 500n }))
            .execute();
          await tx.insertInto('invoices').values(invoiceRow('org-a', 'i1')).execute();
          await tx.insertInto('invoiceLines').values(line).execute();
        });
      });

      const line = {
        orgId: 'org-a',
        invoiceId: 'i1',
        position: 0,
        id: 'line',
        lineKey: 'item',
        kind: 'fixed' as const,
        name: 'Seat',
        description: '',
        quantity: '1',
        unitPrice: '1',
        unitPriceCents: 100n,
        totalAmount: '1',
        totalCents: 100n,
        serviceStart: at,
        serviceEnd: '2026-02-01T00:00:00.000Z',
      };

      test('a ledger entry can neither be changed nor removed', async () => {
        const description = 'changed' as never;
        expect(await ruleBrokenBy((tx) => tx.updateTable('ledgerEntries').set({ description }).execute())).toBe(
          'appendOnly',
        );
        expect(await ruleBrokenBy((tx) => tx.deleteFrom('ledgerEntries').execute())).toBe('appendOnly');
      });

      test('a line of an invoice can neither be changed nor removed', async () => {
        const name = 'changed' as never;
        expect(await ruleBrokenBy((tx) => tx.updateTable('invoiceLines').set({ name }).execute())).toBe('appendOnly');
        expect(await ruleBrokenBy((tx) => tx.deleteFrom('invoiceLines').execute())).toBe('appendOnly');
      });

      test.each([
        ['grant', 'none'],
        ['grant of org-b', 'reference'],
        ['nothing', 'reference'],
      ] as const)('a line of an invoice may name a grant of its organization; %s: %s', async (grantId, rule) => {
        const foreign = entryRow('grant of org-b', { orgId: 'org-b' });
        await store.write((tx) => tx.insertInto('ledgerEntries').values(foreign).execute());
        const ofGrant = { ...line, position: 1, id: 'line of a grant', kind: 'prepaid', grantId } as const;
        expect(await ruleBrokenBy((tx) => tx.insertInto('invoiceLines').values(ofGrant).execute())).toBe(rule);
      });

      test('a draft changes until it is finalized; then its amount stays and its status moves on', async () => {
        const set = (changes: object) => ruleBrokenBy((tx) => tx.updateTable('invoices').set(changes).execute());
        expect(await set({ totalCents: 250n })).toBe('none');
        expect(await set({ status: 'In Progress', number: 'INV-000001', finalizedAt: at })).toBe('none');
        expect(await set({ totalCents: 100n })).toBe('appendOnly');
        expect(await set({ number: 'INV-000002' })).toBe('appendOnly');
        expect(await set({ finalizedAt: null })).toBe('appendOnly');
        expect(await set({ status: 'Paid', latestPaymentDate: '2026-03-01' })).toBe('none');
        expect(await ruleBrokenBy((tx) => tx.deleteFrom('invoices').execute())).toBe('appendOnly');
      });
    });

    describe('values', () => {
      test.each([0n, 1n, -1n, 10n ** 15n, -(10n ** 15n), 999_999_999_999_999n])(
        '%s cents come back as they went in',
        async (amountCents) => {
          const entry = entryRow('e', { type: 'adjustment', amountCents, creditMicros: amountCents * 1000n });
          await store.write((tx) => tx.insertInto('ledgerEntries').values(entry).execute());
          const stored = await store.read((tx) =>
            tx.selectFrom('ledgerEntries').select(['amountCents', 'creditMicros']).executeTakeFirst(),
          );
          expect(stored).toEqual({ amountCents, creditMicros: amountCents * 1000n });
        },
      );

      test('a sum beyond 2^53 stays exact', async () => {
        const balance = 2n ** 62n + 1n;
        await store.write((tx) =>
          tx
            .insertInto('ledgerEntries')
            .values(entryRow('e', { creditBalanceAfterMicros: balance }))
            .execute(),
        );
        const stored = await store.read((tx) =>
          tx.selectFrom('ledgerEntries').select('creditBalanceAfterMicros').executeTakeFirstOrThrow(),
        );
        expect(stored.creditBalanceAfterMicros).toBe(balance);
      });

      test.each([0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])(
        'the number %s is refused where a count belongs',
        async (value) => {
          const change = store.write((tx) =>
            tx.updateTable('organizations').set({ nextInvoiceNumber: value }).execute(),
          );
          await expect(change).rejects.toThrow('not a safe integer');
        },
      );

      test('a whole number and a boolean may be given; they are read as bigint', async () => {
        await store.write((tx) =>
          tx.updateTable('organizations').set({ nextInvoiceNumber: 7, salesTaxEnabled: true }).execute(),
        );
        const stored = await store.read((tx) =>
          tx.selectFrom('organizations').select(['nextInvoiceNumber', 'salesTaxEnabled']).executeTakeFirst(),
        );
        expect(stored).toEqual({ nextInvoiceNumber: 7n, salesTaxEnabled: 1n });
      });

      test.each([
        ['an instant without milliseconds', { createdAt: '2026-01-01T00:00:00Z' }],
        ['cents above 10^15', { amountCents: 10n ** 15n + 1n }],
        ['a grant below zero', { amountCents: -1n }],
        ['a balance below zero', { balanceAfterCents: -1n }],
        ['usage above zero', { type: 'usage' as const, grantEntryId: 'grant', amountCents: 1n }],
        ['usage that names no grant', { type: 'usage' as const }],
        ['metadata that is no JSON', { metadata: '{' }],
        ['an unknown type', { type: 'gift' as never }],
      ])('%s is refused in the ledger', async (_, changes) => {
        await store.write((tx) => tx.insertInto('ledgerEntries').values(entryRow('grant')).execute());
        expect(
          await ruleBrokenBy((tx) => tx.insertInto('ledgerEntries').values(entryRow('e', changes)).execute()),
        ).toBe('value');
      });

      test('text comes back as it went in, whatever it holds', async () => {
        const name = `O'Brien "; DROP TABLE customers; -- é 😀 \u202e`;
        await store.write((tx) => tx.updateTable('customers').set({ name }).where('orgId', '=', 'org-b').execute());
        expect(await customerNames('org-b')).toEqual([name]);
      });
    });

    describe('transactions', () => {
      const rename = (tx: Transaction, name: string) =>
        tx.updateTable('customers').set({ name }).where('orgId', '=', 'org-b').execute();

      test('a write that throws leaves nothing behind', async () => {
        const change = store.write(async (tx) => {
          await rename(tx, 'half done');
          throw new Error('the other half failed');
        });
        await expect(change).rejects.toThrow('the other half failed');
        expect(await customerNames('org-b')).toEqual(['customer']);
      });

      test('a write after one that failed works', async () => {
        await ruleBrokenBy((tx) => tx.insertInto('customers').values(row.customer('nobody', 'c')).execute());
        await store.write((tx) => rename(tx, 'after'));
        expect(await customerNames('org-b')).toEqual(['after']);
      });

      test('writes that are asked for at once happen one after another, in their order', async () => {
        const order: string[] = [];
        const append = (name: string) =>
          store.write(async (tx) => {
            order.push(`${name} begins`);
            await rename(tx, name);
            order.push(`${name} ends`);
          });
        await Promise.all([append('1'), append('2'), append('3')]);
        expect(order).toEqual(['1 begins', '1 ends', '2 begins', '2 ends', '3 begins', '3 ends']);
        expect(await customerNames('org-b')).toEqual(['3']);
      });

      test('a read cannot write', async () => {
        await expect(store.read((tx) => rename(tx, 'sneaked in'))).rejects.toThrow('read-only');
        expect(await customerNames('org-b')).toEqual(['customer']);
      });

      test('a transaction inside another is refused instead of waiting for itself', async () => {
        await expect(store.write(() => store.write(async () => {}))).rejects.toThrow('inside another');
        await expect(store.read(() => store.read(async () => {}))).rejects.toThrow('inside another');
      });

      test('a transaction that has ended cannot be used', async () => {
        let leaked: Transaction | undefined;
        await store.write(async (tx) => {
          leaked = tx;
        });
        await expect(rename(leaked as Transaction, 'too late')).rejects.toThrow('already committed');
      });

      test('closing waits for what is running, and nothing can be asked for afterwards', async () => {
        const order: string[] = [];
        const written = store.write(async (tx) => {
          await rename(tx, 'last words');
          order.push('written');
        });
        const closed = store.close().then(() => order.push('closed'));
        await Promise.all([written, closed]);
        expect(order).toEqual(['written', 'closed']);
        await expect(customerNames('org-b')).rejects.toThrow('destroyed');
      });
    });
  });
}
