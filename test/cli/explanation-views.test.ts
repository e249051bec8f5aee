import { describe, expect, test } from 'vitest';

import { render } from '../../src/cli/output/output.ts';
import { testTerminal } from '../support/test-terminal.ts';
import { operations } from '../../src/operations/all.ts';

const { stdout } = testTerminal({ isTerminal: true });

const line = {
  id: 'line',
  kind: 'metered',
  name: 'Tokens',
  description: 'Inference',
  servicePeriod: { start: '2026-03-01T00:00:00.000Z', end: '2026-04-01T00:00:00.000Z' },
  quantity: 10,
  breakdown: [],
  unitPrice: '0.01',
  exactAmount: '0.1',
  roundingAmount: '0',
  totalAmountCents: 10,
  grants: [],
};
const invoice = {
  invoiceId: 'invoice',
  invoiceNumber: 'INV-000001',
  status: 'In Progress',
  customerId: 'customer',
  contractId: 'contract',
  basis: 'frozen',
  asOf: '2026-04-01T00:00:00.000Z',
  period: { start: '2026-03-01', end: '2026-04-01' },
  totalCents: 10,
  lines: [line],
  grants: [],
  lateEventCount: 0,
  disagreements: [],
};

async function draw(data: unknown, columns?: readonly string[]): Promise<string> {
  const { view } = operations['invoices.explain'];
  return await render({ data }, view, { choice: { format: 'table', columns }, fields: [], stdout });
}

/** The lines behind a label. */
async function field(label: string, data: unknown): Promise<string[]> {
  const lines = (await draw(data)).split('\n');
  const start = lines.findIndex((each) => each.trim().startsWith(`${label} `));
  if (start === -1) return [];
  const end = lines.findIndex((each, index) => index > start && !/^ {4,}/.test(each));
  return lines.slice(start, end).map((each) => each.trim().replace(new RegExp(`^${label} +`), ''));
}

describe('an explained invoice on a terminal', () => {
  test.each([
    [{ basis: 'live' }, ['of a draft, computed at 2026-04-01T00:00:00Z']],
    [{ basis: 'none' }, ['cancelled before it was finalized: it bills nothing']],
    [{}, ['frozen at 2026-04-01T00:00:00Z; events and prices give the same today']],
    [{ disagreements: ['x'] }, ['frozen at 2026-04-01T00:00:00Z; events and prices do NOT give the same today']],
  ])('says what its figures are: %j', async (change, expected) => {
    expect(await field('figures', { ...invoice, ...change })).toEqual(expected);
  });

  test('lists every difference below the other', async () => {
    expect(await field('differs', { ...invoice, disagreements: ['one', 'two'] })).toEqual(['one', 'two']);
  });

  test.each([
    [
      'price',
      { price: { pricingId: 'p', source: 'price', tiering: 'NONE', unitAmount: '0.01' } },
      '0.01 USD a unit: the price itself (p)',
    ],
    [
      'price',
      { price: { pricingId: 'p', source: 'fallback', tiering: 'NONE', unitAmount: '0.01' } },
      '0.01 USD a unit: the fallback of the rate card (p)',
    ],
    [
      'price',
      { price: { pricingId: 'p', source: 'price', tiering: 'NONE', unitAmount: '2', flatAmount: '5' } },
      '2 USD a unit, 5 USD flat: the price itself (p)',
    ],
    ['price', { price: { pricingId: 'p', source: 'price', tiering: 'VOLUME' } }, 'volume tiers: the price itself (p)'],
    ['prorated', { proration: { daysUsed: 10, daysWhole: 31 } }, '10 of 31 days'],
    ['amount', { exactAmount: '0.095', roundingAmount: '0.005' }, '0.095 USD, rounded half-up to 0.10 USD (0.005)'],
    ['amount', {}, '0.1 USD, nothing to round'],
    ['quantity', { meteredQuantity: -4, quantity: 0 }, '0, since the meter read -4'],
    ['quantity', { meteredQuantity: 10, dimensions: { model: 'large' } }, '10 of model=large'],
  ])('%s of %j', async (label, change, expected) => {
    expect(await field(label, { ...invoice, lines: [{ ...line, ...change }] })).toEqual([expected]);
  });

  test('says which grants paid, in cents and credits, and by which entries', async () => {
    const grants = [
      { grantId: 'g', rank: 2, appliedCents: 6, creditAmount: 0.6, why: 'paid all of it', entryIds: ['e'] },
    ];
    const [first, rest] = [
      { from: 1, to: 1 },
      { from: 3, to: 9 },
    ];
    const unusedGrants = [{ why: 'had nothing left', ranks: [first, rest] }];
    const lines = [{ ...line, creditCents: 6, overageCents: 4, grants, unusedGrants }];
    expect(await field('credits', { ...invoice, lines })).toEqual([
      '0.06 USD',
      '2. g  0.06 USD (0.6 credits)  paid all of it, in e',
      '1, 3 to 9. 0.00 USD  had nothing left',
    ]);
    expect(await field('to pay', { ...invoice, lines })).toEqual(['0.04 USD']);
  });

  test('says how many events it does not show', async () => {
    const event = { idempotencyKey: 'r1', eventName: 'call', timestamp: '2026-03-02T00:00:00.000Z', value: 9 };
    const usage = {
      meterCode: 'SEATS',
      aggregationType: 'SUM',
      aggregationKey: 'seats',
      eventCount: 7,
      skippedCount: 2,
      withoutKeyCount: 1,
      firstAt: '2026-03-02T00:00:00.000Z',
      lastAt: '2026-03-09T00:00:00.000Z',
      sample: [event],
    };
    expect(await field('events', { ...invoice, lines: [{ ...line, usage }] })).toEqual([
      '7 events, 2026-03-02T00:00:00Z to 2026-03-09T00:00:00Z: SUM of seats by meter SEATS',
      '2 events skipped: not a number, or out of range',
      '1 event without seats',
      '2026-03-02T00:00:00Z  call  9  r1',
      'and 6 more',
    ]);
    const maximum = { ...usage, aggregationType: 'MAX', skippedCount: 0, withoutKeyCount: 0, decidedBy: event };
    expect((await field('events', { ...invoice, lines: [{ ...line, usage: maximum }] })).slice(1)).toEqual([
      '2026-03-02T00:00:00Z  call  9  r1',
      'which decides over 6 more',
    ]);
  });

  test('shows what others have written without letting it act on the terminal', async () => {
    const text = await draw({ ...invoice, lines: [{ ...line, description: 'a\u001b[31mb\nc\u202e' }] });
    expect(text).toContain('a\\u{1b}[31mb\\u{a}c\\u{202e}');
  });

  test('gives way to a table where columns are asked for', async () => {
    expect(await draw(invoice, ['name', 'exactAmount'])).toBe('NAME    EXACT USD\nTokens        0.1\n');
  });
});
