/** What must hold of the invoices of a contract (reliability 5, invariants 13 to 16, 20 and 24). */

import { centsOfLines, unitPriceCentsOf } from '../../calculation/invoice-draft.ts';
import { invoiceDateOf, invoicePeriodAt } from '../../calculation/invoice-periods.ts';
import { centsOfDollars, decimal } from '../../calculation/money.ts';
import { isDraftNumber } from '../../operations/invoice-number.ts';
import type { FrozenLine, Invoice } from '../../store/records/invoices.ts';
import type { SealedInvoice } from '../../store/records/seals.ts';
import { billingTermsOf } from '../contract-terms.ts';
import { nextDraftsDueOn } from '../draft-periods.ts';
import type { ContractBooks, Problem } from './check.ts';

/** The total is the sum of the lines, and every line's cents are its exact amount, rounded half-up. */
export function sumProblems({ invoices }: ContractBooks): Problem[] {
  return finalizedOf(invoices).flatMap(({ invoice, lines }) => {
    const sum = centsOfLines(lines);
    const wrong = lines.filter(
      (line) =>
        centsOfDollars(decimal(line.totalAmount)) !== line.totalCents ||
        unitPriceCentsOf(decimal(line.unitPrice)) !== line.unitPriceCents,
    );
    return [
      ...(sum === invoice.totalCents
        ? []
        : [problem(invoice, `is ${invoice.totalCents} cents, but its lines come to ${sum}`)]),
      ...(invoice.totalCents < 0n ? [problem(invoice, 'is below 0')] : []),
      ...wrong.map((line) => problem(invoice, `has cents in line ${line.lineKey} that are not its exact amount`)),
    ];
  });
}

/** Every line but credits is what its events and the frozen prices of the contract give. */
export function recomputationProblems({ invoices, recomputed }: ContractBooks): Problem[] {
  return finalizedOf(invoices).flatMap(({ invoice, lines }) => {
    const frozen = lines.filter((line) => line.kind !== 'credit');
    const differences = (recomputed.get(invoice.id) ?? []).map((computed) => differencesOf(frozen, computed));
    if (differences.some((each) => each.length === 0)) return [];
    const [first = [`has no period in its contract`]] = differences;
    return first.map((words) => problem(invoice, words));
  });
}

/** What credit lines take off a finalized invoice is what the ledger says its grants paid. */
export function creditLineProblems({ invoices, ledger }: ContractBooks): Problem[] {
  const applied = new Map<string, bigint>();
  for (const { invoiceId, grantEntryId, appliedCents } of ledger.entries) {
    if (invoiceId === undefined) continue;
    const key = `${invoiceId} ${grantEntryId}`;
    applied.set(key, (applied.get(key) ?? 0n) + appliedCents);
  }
  const grantIds = ledger.entries.filter((entry) => entry.type === 'grant').map((grant) => grant.id);
  const known = new Set(grantIds);
  return invoices.flatMap(({ invoice, lines }) => {
    if (invoice.status === 'Drafted') return [];
    const credits = lines.filter((line) => line.kind === 'credit');
    const metered = centsOfLines(lines.filter((line) => line.kind === 'metered'));
    const linesOf = Map.groupBy(credits, (line) => line.grantId);
    const wrong = grantIds.flatMap((grantId) => {
      const shown = -centsOfLines(linesOf.get(grantId) ?? []);
      const paid = applied.get(`${invoice.id} ${grantId}`) ?? 0n;
      if (isRight(invoice, { shown, paid })) return [];
      const words =
        invoice.status === 'Cancelled'
          ? `is Cancelled, but the ledger still takes ${paid} cents of grant ${grantId} for it`
          : `shows ${shown} cents of grant ${grantId}, but the ledger took ${paid}`;
      return [problem(invoice, words)];
    });
    const strays = credits.filter((line) => line.grantId === undefined || !known.has(line.grantId));
    return [
      ...wrong,
      ...strays.map((line) => problem(invoice, `has the credit line ${line.lineKey} of no grant`)),
      ...(-centsOfLines(credits) > metered ? [problem(invoice, 'takes off more credits than it has usage')] : []),
    ];
  });
}

/** A seal that does not fit means that number, dates, amount or lines were changed after finalization. */
export function invoiceSealProblems({ invoices }: ContractBooks): Problem[] {
  return invoices
    .filter(({ isIntact }) => !isIntact)
    .map(({ invoice }) => problem(invoice, 'is not as it was when it was finalized'));
}

/**
 * The invoices of a contract cover its periods one by one, each with the dates of its own. What is still to be billed ends when
 * the contract does.
 */
export function periodProblems({ contract, terms, invoices }: ContractBooks): Problem[] {
  return invoices.flatMap(({ invoice }, index) => {
    if (invoice.periodIndex !== index) {
      return [problem(invoice, `is of period ${invoice.periodIndex}, but ${index} is next`)];
    }
    const possible = invoice.status === 'Drafted' ? [billingTermsOf(contract)] : terms;
    const fits = possible.some((each) => {
      const period = invoicePeriodAt(each, index);
      if (period === undefined) return false;
      const invoiceDate = invoiceDateOf(each, period);
      return (
        period.start.equals(invoice.periodStart) &&
        period.end.equals(invoice.periodEnd) &&
        invoiceDate.equals(invoice.invoiceDate) &&
        invoiceDate.add({ days: contract.netTermsDays }).equals(invoice.dueDate)
      );
    });
    return fits ? [] : [problem(invoice, `has other dates than period ${index} of its contract`)];
  });
}

