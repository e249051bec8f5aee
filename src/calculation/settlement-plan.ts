/**
 * The entries that bring the usage written on open invoices to what the burn-down says (semantics 9, Settlement).
 * Once they are written, a second plan is empty.
 */

import { type Draw, drawKey, type LedgerEntry, type OpenDraw } from './ledger.ts';

/** Both lists are empty where the ledger already agrees with the burn-down. */
export interface SettlementPlan {
  /** Usage entries to undo, each whole; to be written first, so that no grant falls below 0 on the way. */
  readonly reversals: readonly LedgerEntry[];
  /** Usage entries to write, as positive figures. */
  readonly usage: readonly Draw[];
}

type Figures = Pick<Draw, 'appliedCents' | 'amountCents' | 'creditMicros'>;

const nothing: Figures = { appliedCents: 0n, amountCents: 0n, creditMicros: 0n };

/**
 * More usage adds an entry for the difference. Less usage reverses entries, newest first, until what is left is not too
 * much, and adds the rest anew: a reversal always undoes a whole entry (interface 4.16). The same happens where the same
 * credits only become worth more, because an entry for the difference would take no credits.
 */
export function planSettlement(draws: readonly Draw[], openDraws: readonly OpenDraw[]): SettlementPlan {
  const written = new Map(openDraws.map((draw) => [drawKey(draw), draw]));
  const wanted = new Set(draws.map(drawKey));
  const dropped = openDraws.filter((draw) => !wanted.has(drawKey(draw)));
  const plans = draws.map((draw) => planDraw(draw, written.get(drawKey(draw))));
  return {
    reversals: [...plans.flatMap((plan) => plan.reversals), ...dropped.flatMap((draw) => draw.entries.toReversed())],
    usage: plans.flatMap((plan) => plan.usage),
  };
}

function planDraw(draw: Draw, written: OpenDraw | undefined): SettlementPlan {
  const reversals: LedgerEntry[] = [];
  let rest = less(draw, written ?? nothing);
  for (const entry of (written?.entries ?? []).toReversed()) {
    if (isAtLeastNothing(rest) && !takesNothing(rest)) break;
    reversals.push(entry);
    const { appliedCents, amountCents, creditMicros } = entry;
    rest = less(rest, { appliedCents: -appliedCents, amountCents, creditMicros });
  }
  return { reversals, usage: isNothing(rest) ? [] : [{ ...draw, ...rest }] };
}

function less(figures: Figures, taken: Figures): Figures {
  return {
    appliedCents: figures.appliedCents - taken.appliedCents,
    amountCents: figures.amountCents - taken.amountCents,
    creditMicros: figures.creditMicros - taken.creditMicros,
  };
}

function isAtLeastNothing({ appliedCents, amountCents, creditMicros }: Figures): boolean {
  return appliedCents >= 0n && amountCents >= 0n && creditMicros >= 0n;
}

function takesNothing({ appliedCents, amountCents, creditMicros }: Figures): boolean {
  return appliedCents !== 0n && amountCents === 0n && creditMicros === 0n;
}

function isNothing({ appliedCents, amountCents, creditMicros }: Figures): boolean {
  return appliedCents === 0n && amountCents === 0n && creditMicros === 0n;
}
