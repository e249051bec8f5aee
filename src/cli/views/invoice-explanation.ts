/** An explained invoice for a person: each line from its events to its cents, then the grants in their order. */

import type { ResponseBody } from '../../operations/index.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import { counted, safe, say } from '../terminal/safe-text.ts';
import type { OutputStream } from '../terminal/terminal.ts';
import { type Block, drawBlocks, members, money, plain, time } from './blocks.ts';

type Explained = ResponseBody<'invoices.explain'>['data'];
type Line = Explained['lines'][number];
type Price = NonNullable<Line['price']>;
type Grant = Explained['grants'][number];
type Usage = NonNullable<Line['usage']>;

export function drawInvoiceExplanation({ data }: ResponseBody<'invoices.explain'>, stdout: OutputStream): SafeText {
  return drawBlocks(
    [head(data), ...data.lines.map((line, index) => lineBlock(line, say`${index + 1}. `)), ...grantBlocks(data.grants)],
    stdout,
  );
}

function head(data: Explained): Block {
  const { lateEventCount: late = 0, eventsDroppedBefore: mark } = data;
  const isGivenBack = data.status === 'Cancelled' && data.lines.some(({ kind }) => kind === 'credit');
  return {
    title: say`Invoice ${data.invoiceNumber}, ${data.status}: ${money(data.totalCents)}`,
    fields: [
      ['id', [safe(data.invoiceId)]],
      ['contract', [safe(data.contractId)]],
      ['period', [say`${data.period.start} to ${data.period.end}, the end excluded`]],
      ['figures', [basisText(data)]],
      ['credits', isGivenBack ? [say`went back to their grants when the invoice was cancelled`] : []],
      ['events', mark === undefined ? [] : [say`those from before ${time(mark)} were dropped`]],
      ['differs', data.disagreements.map(safe)],
      ['late', late === 0 ? [] : [say`${counted(late, 'event')} of this period came too late and cost nothing`]],
    ],
  };
}

function basisText({ basis, asOf, disagreements, eventsDroppedBefore }: Explained): SafeText {
  if (basis === 'none') return say`cancelled before it was finalized: it bills nothing`;
  if (basis === 'live') return say`of a draft, computed at ${time(asOf)}`;
  const isSame = disagreements.length === 0;
  const behind = eventsDroppedBefore === undefined ? 'events' : 'what meters read of events';
  return say`frozen at ${time(asOf)}; ${behind} and prices ${isSame ? 'give the same' : 'do NOT give the same'} today`;
}

/** A line, from its events to what is left to pay. */
export function lineBlock(line: Line, before: SafeText = say``): Block {
  const { usage, price, servicePeriod } = line;
  return {
    title: say`${before}${line.name} - ${line.description}: ${money(line.totalAmountCents)}`,
    fields: [
      ['period', [say`${time(servicePeriod.start)} to ${time(servicePeriod.end)}`]],
      ['events', usage === undefined ? [] : eventLines(usage)],
      ['quantity', line.kind === 'fixed' || line.kind === 'metered' ? [quantityText(line)] : []],
      ['price', price === undefined ? [] : [priceText(price)]],
      ['tiers', line.breakdown.map(tierText)],
      ['prorated', line.proration === undefined ? [] : [prorationText(line.proration)]],
      ['amount', line.kind === 'credit' ? [] : [amountText(line)]],
      ['grant', line.grantId === undefined ? [] : [safe(line.grantId)]],
      ['credits', line.creditCents === undefined ? [] : [money(line.creditCents), ...creditLines(line)]],
      ['to pay', line.overageCents === undefined ? [] : [money(line.overageCents)]],
    ],
  };
}

function eventLines(usage: Usage): SafeText[] {
  const { meterCode, aggregationType, aggregationKey, eventCount, firstAt, lastAt, decidedBy } = usage;
  const of = aggregationKey === undefined ? say`` : say` of ${aggregationKey}`;
  const span = firstAt === lastAt ? '' : say`, ${time(firstAt ?? '')} to ${time(lastAt ?? '')}`;
  const sample = decidedBy === undefined ? usage.sample : [decidedBy];
  const left = eventCount - sample.length;
  return [
    say`${counted(eventCount, 'event')}${span}: ${aggregationType}${of} by meter ${meterCode}`,
    ...passedOver(usage),
    ...sample.map(
      (event) => say`${time(event.timestamp)}  ${event.eventName}  ${valueText(event.value)}${event.idempotencyKey}`,
    ),
    ...(left > 0 ? [decidedBy === undefined ? say`and ${left} more` : say`which decides over ${left} more`] : []),
  ];
}

function passedOver({ skippedCount, withoutKeyCount, aggregationKey }: Usage): SafeText[] {
  return [
    ...(skippedCount === 0 ? [] : [say`${counted(skippedCount, 'event')} skipped: not a number, or out of range`]),
    ...(withoutKeyCount === 0
      ? []
      : [say`${counted(withoutKeyCount, 'event')} without ${aggregationKey ?? 'the key'}`]),
  ];
}

