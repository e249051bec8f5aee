/** Compares two replays: what each customer is billed, and the effect of the changed conditions. */

import { BillingError } from '../../errors.ts';
import { exactNumber } from '../../exact-json.ts';
import type { ExactNumber } from '../../exact-json.ts';
import { counted } from '../../counted.ts';
import { centsOf } from '../wire/amounts.ts';
import type { Invoice } from './books.ts';
import type { History } from './history.ts';
import type { Replayed } from './replay.ts';

export interface Amounts {
  /** What was really billed. */
  readonly billedCents: ExactNumber;
  /** What a replay of the unchanged history bills: the base of the difference. */
  readonly beforeCents: ExactNumber;
  readonly afterCents: ExactNumber;
  readonly differenceCents: ExactNumber;
  /** Difference in percent of `beforeCents`, with two decimals, rounded half away from 0; null if that is 0. */
  readonly differencePercent: ExactNumber | null;
}

export interface ComparedCustomer extends Amounts {
  readonly customer: string;
  readonly customerId: string;
  readonly name: string;
}

export interface Comparison {
  readonly from?: string;
  readonly until: string;
  /** Events replayed from a database. */
  readonly eventCount?: number;
  /** From a mirror: metered lines of invoices, which stand for events. */
  readonly quantityCount?: number;
  /** Customers with a contract that could not be repeated: they are in no amount. */
  readonly leftOutCount?: number;
  /** New grants that no contract got: no amount has anything of them. */
  readonly ungivenGrantCount?: number;
  readonly total: Amounts;
  readonly customers: readonly ComparedCustomer[];
  readonly notes: readonly { readonly customer: string; readonly note: string }[];
}

export interface CountedWindow {
  readonly from: string | undefined;
  readonly until: string;
  /** Whether usage from `until` on is known and left out. */
  readonly isShortened?: boolean;
}

/**
 * Counts invoices whose billing period begins on or after `from`, and before `until`; never cancelled ones. Throws if no period
 * begins then, which would look like a comparison without a difference.
 */
export function compare(
  history: History,
  { before, after }: { readonly before: Replayed; readonly after: Replayed },
  { from, until, isShortened = false, isMirror }: CountedWindow & { readonly isMirror: boolean },
): Comparison {
  const untilEpochMs = Date.parse(until);
  const isWithin = ({ period }: Invoice) =>
    period !== undefined && (from === undefined || period.start >= from) && Date.parse(period.start) < untilEpochMs;
  const isReplayed = ({ invoices }: Replayed) => invoices.some(({ invoice }) => isWithin(invoice));
  if (from !== undefined && !history.billed.some(isWithin) && !isReplayed(before) && !isReplayed(after)) {
    const words = `no billing period begins from ${from} on and before ${until}: there is nothing to compare`;
    throw new BillingError('invalidInput', words, { hint: 'give an earlier --from, or a later --to' });
  }
  const isCounted = (invoice: Invoice) => invoice.status !== 'Cancelled' && isWithin(invoice);
  const totalOf = (invoices: readonly Invoice[]) =>
    invoices.filter(isCounted).reduce((sum, { totalCents }) => sum + centsOf(totalCents), 0n);
  const isCut = (invoice: Invoice) =>
    isShortened && isCounted(invoice) && Date.parse(invoice.period?.end ?? until) > untilEpochMs;
  const billed = Map.groupBy(history.billed, ({ customerId }) => customerId);
  const replayed = ({ invoices }: Replayed) => {
    const owned = Map.groupBy(invoices, ({ customerId }) => customerId);
    return (id: string) => (owned.get(id) ?? []).map(({ invoice }) => invoice);
  };
  const [replayedBefore, replayedAfter] = [replayed(before), replayed(after)];

  // Usage of such a contract would be billed on another contract of its customer, and its own amounts are not known.
  const isComplete = ({ id }: { readonly id: string }) => !before.incomplete.has(id) && !after.incomplete.has(id);
  const complete = history.customers.filter(isComplete);
  const leftOutCount = history.customers.length - complete.length;
  const { ungivenGrantCount } = after;
  const sums = complete.map(({ id, label, name }) => ({
    customer: label,
    customerId: id,
    name,
    billed: totalOf(billed.get(id) ?? []),
    before: totalOf(replayedBefore(id)),
    after: totalOf(replayedAfter(id)),
  }));
  const sum = (part: 'billed' | 'before' | 'after') => sums.reduce((total, each) => total + each[part], 0n);
  const labels = new Map(history.customers.map(({ id, label }) => [id, label]));
  const notes = [...before.notes, ...after.notes].map(({ customerId, note }) => ({
    customer: labels.get(customerId) ?? customerId,
    note,
  }));
  const unlike = sums
    .filter((each) => each.billed !== each.before)
    .map(({ customer, customerId: id }) => {
      const invoices = billed.get(id) ?? [];
      const again = billedAgain(invoices.filter(isWithin), replayedBefore(id).filter(isCounted));
      const cut = invoices.some(isCut) ? '; --to ends within a period, of which all usage is billed' : '';
      return { customer, note: `${isMirror ? billedOtherwise : billedUnlike}${again}${cut}` };
    });
  return {
    ...(from === undefined ? {} : { from }),
    until,
    ...(isMirror ? { quantityCount: history.events.length } : { eventCount: history.events.length }),
    ...(leftOutCount === 0 ? {} : { leftOutCount }),
    ...(ungivenGrantCount === 0 ? {} : { ungivenGrantCount }),
    total: amounts({ billed: sum('billed'), before: sum('before'), after: sum('after') }),
    customers: sums.map(({ customer, customerId, name, ...cents }) => ({
      customer,
      customerId,
      name,
      ...amounts(cents),
    })),
    notes: [...new Map([...notes, ...unlike].map((each) => [`${each.customer}\n${each.note}`, each])).values()],
  };
}

const billedUnlike = 'was billed differently from what a replay of the same history bills';
const billedOtherwise =
  'was billed differently from what its invoiced quantities come to: what the interface does not show, such as what grants are limited to, is not repeated';

/** Words for cancelled invoices that the replay bills. A draft that went with its contract is in no replay either. */
function billedAgain(billed: readonly Invoice[], replayed: readonly Invoice[]): string {
  const periods = new Set(replayed.map(({ period }) => period?.start));
  const { length } = billed.filter(({ status, period }) => status === 'Cancelled' && periods.has(period?.start));
  return length === 0 ? '' : `; cancellations are not repeated (${counted(length, 'invoice')})`;
}

interface Sums {
  readonly billed: bigint;
  readonly before: bigint;
  readonly after: bigint;
}

function amounts({ billed, before, after }: Sums): Amounts {
  const wire = (cents: bigint) => exactNumber(String(cents));
  return {
    billedCents: wire(billed),
    beforeCents: wire(before),
    afterCents: wire(after),
    differenceCents: wire(after - before),
    differencePercent: percentOf(after - before, before),
  };
}

/** A percentage such as `25.00` or `-3.33`, rounded half away from 0; null if `whole` is 0. */
export function percentOf(part: bigint, whole: bigint): ExactNumber | null {
  if (whole === 0n) return null;
  const isNegative = part < 0n !== whole < 0n && part !== 0n;
  const [top, bottom] = [part < 0n ? -part : part, whole < 0n ? -whole : whole];
  const hundredths = (top * 20_000n + bottom) / (bottom * 2n);
  const digits = String(hundredths).padStart(3, '0');
  const sign = isNegative && hundredths !== 0n ? '-' : '';
  return exactNumber(`${sign}${digits.slice(0, -2)}.${digits.slice(-2)}`);
}
