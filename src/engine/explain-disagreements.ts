/** Where the frozen figures of an invoice differ from those that its events, its prices and its ledger give. */

import { centsOfLines } from '../calculation/invoice-draft.ts';
import { decimalText, sumOf } from '../calculation/money.ts';
import type { Invoice } from '../store/records/invoices.ts';
import type { BasisLine, InvoiceBasis } from './explain-basis.ts';

/** One sentence for each difference; none where all agree, and none for a draft, which is computed as it is read. */
export function disagreementsOf(invoice: Invoice, basis: InvoiceBasis): string[] {
  if (basis.basis !== 'frozen') return [];
  const total = centsOfLines(basis.lines.map(({ billed }) => billed));
  return [
    ...basis.lines.flatMap((line) =>
      line.billed.kind === 'credit' ? creditDifferences(line, basis) : lineDifferences(line),
    ),
    ...basis.missing.map(
      ({ description, totalCents }) =>
        `events and prices give ${totalCents} cents of ${description}, for which no line was frozen`,
    ),
    ...uncreditedGrants(basis),
    ...(total === invoice.totalCents
      ? []
      : [`the lines add up to ${total} cents, the invoice to ${invoice.totalCents}`]),
  ];
}

function lineDifferences({ billed, computed }: BasisLine): string[] {
  const title = `line ${billed.id} (${billed.description})`;
  if (computed === undefined) return [`${title} is frozen, but events and prices do not give it`];
  const figures = [
    ['quantity', billed.quantity, decimalText(computed.quantity)],
    ['exactAmount', billed.totalAmount, decimalText(computed.exactAmount)],
    ['unitPrice', billed.unitPrice, decimalText(computed.unitPrice)],
    ['totalAmountCents', billed.totalCents.toString(), computed.totalCents.toString()],
  ] as const;
  return figures
    .filter(([, frozen, now]) => frozen !== now)
    .map(([name, frozen, now]) => `${title}: ${name} is frozen as ${frozen}, events and prices give ${now}`);
}

function creditDifferences({ billed }: BasisLine, { draws }: InvoiceBasis): string[] {
  const own = draws.filter((draw) => draw.grantId === billed.grantId);
  const applied = sumOf(own.map((draw) => draw.appliedCents));
  if (applied === -billed.totalCents) return [];
  return [`grant ${billed.grantId} is frozen with ${-billed.totalCents} cents, the ledger took ${applied}`];
}

function uncreditedGrants({ lines, draws }: InvoiceBasis): string[] {
  const credited = new Set(lines.map(({ billed }) => billed.grantId));
  const others = Map.groupBy(draws, (draw) => draw.grantId);
  return [...others].flatMap(([grantId, own]) => {
    if (credited.has(grantId)) return [];
    const applied = sumOf(own.map((draw) => draw.appliedCents));
    return [`the ledger took ${applied} cents of grant ${grantId}, for which no credit line was frozen`];
  });
}
