/** A statement of credits as a page to print or to send. */

import { creditsText } from '../../whole-amounts.ts';
import type { Holding } from '../wire/amounts.ts';
import { foreign, isTold, markup, note } from './html.ts';
import type { Html } from './html.ts';
import { pageText } from './page.ts';
import { recipientBlock, senderBlock } from './parties.ts';
import type { Recipient } from './parties.ts';
import type { Movement, Statement, StatementPeriod } from './statement.ts';
import { dayText, lastDayText, moneyWords, numberWords } from './words.ts';

export interface StatementDocument {
  readonly contractId: string;
  /** Absent if the service does not tell whose contract it is. */
  readonly recipient: Recipient | undefined;
  readonly sender: readonly string[];
  readonly period: StatementPeriod;
  readonly statement: Statement;
  /** Numbers by id, for invoices whose draft is named in a description: nobody received an invoice with the draft's number. */
  readonly invoiceNumbers: ReadonlyMap<string, string>;
}

const movementWords: Readonly<Record<string, string>> = {
  grant: 'Grant',
  usage: 'Draw-down',
  adjustment: 'Adjustment',
  reversal: 'Reversal',
  expiration: 'Expiration',
};

/** A type that is not known here is shown as it came. */
function wordsOf(type: string, ending = ''): string {
  return Object.hasOwn(movementWords, type) ? `${movementWords[type]}${ending}` : type;
}

/** The whole document. */
export function statementPage(document: StatementDocument): string {
  const { contractId, recipient, sender, period, statement, invoiceNumbers } = document;
  const hasCredits = holdings(statement).some(({ creditMicros }) => creditMicros !== 0n);
  const units = { hasCredits, currency: statement.currency };
  return pageText({
    title: `Credit statement of contract ${contractId}`,
    content: markup`<header class="top">
        <div>
          <h1>Credit statement</h1>
          <p class="number">${periodText(period, statement)}</p>
        </div>
        ${senderBlock(sender)}
      </header>
      <div class="facts">
        ${
          recipient === undefined
            ? markup``
            : markup`<section aria-labelledby="for">
                <h2 id="for">For</h2>
                ${recipientBlock(recipient)}
              </section>`
        }
        <dl>
          <dt>Period</dt>
          <dd>${periodText(period, statement)}</dd>
          <dt>Opening balance</dt>
          <dd>${holdingText(statement.opening, units)}</dd>
          <dt>Closing balance</dt>
          <dd>${holdingText(statement.closing, units)}</dd>
          <dt>Movements</dt>
          <dd>${statement.movements.length}</dd>
        </dl>
      </div>
      <div class="headline"><span>Closing balance</span> <b>${holdingText(statement.closing, units)}</b></div>
      ${summaryTable(statement, units)} ${movementTable(statement, { ...units, invoiceNumbers })}
      <footer>
        <p>Opening balance and movements add up to the closing balance exactly. Days are in UTC.</p>
        <p>Contract ${foreign(contractId)}</p>
      </footer>`,
  });
}

function holdings({ opening, movements, closing }: Statement): readonly Holding[] {
  return [opening, ...movements, closing];
}

function periodText({ from, to }: StatementPeriod, { movements }: Statement): string {
  const [first, last] = [movements[0]?.entry.createdAt, movements.at(-1)?.entry.createdAt];
  const start = from?.toString() ?? first;
  const end = to === undefined ? last && dayText(last) : lastDayText(to.toString());
  if (start === undefined) return end === undefined ? 'No movements' : `Until ${end}`;
  return end === undefined ? `From ${dayText(start)}` : `${dayText(start)} to ${end}`;
}

interface Units {
  readonly hasCredits: boolean;
  readonly currency: string;
}

function holdingText({ cents, creditMicros }: Holding, { hasCredits, currency }: Units): string {
  const money = moneyWords(cents, currency);
  return hasCredits ? `${money} and ${creditWords(creditMicros)} credits` : money;
}

function creditWords(micros: bigint): string {
  return numberWords(creditsText(micros));
}