function valueText(value: unknown): SafeText {
  return value === undefined ? say`` : say`${plain(value)}  `;
}

function quantityText({ quantity, meteredQuantity, dimensions }: Line): SafeText {
  const of = dimensions === undefined ? say`` : say` of ${members(dimensions)}`;
  const isBilledAsRead = meteredQuantity === undefined || plain(meteredQuantity) === plain(quantity);
  const note = isBilledAsRead ? say`` : say`, since the meter read ${plain(meteredQuantity)}`;
  return say`${plain(quantity)}${of}${note}`;
}

const sources: Readonly<Record<Price['source'], string>> = {
  price: 'the price itself',
  agreed: 'agreed for this contract in place of the price',
  rate: 'the rate for',
  fallback: 'the fallback of the rate card',
};

function priceText(price: Price): SafeText {
  const { unitAmount, flatAmount, tiering, source, dimensions = {}, pricingId } = price;
  const unit = unitAmount === undefined ? [] : [say`${unitAmount} USD a unit`];
  const flat = flatAmount === undefined ? [] : [say`${flatAmount} USD flat`];
  const tiers = tiering === 'NONE' ? [] : [say`${tiering.toLowerCase()} tiers`];
  const origin = say`${sources[source]}${source === 'rate' ? say` ${members(dimensions)}` : say``}`;
  return say`${[...unit, ...flat, ...tiers].join(', ')}: ${origin} (${pricingId})`;
}

function tierText({ from, to, quantity, unitAmount, flatAmount, amount }: Line['breakdown'][number]): SafeText {
  const end = to === null ? say`` : say` to ${plain(to)}`;
  const flat = flatAmount === '0' ? say`` : say` + ${flatAmount}`;
  return say`from ${plain(from)}${end}: ${plain(quantity)} x ${unitAmount}${flat} = ${amount} USD`;
}

function prorationText({ daysUsed, daysWhole }: NonNullable<Line['proration']>): SafeText {
  return say`${daysUsed} of ${daysWhole} days`;
}

function amountText({ exactAmount, roundingAmount, totalAmountCents }: Line): SafeText {
  if (roundingAmount === '0') return say`${exactAmount} USD, nothing to round`;
  return say`${exactAmount} USD, rounded half-up to ${money(totalAmountCents)} (${roundingAmount})`;
}

function creditLines({ grants, unusedGrants = [] }: Line): SafeText[] {
  return [...grants.map(paymentText), ...unusedGrants.map(unusedText)];
}

function unusedText({ why, ranks }: NonNullable<Line['unusedGrants']>[number]): SafeText {
  const places = ranks.map(({ from, to }) => (from === to ? `${from}` : `${from} to ${to}`)).join(', ');
  return say`${places}. ${money(0)}  ${why}`;
}

function paymentText({ rank, grantId, appliedCents, creditAmount, why, entryIds }: Line['grants'][number]): SafeText {
  const credits = plain(creditAmount) === '0' ? say`` : say` (${plain(creditAmount)} credits)`;
  const entries = entryIds.length === 0 ? say`` : say`, in ${entryIds.join(', ')}`;
  return say`${rank}. ${grantId}  ${money(appliedCents)}${credits}  ${why}${entries}`;
}

/** The grants of an invoice in the order in which they pay; empty if there are none. */
export function grantBlocks(grants: readonly Grant[]): Block[] {
  if (grants.length === 0) return [];
  return [
    {
      title: say`Grants, in the order in which they pay`,
      fields: grants.map((grant) => [`${grant.rank}.`, grantLines(grant)]),
    },
  ];
}

function grantLines(grant: Grant): SafeText[] {
  const has = amounts(grant.availableCents, grant.availableCredits);
  const paid = money(grant.appliedCents);
  const kind = grant.isPromotional ? 'promotional' : 'paid';
  return [
    say`${grant.grantId}  ${grant.description}`,
    say`${kind}, had ${has}, paid ${paid}`,
    say`${grant.reason}`,
    ...(Object.keys(grant.paysFor).length === 0 ? [] : [say`pays only for ${paysForText(grant.paysFor)}`]),
  ];
}

/** Cents and credits of a grant: the one that it has, or both. */
export function amounts(cents: Grant['availableCents'], credits: Grant['availableCredits']): SafeText {
  const creditText = plain(credits);
  if (creditText === '0') return money(cents);
  return plain(cents) === '0' ? say`${creditText} credits` : say`${money(cents)} (${creditText} credits)`;
}

export function paysForText(paysFor: Grant['paysFor']): SafeText {
  return Object.keys(paysFor).length === 0 ? say`all usage` : members(paysFor);
}
