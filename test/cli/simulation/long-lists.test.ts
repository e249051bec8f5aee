/** Customers that are larger than others: no list is too long, and nothing is compared with everything beside it. */

import { describe, expect, test } from 'vitest';

import { compare } from '../../../src/cli/simulation/comparison.ts';
import type { ComparedCustomer } from '../../../src/cli/simulation/comparison.ts';
import { drawComparison } from '../../../src/cli/simulation/comparison-chart.ts';
import { readHistory } from '../../../src/cli/simulation/history.ts';
import type { History } from '../../../src/cli/simulation/history.ts';
import { historyCatalogOf } from '../../../src/cli/simulation/mirror-catalog.ts';
import { createNames } from '../../../src/cli/simulation/references.ts';
import { replay } from '../../../src/cli/simulation/replay.ts';
import type { Replayed } from '../../../src/cli/simulation/replay.ts';
import { reportOf } from '../../../src/cli/simulation/report.ts';
import { readScenario } from '../../../src/cli/simulation/scenario.ts';
import type { Dependencies } from '../../../src/cli/session/session.ts';
import type { Billing } from '../../../src/operations/index.ts';

/** More than a function takes arguments. */
const many = 130_000;

/** A service of one customer with one contract, and so many invoices and entries. */
const billing = {
  call: (name: string) => Promise.resolve({ body: answers[name] ?? { data: [], hasMore: false } }),
} as unknown as Billing;
const numbered = (more: object) => Array.from({ length: many }, (_, index) => ({ id: String(index), ...more }));
const answers: Readonly<Record<string, object>> = {
  'customers.list': { data: [{ id: 'acme', name: 'Acme Inc', metadata: {} }], hasMore: false },
  'invoices.list': { data: numbered({ contractId: 'none' }), hasMore: false },
  'credits.ledger': { data: { entries: numbered({ type: 'usage', createdAt: '2026-03-01T00:00:00.000Z' }) } },
  'credits.balance': { data: { balance: {} } },
  'budgets.usage': { data: { budgets: [] } },
};

test('invoices of many customers are compared by looking at each some times', () => {
  let looks = 0;
  const ids = Array.from({ length: 200 }, (_, index) => String(index));
  const invoices = ids.map((id) => ({
    get customerId() {
      looks += 1;
      return id;
    },
    status: 'Paid',
    totalCents: 100,
    period: { start: '2026-03-01', end: '2026-04-01' },
  })) as unknown as History['billed'];
  const history = {
    customers: ids.map((id) => ({ id, label: id, name: id })),
    billed: invoices,
    events: [],
  } as unknown as History;
  const replayed: Replayed = {
    invoices: invoices.map((invoice, index) => ({ customerId: ids[index] ?? '', invoice })),
    notes: [],
    incomplete: new Set(),
    ungivenGrantCount: 0,
  };
  const { total } = compare(
    history,
    { before: replayed, after: replayed },
    { from: undefined, until: '2026-04-01T00:00:00.000Z', isMirror: false },
  );
  expect(total).toMatchObject({ billedCents: 20_000, beforeCents: 20_000, afterCents: 20_000 });
  expect(looks).toBeLessThan(10 * ids.length);
});

test('a grant to all customers finds their contracts by looking at each some times', async () => {
  let looks = 0;
  const ids = Array.from({ length: 200 }, (_, index) => String(index));
  const day = '2026-03-01';
  // A contract that has ended before it began is not made, so that this service needs to know nothing.
  const contracts = ids.map((id) => ({
    contract: {
      id,
      get customerId() {
        looks += 1;
        return id;
      },
      startDate: day,
      terms: { effectiveEndDate: day },
    },
    movements: [],
  }));
  const history = {
    customers: ids.map((id) => ({ id, label: id, name: id })),
    contracts,
    events: [],
    catalog: historyCatalogOf({ prices: [], plans: [], groupKeys: new Map(), rates: new Map() }, undefined),
  } as unknown as History;
  let grants = 0;
  const service = {
    call: async (name: string) => {
      if (name === 'credits.grant') grants += 1;
      return await Promise.resolve({ body: { data: name.endsWith('.list') ? [] : { failures: [] }, hasMore: false } });
    },
  };
  const opened = { engine: { as: () => service, owner: async () => await Promise.resolve() }, close: async () => {} };
  await replay(
    history,
    {
      catalog: undefined,
      startDate: undefined,
      grants: [{ customerId: undefined, amountCents: 100n, at: undefined, expiresAt: '2100-12-31T00:00:00.000Z' }],
    },
    {
      dependencies: { openEngine: async () => await Promise.resolve(opened) } as unknown as Dependencies,
      start: `${day}T00:00:00.000Z`,
      until: '2026-04-01T00:00:00.000Z',
      onProgress: () => {},
    },
  );
  expect(grants).toBe(ids.length);
  expect(looks).toBeLessThan(10 * ids.length);
});

describe('more than a function takes arguments', () => {
  test('of invoices of a customer are a history', async () => {
    const { billed } = await readHistory(billing, { only: ['acme'], until: '2026-04-01T00:00:00.000Z' });
    expect(billed).toHaveLength(many);
  });

  test('of entries of a contract are a report', async () => {
    const withContract = {
      call: (name: string) =>
        name === 'contracts.list'
          ? Promise.resolve({ body: { data: [{ id: 'c', customerId: 'acme' }], hasMore: false } })
          : billing.call(name as 'invoices.list'),
    } as unknown as Billing;
    const scenario = readScenario('start: 2026-03-01\nuntil: 2026-03-02\n', 'scenario.yaml');
    const played = { names: createNames(), steps: [], eventCount: 0, laterEventCount: 0 };
    const { ledger } = await reportOf(scenario, { billing: withContract, played, outcomes: [] });
    expect(ledger).toHaveLength(many);
  });

  test('of bars are a chart', () => {
    const cents = { billedCents: 1, beforeCents: 1, afterCents: 2, differenceCents: 1, differencePercent: 100 };
    const customers = Array.from({ length: many / 2 }, (): ComparedCustomer => ({
      customer: 'acme',
      customerId: 'acme',
      name: 'Acme Inc',
      ...cents,
    }));
    const chart = drawComparison(customers, { width: 80, hasUnicode: false, hasColor: false });
    expect(chart.trimEnd().split('\n')).toHaveLength(many);
  });
});
