/** Lists page by page, on each backend: what a page has found out is of use to the next one only while it is still so. */

import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import type { InvoiceStatus } from '../../src/operations/invoices.ts';
import type { Transaction } from '../../src/store/database.ts';
import { listInvoices } from '../../src/store/records/invoice-pages.ts';
import type { Store } from '../../src/store/store.ts';
import { contractRow, eventOf, insertTwoOrganizations, invoiceRow, row } from './rows.ts';

/** Both of one database. */
export type OpenTwo = () => Promise<readonly [Store, Store]>;

interface Kept {
  readonly id: string;
  readonly createdAt: string;
  status: InvoiceStatus;
}

const statuses = ['Drafted', 'Cancelled'] as const;
const instants = [1, 2, 3].map((day) => `2026-01-0${day}T00:00:00.000Z`);

const story = fc.array(
  fc.record({
    by: fc.nat({ max: 1 }),
    step: fc.oneof(
      {
        weight: 3,
        arbitrary: fc.record({
          add: fc.constantFrom(...instants),
          isUndone: fc.nat({ max: 4 }).map((chance) => chance === 0),
        }),
      },
      { weight: 1, arbitrary: fc.record({ turn: fc.nat({ max: 20 }) }) },
      {
        weight: 5,
        arbitrary: fc.record({
          limit: fc.integer({ min: 1, max: 3 }),
          offset: fc.nat({ max: 8 }),
          status: fc.option(fc.constantFrom(...statuses), { nil: undefined }),
          /** Reads on in the list that was read last, instead. */
          isNext: fc.boolean(),
        }),
      },
    ),
  }),
  { minLength: 10, maxLength: 40 },
);

const eventNames = ['read', 'write'] as const;

const eventStory = fc.array(
  fc.record({
    by: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constant(1) }),
    step: fc.oneof(
      {
        weight: 1,
        arbitrary: fc.record({
          send: fc.subarray([...'abcdefghijkl'], { minLength: 1, maxLength: 4 }),
          eventName: fc.constantFrom(...eventNames),
        }),
      },
      {
        weight: 4,
        arbitrary: fc.record({
          limit: fc.integer({ min: 1, max: 2 }),
          offset: fc.nat({ max: 3 }),
          eventName: fc.option(fc.constantFrom(...eventNames), { nil: undefined, freq: 2 }),
          /** Reads on in the list that was read last, instead. */
          isNext: fc.nat({ max: 3 }).map((chance) => chance > 0),
        }),
      },
    ),
  }),
  { minLength: 20, maxLength: 40 },
);

