/** What is pulled of a contract where a service tells little: whose it is, where only the list of all invoices says so. */

import { expect, test } from 'vitest';

import { createPullSource } from '../../../src/cli/pull/source.ts';
import { UnavailableError } from '../../../src/errors.ts';
import type { Billing } from '../../../src/operations/index.ts';
import type { CallInput } from '../../../src/operations/operation.ts';

/** A source at a service whose list of all invoices comes in these pages; `undefined` is a failure. */
function sourceOf(pages: readonly (object | undefined)[], others: Readonly<Record<string, object>> = {}) {
  const asked: string[] = [];
  const call = async (name: string, { query }: CallInput = {}) => {
    const answers: Record<string, object> = {
      'credits.ledger': { data: { entries: [] } },
      'budgets.usage': { data: {} },
      'usage.cost': {
        startDate: '2026-01-01T00:00:00Z',
        endDate: '2026-01-01T00:00:00Z',
        queriedAt: '2026-01-05T00:00:00Z',
      },
      'customers.get': { data: { id: 'acme' } },
      'pricing.list': { data: [], hasMore: false },
      ...others,
    };
    if (name !== 'invoices.list') return await Promise.resolve({ status: 200, body: answers[name] });
    if (query?.['customerId'] !== undefined) return { status: 200, body: { data: [], hasMore: false } };
    const page = pages[asked.length];
    asked.push(String(query?.['offset']));
    if (page === undefined) throw new UnavailableError('not now');
    return { status: 200, body: page };
  };
  const source = createPullSource({ call } as Billing, { hasContracts: false, onWait: () => undefined });
  return { asked, source, ownerOf: async (contractId: string) => (await source.contract({ contractId })).customerId };
}

const invoice = (id: string, contractId: string) => ({ id, contractId, customerId: 'acme' });

test('the list is read no further than it tells, and once', async () => {
  const pages = [
    { data: [invoice('1', 'a')], total: 2, hasMore: true },
    { data: [invoice('2', 'b')], total: 2, hasMore: false },
  ];
  const { asked, ownerOf } = sourceOf(pages);
  expect([await ownerOf('a'), asked]).toEqual(['acme', ['0']]);
  expect([await ownerOf('b'), await ownerOf('none'), asked]).toEqual(['acme', undefined, ['0', '1']]);
});

test('a list that failed is read again', async () => {
  const first = { data: [invoice('1', 'a')], total: 2, hasMore: true };
  const { asked, ownerOf } = sourceOf([
    first,
    undefined,
    first,
    { data: [invoice('2', 'b')], total: 2, hasMore: false },
  ]);
  await expect(ownerOf('b')).rejects.toThrow('not now');
  expect([await ownerOf('b'), asked]).toEqual(['acme', ['0', '1', '0', '1']]);
});

test.each([
  ['gives its first page for ever', { data: [invoice('1', 'a')], total: 2, hasMore: true }],
  ['breaks off', { data: [], total: 2, hasMore: true }],
])('a list that %s passes for no whole one', async (_what, next) => {
  const { asked, ownerOf } = sourceOf([{ data: [invoice('1', 'a')], total: 2, hasMore: true }, next]);
  await expect(ownerOf('b')).rejects.toMatchObject({ kind: 'network' });
  expect(asked).toEqual(['0', '1']);
});

test('a service that leaves out the items of a plan and the range of a cost is pulled without them', async () => {
  const { source } = sourceOf([], { 'plans.get': { data: { id: 'p' } }, 'usage.cost': { totalAmount: 0 } });
  const { records } = await source.contract({ contractId: 'a', customerId: 'acme', planId: 'p' });
  expect(records.map(({ kind, body }) => [kind, body])).toContainEqual(['plan', { id: 'p' }]);
  expect(records.map(({ kind, body }) => [kind, body])).toContainEqual([
    'contract',
    { id: 'a', customerId: 'acme', planId: 'p' },
  ]);
});