/** Leaves a cell empty if the movement has none of its kind. */
function changeCells({ cents, creditMicros }: Holding, { hasCredits, currency }: Units): Html {
  const isFree = cents === 0n && creditMicros !== 0n;
  const money = markup`<td class="amount" data-label="Amount">${isFree ? '' : moneyWords(cents, currency)}</td>`;
  if (!hasCredits) return money;
  return markup`${money}
    <td class="amount" data-label="Credits">${creditMicros === 0n ? '' : creditWords(creditMicros)}</td>`;
}

function balanceCells({ cents, creditMicros }: Holding, { hasCredits, currency }: Units): Html {
  const money = markup`<td class="amount" data-label="Balance">${moneyWords(cents, currency)}</td>`;
  if (!hasCredits) return money;
  return markup`${money}
    <td class="amount" data-label="Credit balance">${creditWords(creditMicros)}</td>`;
}

/** What was held before or after all movements, in the row of a table. */
function edgeRow(name: string, cells: Html): Html {
  return markup`<tr class="edge">
    <th scope="row">${name}</th>
    <td></td>
    ${cells}
  </tr>`;
}

function summaryTable({ opening, totals, closing }: Statement, units: Units): Html {
  const credits = units.hasCredits ? markup`<th scope="col" class="right">Credits</th>` : markup``;
  return markup`<table class="lines">
    <caption>
      Summary
    </caption>
    <thead>
      <tr>
        <th scope="col">Movement</th>
        <th scope="col" class="right">Entries</th>
        <th scope="col" class="right">Amount</th>
        ${credits}
      </tr>
    </thead>
    <tbody>
      ${edgeRow('Opening balance', balanceCells(opening, units))}
      ${totals.map(
        ({ type, count, ...total }) =>
          markup`<tr>
            <th scope="row">${foreign(wordsOf(type, 's'))}</th>
            <td class="right" data-label="Entries">${count}</td>
            ${changeCells(total, units)}
          </tr> `,
      )}
      ${edgeRow('Closing balance', balanceCells(closing, units))}
    </tbody>
  </table>`;
}

type Shown = Pick<StatementDocument, 'invoiceNumbers'> & Units;

function movementTable({ opening, movements, closing }: Statement, shown: Shown): Html {
  const { hasCredits } = shown;
  if (movements.length === 0) return markup`<p class="below">There were no movements.</p>`;
  const credits = (name: string) => (hasCredits ? markup`<th scope="col" class="right">${name}</th>` : markup``);
  const balance = (holding: Holding) =>
    markup`<td></td>
      ${hasCredits ? markup`<td></td>` : markup``}${balanceCells(holding, shown)}`;
  // Makes six columns of large amounts fit on the sheet even in wide fonts.
  return markup`<table class="lines below${hasCredits ? ' wide' : ''}">
    <caption>
      Movements
    </caption>
    <thead>
      <tr>
        <th scope="col">Movement</th>
        <th scope="col">Date</th>
        <th scope="col" class="right">Amount</th>
        ${credits('Credits')}
        <th scope="col" class="right">Balance</th>
        ${credits('Credit balance')}
      </tr>
    </thead>
    <tbody>
      ${edgeRow('Opening balance', balance(opening))}
      ${movements.map((movement) => movementRow(movement, shown))}
      ${edgeRow('Closing balance', balance(closing))}
    </tbody>
  </table>`;
}

function movementRow({ entry, after, ...change }: Movement, shown: Shown): Html {
  const { type, description, createdAt, expiresAt, invoiceId } = entry;
  const number = shown.invoiceNumbers.get(invoiceId ?? '');
  const isExpiring = type === 'grant' && isTold(expiresAt);
  return markup`<tr>
    <th scope="row">
      ${foreign(wordsOf(type))}${note(description)}
      ${number === undefined ? markup`` : note(`Invoice ${number}`)}
      ${isExpiring ? note(`Expires ${dayText(expiresAt)}`) : markup``}
    </th>
    <td class="date" data-label="Date">${dayText(createdAt)}</td>
    ${changeCells(change, shown)}${balanceCells(after, shown)}
  </tr> `;
}
