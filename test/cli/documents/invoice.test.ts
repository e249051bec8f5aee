import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { invoicePage } from '../../../src/cli/documents/invoice-page.ts';
import { invoiceSums } from '../../../src/cli/documents/invoice.ts';
import { centsOf } from '../../../src/cli/wire/amounts.ts';
import { sha256 } from '../../../src/digest.ts';
import { hostileName, invoiceDocument, line, textOf } from './sample.ts';

describe('the sums of an invoice', () => {
  test('are charges less credits, and what is due', () => {
    expect(invoiceSums(invoiceDocument().invoice)).toMatchObject({
      chargesCents: 129_209n,
      otherCents: 0n,
      totalCents: 124_209n,
      dueCents: 124_209n,
    });
  });

  test.each(['Paid', 'Cancelled', 'Refunded'] as const)('leave nothing due where it is %s', (status) => {
    expect(invoiceSums(invoiceDocument({ status }).invoice).dueCents).toBe(0n);
  });

  test('count a line of nothing among the charges', () => {
    const { charges, credits } = invoiceSums(invoiceDocument({ lineItems: [line({ totalAmountCents: 0 })] }).invoice);
    expect([charges.length, credits.length]).toEqual([1, 0]);
  });

  test('show what a service adds to no line', () => {
    expect(invoiceSums(invoiceDocument({ totalCents: 134_209 }).invoice).otherCents).toBe(10_000n);
  });

  test('tie out for any lines', () => {
    const cents = fc.integer({ min: -(10 ** 12), max: 10 ** 12 });
    fc.assert(
      fc.property(fc.array(cents), cents, (amounts, totalCents) => {
        const lineItems = amounts.map((totalAmountCents) => line({ totalAmountCents }));
        const sums = invoiceSums(invoiceDocument({ lineItems, totalCents }).invoice);
        const creditsCents = sums.credits.reduce((sum, each) => sum + centsOf(each.totalAmountCents), 0n);
        expect(sums.chargesCents + creditsCents + sums.otherCents).toBe(BigInt(totalCents));
        expect(sums.charges.length + sums.credits.length).toBe(amounts.length);
      }),
    );
  });
});

