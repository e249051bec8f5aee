/** An invoice as a page to print or to send. */

import { centsOf } from '../wire/amounts.ts';
import { wireText } from '../wire/rows.ts';
import { foreign, isTold, markup, note } from './html.ts';
import type { Html } from './html.ts';
import { invoiceSums, servicePeriodOf } from './invoice.ts';
import type { Invoice, InvoiceDocument, InvoiceSums, Line } from './invoice.ts';
import { pageText } from './page.ts';
import { recipientBlock, senderBlock } from './parties.ts';
import { dayText, lastDayText, moneyWords, numberWords, priceWords } from './words.ts';

interface StatusWords {
  readonly shown: string;
  readonly watermark?: string;
  /** The label of the amount to pay. */
  readonly amount: string;
}

/** A status that is not known here is shown as it came. */
const statusWords: Readonly<Record<Invoice['status'], StatusWords>> = {
  Drafted: { shown: 'Draft', watermark: 'DRAFT', amount: 'Amount so far' },
  'In Progress': { shown: 'Open', amount: 'Amount due' },
  'In Transit': { shown: 'Payment in transit', amount: 'Amount due' },
  Paid: { shown: 'Paid', watermark: 'PAID', amount: 'Amount due' },
  Cancelled: { shown: 'Void', watermark: 'VOID', amount: 'Amount due' },
  Refunded: { shown: 'Refunded', watermark: 'REFUNDED', amount: 'Amount due' },
};

/** The whole document. */
export function invoicePage(document: InvoiceDocument): string {
  const { invoice, sender } = document;
  const sums = invoiceSums(invoice);
  const words: StatusWords = Object.hasOwn(statusWords, invoice.status)
    ? statusWords[invoice.status]
    : { shown: invoice.status, amount: 'Amount due' };
  return pageText({
    title: `Invoice ${invoice.invoiceNumber ?? ''}`,
    watermark: words.watermark,
    content: markup`<header class="top">
        <div>
          <h1>Invoice</h1>
          <p class="number">${foreign(invoice.invoiceNumber)} <span class="status">${words.shown}</span></p>
        </div>
        ${senderBlock(sender)}
      </header>
      <div class="facts">
        <section aria-labelledby="to">
          <h2 id="to">Bill to</h2>
          ${recipientBlock(document)}
        </section>
        ${factList(invoice)}
      </div>
      <div class="headline"><span>${headline(invoice, words)}</span> <b>${moneyWords(sums.dueCents)}</b></div>
      ${linesTable(sums.charges, servicePeriodOf(invoice))} ${totalsTable(sums, words)} ${paymentSection(invoice)} ${memoSection(invoice)}
      <footer>
        <p>
          Each line is rounded once, half up, to a whole cent; the total is the sum of the lines. Prices are in US
          dollars, days in UTC.
        </p>
        <p>Invoice ${foreign(invoice.id)}, contract ${foreign(invoice.contractId)}</p>
      </footer>`,
  });
}

function headline({ status, dueDate, latestPaymentDate }: Invoice, words: StatusWords): string {
  const isOpen = status === 'In Progress' || status === 'In Transit';
  if (isOpen) return isTold(dueDate) ? `${words.amount} by ${dayText(dueDate)}` : words.amount;
  if (isTold(latestPaymentDate) && status === 'Paid') return `Paid on ${dayText(latestPaymentDate)}. ${words.amount}`;
  return status === 'Drafted' ? `Draft, not yet payable. ${words.amount}` : `${words.shown}. ${words.amount}`;
}

function factList(invoice: Invoice): Html {
  const period = servicePeriodOf(invoice);
  const facts: readonly (readonly [string, string] | undefined)[] = [
    ['Invoice number', invoice.invoiceNumber],
    ['Invoice date', dayText(invoice.invoiceDate)],
    ['Due date', dayText(invoice.dueDate)],
    period && ['Service period', `${dayText(period.start)} to ${lastDayText(period.end)}`],
    isTold(invoice.latestPaymentDate) ? ['Payment date', dayText(invoice.latestPaymentDate)] : undefined,
  ];
  return markup`<dl>
    ${facts
      .filter((fact) => fact !== undefined)
      .map(
        ([name, value]) =>
          markup`<dt>${name}</dt>
            <dd>${foreign(value)}</dd> `,
      )}
  </dl>`;
}

function linesTable(lines: readonly Line[], period: Line['servicePeriod'] | undefined): Html {
  if (lines.length === 0) return markup`<p>Nothing was charged.</p>`;
  return markup`<table class="lines">
    <caption>
      Charges
    </caption>
    <thead>
      <tr>
        <th scope="col">Item</th>
        <th scope="col" class="right">Quantity</th>
        <th scope="col" class="right">Unit price, USD</th>
        <th scope="col" class="right">Amount</th>
      </tr>
    </thead>
    <tbody>
      ${lines.map((line) => lineRow(line, period))}
    </tbody>
  </table>`;
}

/** Shows the line's period only if it differs from the invoice's. */
function lineRow(line: Line, period: Line['servicePeriod'] | undefined): Html {
  const { name, description, quantity, unitPrice, totalAmountCents, servicePeriod } = line;
  const isWhole = servicePeriod?.start === period?.start && servicePeriod?.end === period?.end;
  return markup`<tr>
    <th scope="row">
      ${foreign(name)}${description === name ? markup`` : note(description)}
      ${isWhole || !isTold(servicePeriod?.end) ? markup`` : note(`${dayText(servicePeriod.start)} to ${lastDayText(servicePeriod.end)}`)}
    </th>
    <td class="right" data-label="Quantity">${numberWords(wireText(quantity))}</td>
    <td class="right" data-label="Unit price, USD">${priceWords(unitPrice)}</td>
    <td class="amount" data-label="Amount">${moneyWords(centsOf(totalAmountCents))}</td>
  </tr> `;
}

function totalsTable(sums: InvoiceSums, { shown, amount }: StatusWords): Html {
  const { credits, chargesCents, otherCents, totalCents, dueCents } = sums;
  const settled = totalCents - dueCents;
  return markup`<table class="totals">
    <caption hidden>
      Totals
    </caption>
    <tbody>
      ${totalRow('Subtotal', chargesCents)}
      ${credits.map((line) => totalRow(line.name, centsOf(line.totalAmountCents), line.description))}
      ${otherCents === 0n ? markup`` : totalRow('Not itemized', otherCents)} ${totalRow('Total', totalCents)}
      ${settled === 0n ? markup`` : totalRow(shown, -settled)}
      <tr class="due">
        <th scope="row">${amount}</th>
        <td class="amount">${moneyWords(dueCents)}</td>
      </tr>
    </tbody>
  </table>`;
}

function totalRow(name: string, cents: bigint, about = ''): Html {
  return markup`<tr>
    <th scope="row">${foreign(name)}${about === name ? markup`` : note(about)}</th>
    <td class="amount">${moneyWords(cents)}</td>
  </tr> `;
}

/** Shown as text, not as a link: whether to follow it is for the reader to judge. */
function paymentSection({ paymentLink }: Invoice): Html {
  if (!isTold(paymentLink)) return markup``;
  return markup`<section class="below">
    <h2>Payment</h2>
    <p>${foreign(paymentLink)}</p>
  </section>`;
}

function memoSection({ memo }: Invoice): Html {
  if (!isTold(memo)) return markup``;
  return markup`<section class="below">
    <h2>Memo</h2>
    ${memo.split('\n').map((line) => markup`<p>${foreign(line)}</p>`)}
  </section>`;
}
