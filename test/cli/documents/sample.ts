/** An invoice with everything that one can have, and what others may have put into it; and entries of a ledger. */

import type { InvoiceDocument, Line } from '../../../src/cli/documents/invoice.ts';
import type { statementOf } from '../../../src/cli/documents/statement.ts';

/** A name that would act in a page, in a terminal, and on the direction of writing. */
export const hostileName = `</title><script>alert(1)</script><img src=x onerror="alert(2)">&amp;\u202egnp.exe\u001b[2J`;
/** The same as a reader sees it. */
export const shownName = `</title><script>alert(1)</script><img src=x onerror="alert(2)">&amp;\\u{202e}gnp.exe\\u{1b}[2J`;

export function line(more: Partial<Line>): Line {
  return {
    id: 'line',
    name: 'Tokens',
    description: 'Inference (model=large)',
    quantity: 22_361_870,
    unitPriceCents: 0,
    totalAmountCents: 6709,
    unitPrice: '0.000003',
    totalAmount: '67.08561',
    servicePeriod: { start: '2026-03-01T00:00:00.000Z', end: '2026-04-01T00:00:00.000Z' },
    ...more,
  };
}

type Entry = Parameters<typeof statementOf>[0][number];

export function entry(createdAt: string, type: Entry['type'], amountCents: number, more: Partial<Entry> = {}): Entry {
  return {
    id: createdAt,
    type,
    amountCents,
    creditAmount: 0,
    creditRateCents: 0,
    currency: 'USD',
    description: `${type} of ${createdAt.slice(0, 10)}`,
    sourceType: 'promotional',
    invoiceId: null,
    grantEntryId: null,
    expiresAt: null,
    isPromotional: true,
    createdAt,
    ...more,
  };
}

export const lines = [
  line({}),
  line({ name: 'Platform fee', description: 'Platform', quantity: 1, unitPrice: '1200', totalAmountCents: 120_000 }),
  line({
    name: 'Seats',
    description: '',
    quantity: 2.5,
    unitPrice: '10',
    totalAmountCents: 2500,
    servicePeriod: { start: '2026-04-01T00:00:00.000Z', end: '2026-05-01T00:00:00.000Z' },
  }),
  line({ name: 'Credits applied', description: 'Welcome', quantity: 1, unitPrice: '-50', totalAmountCents: -5000 }),
];

export function invoiceDocument(more: Partial<InvoiceDocument['invoice']> = {}, name = 'Acme Inc'): InvoiceDocument {
  return {
    sender: ['Tally Books Ltd', '12 Ledger Lane', 'London'],
    customer: {
      id: 'customer',
      name,
      legalName: null,
      tags: [],
      isPaused: false,
      pausedAt: null,
      pausedUntil: null,
      metadata: { externalCustomerId: 'acme', externalCompanyIds: [] },
      billingContacts: [{ name: 'Ada', email: 'ada@acme.example', phone: null }],
      createdAt: '2026-01-01T00:00:00.000Z',
      updatedAt: '2026-01-01T00:00:00.000Z',
    },
    address: { address1: '1 Main Street', city: 'Springfield', region: 'IL', postalCode: '62701', country: 'US' },
    invoice: {
      id: 'invoice-id',
      invoiceNumber: 'INV-000042',
      customerId: 'customer',
      contractId: 'contract-id',
      status: 'In Progress',
      invoiceDate: '2026-04-01',
      dueDate: '2026-05-01',
      totalCents: 124_209,
      externalIds: [],
      createdAt: '2026-03-01T00:00:00.000Z',
      updatedAt: '2026-04-01T00:00:00.000Z',
      lineItems: lines,
      ...more,
    },
  };
}

const ends = /<\/(?:p|tr|dd|h1|h2|div|caption|address)>/g;

/** What a reader of a page sees, a block a line. */
export function textOf(page: string): string[] {
  const [, body = ''] = /<main>(.*)<\/main>/s.exec(page) ?? [];
  return body
    .replaceAll(/\s+/g, ' ')
    .replaceAll(ends, '\n')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .split('\n')
    .map((text) => text.replaceAll(/ +/g, ' ').trim())
    .filter((text) => text !== '');
}