describe('the page of an invoice', () => {
  test('says who owes what to whom, for what, and until when', () => {
    expect(textOf(invoicePage(invoiceDocument()))).toEqual([
      'Invoice',
      'INV-000042 Open',
      'Tally Books Ltd 12 Ledger Lane London',
      'Bill to',
      'Acme Inc',
      '1 Main Street',
      'Springfield, IL 62701',
      'US',
      'Ada, ada@acme.example',
      'Customer acme',
      'Invoice number INV-000042',
      'Invoice date 1 April 2026',
      'Due date 1 May 2026',
      'Service period 1 March 2026 to 30 April 2026',
      'Amount due by 1 May 2026 1,242.09 USD',
      'Charges',
      'Item Quantity Unit price, USD Amount',
      'Tokens Inference (model=large) 1 March 2026 to 31 March 2026 22,361,870 0.000003 67.09 USD',
      'Platform fee Platform 1 March 2026 to 31 March 2026 1 1,200.00 1,200.00 USD',
      'Seats 1 April 2026 to 30 April 2026 2.5 10.00 25.00 USD',
      'Totals',
      'Subtotal 1,292.09 USD',
      'Credits applied Welcome −50.00 USD',
      'Total 1,242.09 USD',
      'Amount due 1,242.09 USD',
      'Each line is rounded once, half up, to a whole cent; the total is the sum of the lines. Prices are in US dollars, days in UTC.',
      'Invoice invoice-id , contract contract-id',
    ]);
  });

  test.each([
    ['Drafted', 'DRAFT', 'Draft, not yet payable. Amount so far 1,242.09 USD'],
    ['In Progress', undefined, 'Amount due by 1 May 2026 1,242.09 USD'],
    ['In Transit', undefined, 'Amount due by 1 May 2026 1,242.09 USD'],
    ['Paid', 'PAID', 'Paid on 9 April 2026. Amount due 0.00 USD'],
    ['Cancelled', 'VOID', 'Void. Amount due 0.00 USD'],
    ['Refunded', 'REFUNDED', 'Refunded. Amount due 0.00 USD'],
    ['Disputed', undefined, 'Disputed. Amount due 1,242.09 USD'],
  ])('of status %s has the watermark %s and says so at the top', (status, watermark, headline) => {
    const page = invoicePage(invoiceDocument({ status: status as 'Paid', latestPaymentDate: '2026-04-09' }));
    expect(/class="watermark" aria-hidden="true">(\w+)</.exec(page)?.[1]).toBe(watermark);
    expect(textOf(page)).toContain(headline);
  });

  test('of a draft asks for nothing yet', () => {
    const text = textOf(invoicePage(invoiceDocument({ status: 'Drafted' })));
    expect(text).toContain('Amount so far 1,242.09 USD');
    expect(text.join()).not.toContain('due 1,242.09');
  });

  test('shows memo and payment link as text', () => {
    const page = invoicePage(invoiceDocument({ memo: 'Thank you.\nSee you.', paymentLink: 'https://pay.example/1' }));
    expect(textOf(page)).toEqual(expect.arrayContaining(['Thank you.', 'See you.', 'https://pay.example/1']));
    expect(page).not.toContain('href');
  });

  test('shows nothing where a service tells nothing, or null in place of a text', () => {
    const nulls = { memo: null, paymentLink: null, latestPaymentDate: null, dueDate: null } as never;
    const bare = line({ description: null, unitPrice: null, quantity: null, servicePeriod: null } as never);
    const { customer, ...document } = invoiceDocument(nulls);
    const untold = { id: customer.id, name: customer.name, billingContacts: null, address: undefined } as never;
    const page = invoicePage({
      ...document,
      customer: untold,
      invoice: { ...document.invoice, lineItems: [line({}), bare] },
    });
    const texts = textOf(page);
    expect(texts).toContain('Amount due 1,242.09 USD');
    expect(texts.filter((text) => /null|undefined/.test(text))).toEqual([]);
    expect(invoicePage(invoiceDocument({ lineItems: null } as never))).toContain('Nothing was charged');
  });

  test('without charges says so', () => {
    const page = invoicePage(invoiceDocument({ lineItems: [], totalCents: 0 }));
    expect(textOf(page)).toContain('Nothing was charged.');
  });

  test('loads nothing, runs nothing, and takes no style but its own', () => {
    const page = invoicePage(invoiceDocument());
    const [, style = ''] = /<style>(.*)<\/style>/s.exec(page) ?? [];
    const hash = sha256().update(style).digest('base64');
    const [, policy = ''] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page) ?? [];
    expect(policy.replaceAll('&#39;', "'")).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`,
    );
    expect(page).not.toMatch(/<script|\bon\w+=|\bsrc=|\bhref=|url\(|@import|style="/);
  });

  test('is built for readers of every kind', () => {
    const page = invoicePage(invoiceDocument());
    expect(page).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(page).toContain('<title>Invoice INV-000042</title>');
    expect(page.match(/<h1>/g)).toHaveLength(1);
    expect(page).not.toMatch(/<th(?!ead| scope="(?:col|row)")/);
    expect(page.match(/<caption/g)).toHaveLength(2);
  });

  test('takes every foreign text as text, wherever it stands', () => {
    const page = invoicePage({
      ...invoiceDocument(
        {
          invoiceNumber: hostileName,
          memo: hostileName,
          paymentLink: `javascript:${hostileName}`,
          lineItems: [
            line({ name: hostileName, description: hostileName }),
            line({ name: hostileName, totalAmountCents: -1 }),
          ],
        },
        hostileName,
      ),
      sender: [hostileName, hostileName],
      address: {
        address1: hostileName,
        city: hostileName,
        region: hostileName,
        postalCode: hostileName,
        country: 'US',
      },
    });
    expect(page).not.toMatch(/<script|<img|\u202e|\u001b/);
    expect(page.match(/&lt;script&gt;alert\(1\)/g)?.length).toBeGreaterThan(9);
    expect(page.match(/<\/title>/g)).toHaveLength(1);
  });
});