export function describePages(backend: string, openTwo: OpenTwo, { runs }: { readonly runs: number }): void {
  describe(`lists on ${backend}`, () => {
    let stores: readonly [Store, Store];
    let added = 0;

    beforeEach(async () => {
      stores = await openTwo();
      await stores[0].write(insertTwoOrganizations);
    });
    afterEach(async () => {
      for (const store of stores) await store.close();
    });

    test.each([
      ['nobody', [], ['two', 'one']],
      ['this process', [0], ['three', 'two']],
      ['another process', [1], ['three', 'two']],
      ['both', [0, 1], ['four', 'three']],
    ] as const)('a page behind which %s has added to the list begins at its offset', async (_by, writers, expected) => {
      const read = async (offset: number) =>
        await stores[0].read((tx) => listInvoices(tx, 'org-a', { limit: 2, offset }));
      const names = ['one', 'two', 'three', 'four'];
      for (const id of names) await add(stores[0], id);
      expect((await read(0)).rows.map(({ id }) => id)).toEqual(['four', 'three']);
      for (const by of writers) await add(stores[by], `five-${by}`);
      const { rows, total } = await read(2);
      expect(rows.map(({ id }) => id)).toEqual(expected);
      expect(total).toBe(names.length + writers.length);
    });

    test('no page begins where one ended in a write that was undone', async () => {
      for (const id of ['one', 'two']) await add(stores[0], id);
      const writing = stores[0].write(async (tx) => {
        await insert(tx, 'undone');
        await listInvoices(tx, 'org-a', { limit: 1, offset: 0 });
        throw new Error('undone');
      });
      await expect(writing).rejects.toThrow('undone');
      const { rows, total } = await stores[0].read((tx) => listInvoices(tx, 'org-a', { limit: 1, offset: 1 }));
      expect({ ids: rows.map(({ id }) => id), total }).toEqual({ ids: ['one'], total: 2 });
    });

    async function add(store: Store, id: string): Promise<void> {
      await store.write(async (tx) => await insert(tx, id));
    }

    async function insert(tx: Transaction, id: string): Promise<void> {
      const periodIndex = added++;
      await tx
        .insertInto('invoices')
        .values(invoiceRow('org-a', id, { number: id, periodIndex }))
        .execute();
    }

    test('a page is what its offset says, whoever has read or written what before', async () => {
      let run = 0;
      await fc.assert(
        fc.asyncProperty(story, async (steps) => {
          run += 1;
          const customerId = `customer-${run}`;
          const contractId = `contract-${run}`;
          await stores[0].write(async (tx) => {
            await tx.insertInto('customers').values(row.customer('org-a', customerId)).execute();
            await tx
              .insertInto('contracts')
              .values(contractRow('org-a', contractId, customerId))
              .execute();
          });
          const all: Kept[] = [];
          let last: { readonly status?: InvoiceStatus | undefined; readonly end: number } = { end: 0 };
          for (const [place, { by, step }] of steps.entries()) {
            const store = stores[by] ?? stores[0];
            if ('add' in step) {
              const added = { id: `${contractId}-${place}`, createdAt: step.add, status: statuses[0] };
              const owner = { customerId, contractId };
              const invoice = { ...added, ...owner, number: added.id, periodIndex: place, updatedAt: step.add };
              const writing = store.write(async (tx) => {
                await tx
                  .insertInto('invoices')
                  .values(invoiceRow('org-a', added.id, invoice))
                  .execute();
                // What is read before it is undone may not be kept.
                await listInvoices(tx, 'org-a', { customerId, limit: 1, offset: 0 });
                if (step.isUndone) throw new Error('undone');
              });
              await writing.catch((error: unknown) => expect(error).toEqual(new Error('undone')));
              if (!step.isUndone) all.push(added);
            } else if ('turn' in step) {
              const turned = all[step.turn % all.length];
              if (turned === undefined) continue;
              turned.status = turned.status === 'Drafted' ? 'Cancelled' : 'Drafted';
              await store.write((tx) =>
                tx.updateTable('invoices').set({ status: turned.status }).where('id', '=', turned.id).execute(),
              );
            } else {
              const { limit } = step;
              const { status, offset } = step.isNext ? { ...last, offset: last.end } : step;
              const page = await store.read((tx) => listInvoices(tx, 'org-a', { customerId, status, limit, offset }));
              const list = newestFirst(all).filter((invoice) => status === undefined || invoice.status === status);
              const ids = page.rows.map(({ id }) => id);
              expect({ ids, total: page.total }).toEqual({
                ids: list.slice(offset, offset + limit).map(({ id }) => id),
                total: list.length,
              });
              last = { status, end: offset + ids.length };
            }
          }
        }),
        { numRuns: runs },
      );
    });

    test('a page of events is what its offset says, whoever has read or sent what before', async () => {
      let run = 0;
      await fc.assert(
        fc.asyncProperty(eventStory, async (steps) => {
          run += 1;
          const fromEpochMs = run * 1_000;
          const span = { orgId: 'org-a', fromEpochMs, toEpochMs: fromEpochMs + 1 };
          const sent = new Map<string, string>();
          let last: { readonly eventName?: string | undefined; readonly end: number } = { end: 0 };
          for (const { by, step } of steps) {
            const store = stores[by] ?? stores[0];
            if ('send' in step) {
              const { send, eventName } = step;
              const keys = send.map((key) => `${run}-${key}`);
              const batch = keys.map((key) => eventOf(key, { eventName, timestampEpochMs: fromEpochMs }));
              await store.write(async (tx) => await store.events.append(tx, 'org-a', batch, () => true));
              // A replaced one keeps its place.
              for (const key of keys) sent.set(key, eventName);
              continue;
            }
            const { limit } = step;
            const { eventName, offset } = step.isNext ? { ...last, offset: last.end } : step;
            const page = await store.read((tx) => store.events.list(tx, { ...span, eventName, limit, offset }));
            const all = [...sent].filter(([, name]) => eventName === undefined || name === eventName).toReversed();
            const keys = page.rows.map(({ idempotencyKey }) => idempotencyKey);
            expect({ keys, total: page.total }).toEqual({
              keys: all.slice(offset, offset + limit).map(([key]) => key),
              total: all.length,
            });
            last = { eventName, end: offset + keys.length };
          }
        }),
        { numRuns: runs },
      );
    });
  });
}

/** Later ones of one instant go first. */
function newestFirst(invoices: readonly Kept[]): Kept[] {
  return invoices.toReversed().toSorted((one, other) => other.createdAt.localeCompare(one.createdAt));
}