/** The next drafts are noted for the day from which they will be lacking, or for an earlier one, which looks the day up anew. */
export function notedDraftProblems({ contract, invoices, noted: { draftsDueOn } }: ContractBooks): Problem[] {
  const dueOn = nextDraftsDueOn(
    billingTermsOf(contract),
    invoices.map(({ invoice }) => invoice),
  );
  if (dueOn === undefined) return [];
  if (draftsDueOn !== undefined && Temporal.PlainDate.compare(draftsDueOn, dueOn) <= 0) return [];
  const words = `lacks drafts from ${dueOn.toString()} on, and is noted for ${draftsDueOn?.toString() ?? 'no day'}`;
  return [{ objectId: contract.id, problem: `contract ${contract.id} ${words}` }];
}

/** Every invoice is in a state that a path through the table of transitions leads to (semantics 7). */
export function stateProblems({ invoices }: ContractBooks): Problem[] {
  return invoices.flatMap((sealed) => {
    const broken = stateRules.filter(({ holds }) => !holds(sealed));
    return broken.map(({ words }) => problem(sealed.invoice, `is ${sealed.invoice.status} and ${words}`));
  });
}

interface StateRule {
  readonly words: string;
  readonly holds: (sealed: SealedInvoice) => boolean;
}

const stateRules: readonly StateRule[] = [
  {
    words: 'was finalized',
    holds: ({ invoice }) => invoice.status !== 'Drafted' || !isFinal(invoice),
  },
  {
    words: 'was not finalized',
    holds: ({ invoice }) => invoice.status === 'Drafted' || invoice.status === 'Cancelled' || isFinal(invoice),
  },
  {
    words: 'has a draft number, though it was finalized',
    holds: ({ invoice }) => !isFinal(invoice) || !isDraftNumber(invoice.number),
  },
  {
    words: 'has a legal number, though it was not finalized',
    holds: ({ invoice }) => isFinal(invoice) || isDraftNumber(invoice.number),
  },
  {
    words: 'has an amount, lines, or was sent, before it was finalized',
    holds: ({ invoice, lines }) =>
      isFinal(invoice) ||
      (invoice.totalCents === 0n && lines.length === 0 && invoice.sentAt === undefined && !invoice.isHeld),
  },
  {
    words: 'has a payment date',
    holds: ({ invoice }) => isPaidOnce(invoice) || invoice.latestPaymentDate === undefined,
  },
  {
    words: 'has no payment date',
    holds: ({ invoice }) => !isPaidOnce(invoice) || invoice.latestPaymentDate !== undefined,
  },
  {
    words: 'has nothing to pay',
    holds: ({ invoice: { status, totalCents } }) =>
      (status !== 'In Progress' && status !== 'In Transit') || totalCents > 0n,
  },
  {
    words: 'was sent before it was finalized',
    holds: ({ invoice: { sentAt, finalizedAt } }) =>
      sentAt === undefined || finalizedAt === undefined || Temporal.Instant.compare(sentAt, finalizedAt) >= 0,
  },
];

function isPaidOnce({ status }: Invoice): boolean {
  return status === 'Paid' || status === 'Refunded';
}

function isFinal({ finalizedAt }: Invoice): boolean {
  return finalizedAt !== undefined;
}

function finalizedOf(invoices: readonly SealedInvoice[]): readonly SealedInvoice[] {
  return invoices.filter(({ invoice }) => isFinal(invoice));
}

/** A voided invoice has given everything back; for a refunded one a person decided how much. */
function isRight({ status }: Invoice, { shown, paid }: { readonly shown: bigint; readonly paid: bigint }): boolean {
  if (status === 'Cancelled') return paid === 0n;
  if (status === 'Refunded') return paid >= 0n && paid <= shown;
  return paid === shown;
}

/** In the order in which a person would look. */
const members = [
  'quantity',
  'unitPrice',
  'totalAmount',
  'totalCents',
  'unitPriceCents',
  'kind',
  'name',
  'description',
  'serviceStart',
  'serviceEnd',
  'pricingId',
  'meterId',
  'productId',
  'groupValues',
  'id',
] as const satisfies readonly (keyof FrozenLine)[];

/** One sentence for each line that differs, by the first member that does. */
function differencesOf(frozen: readonly FrozenLine[], computed: readonly FrozenLine[]): string[] {
  const expected = new Map(computed.map((line) => [line.lineKey, line]));
  const found = new Set(frozen.map((line) => line.lineKey));
  const changed = frozen.flatMap((line) => {
    const other = expected.get(line.lineKey);
    if (other === undefined) return [`has the line ${line.lineKey}, which does not follow from events and prices`];
    const member = members.find((name) => comparable(name, line) !== comparable(name, other));
    if (member === undefined) return [];
    const values = `${textOf(line[member])}, and events and prices give ${textOf(other[member])}`;
    return [`has ${member} of line ${line.lineKey} as ${values}`];
  });
  const missing = computed.filter((line) => !found.has(line.lineKey));
  return [...changed, ...missing.map((line) => `lacks the line ${line.lineKey} of ${line.totalCents} cents`)];
}

/** Of an id, only the digest of what the line is: its beginning tells where the line is kept, and its version, once others. */
function comparable(name: (typeof members)[number], line: FrozenLine): string {
  const digestAt = '00000000-0000-7'.length;
  return name === 'id' ? line.id.slice(digestAt) : textOf(line[name]);
}

function textOf(value: FrozenLine[keyof FrozenLine]): string {
  if (value === undefined) return 'nothing';
  return typeof value === 'object' && !(value instanceof Temporal.Instant) ? JSON.stringify(value) : String(value);
}

function problem(invoice: Invoice, words: string): Problem {
  return { objectId: invoice.id, problem: `invoice ${invoice.number} ${words}` };
}
