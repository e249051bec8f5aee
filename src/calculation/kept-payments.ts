/** What grants that have lapsed keep paying on open invoices, when usage and budgets change behind them (semantics 9, 10). */

import { type BudgetCap, isOfBudget } from './budget.ts';
import { type Draw, type GrantState, isFree, type OpenDraw } from './ledger.ts';
import { maximum, minimum, sumOf } from './money.ts';
import { isSpecified } from './specifiers.ts';
import type { UsageAtom } from './usage-atoms.ts';
import { multiplyDivideHalfUp } from '../whole-amounts.ts';

/** Usage that is being paid. */
export interface OpenAtom {
  readonly atom: UsageAtom;
  /** Not paid yet. */
  openCents: bigint;
  /** The part of `openCents` that budgets still let credits pay. */
  creditableCents: bigint;
}

/** What the cap of a budget leaves to open invoices. */
export interface Room {
  readonly budget: BudgetCap;
  readonly roomCents: bigint;
}

/** A draw of a closed grant, and the usage that it is taken to have paid. */
interface Kept {
  readonly grant: GrantState;
  readonly draw: OpenDraw;
  /** Usage of the line that the grant may pay. */
  readonly covered: readonly OpenAtom[];
  readonly paid: Map<OpenAtom, bigint>;
}

/**
 * What closed grants have paid stays paid, as far as there still is usage for it. It covers creditable cents first, so that
 * they are not paid twice, and only then cents beyond a cap that was lowered later. A grant that finds its usage covered by
 * others takes their place where they may pay for usage that is still open. What is left creditable is the room of caps that
 * is left then.
 */
export function keepHistory(
  closed: readonly GrantState[],
  written: ReadonlyMap<string, readonly OpenDraw[]>,
  { atoms, caps }: { readonly atoms: readonly OpenAtom[]; readonly caps: readonly Room[] },
): Draw[] {
  const atomsOfLine = Map.groupBy(atoms, ({ atom }) => lineOf(atom));
  const all = closed.flatMap((grant) =>
    (written.get(grant.grantId) ?? []).map((draw) => keepDraw(grant, draw, atomsOfLine.get(lineOf(draw)) ?? [])),
  );
  const short = all.filter((kept) => leftOf(kept) > 0n);
  const ofLine = short.length === 0 ? undefined : Map.groupBy(all, ({ draw }) => lineOf(draw));
  // Where one search has found no open usage, the next would not either.
  const closedOff = new Set<OpenAtom>();
  for (const kept of short) takePlaces(kept, ofLine?.get(lineOf(kept.draw)) ?? [], closedOff);
  for (const cap of caps) leaveCapped(all, atoms, cap);
  leaveRoom(atoms, caps);
  return all
    .map((kept) => partOfDraw(kept.grant, kept.draw, kept.draw.appliedCents - leftOf(kept)))
    .filter((draw) => draw.appliedCents > 0n);
}

function keepDraw(grant: GrantState, draw: OpenDraw, atoms: readonly OpenAtom[]): Kept {
  const covered = atoms.filter(({ atom }) => ineligibility(grant, atom) === undefined);
  const kept = { grant, draw, covered, paid: new Map<OpenAtom, bigint>() };
  let left = draw.appliedCents;
  const cover = (atom: OpenAtom, cents: bigint) => {
    left -= pay(atom, cents);
    movePaid(kept, atom, cents);
  };
  for (const atom of covered) cover(atom, minimum(left, atom.creditableCents));
  for (const atom of covered) cover(atom, minimum(left, atom.openCents));
  return kept;
}

function leftOf({ draw, paid }: Kept): bigint {
  return draw.appliedCents - sumOf([...paid.values()]);
}

function movePaid({ paid }: Kept, atom: OpenAtom, cents: bigint): void {
  if (cents !== 0n) paid.set(atom, (paid.get(atom) ?? 0n) + cents);
}

function takePlaces(kept: Kept, others: readonly Kept[], closedOff: Set<OpenAtom>): void {
  for (let left = leftOf(kept); left > 0n; left = leftOf(kept)) {
    const seen = new Set(closedOff);
    if (takePlace(kept, left, { others, seen }) > 0n) continue;
    for (const atom of seen) closedOff.add(atom);
    return;
  }
}

/** Covers more for a draw, `cents` at most, where need be by moving others on; gives how much, 0 where nothing is to be had. */
function takePlace(
  kept: Kept,
  cents: bigint,
  search: { readonly others: readonly Kept[]; readonly seen: Set<OpenAtom> },
): bigint {
  if (cents === 0n) return 0n;
  for (const atom of kept.covered) {
    if (search.seen.has(atom)) continue;
    search.seen.add(atom);
    const free = pay(atom, minimum(cents, atom.openCents));
    movePaid(kept, atom, free);
    if (free > 0n) return free;
    for (const other of search.others) {
      const moved = takePlace(other, minimum(cents, other.paid.get(atom) ?? 0n), search);
      movePaid(other, atom, -moved);
      movePaid(kept, atom, moved);
      if (moved > 0n) return moved;
    }
  }
  return 0n;
}

/**
 * Late usage of a capped dimension may come to a line that a closed grant has paid. As far as the cap has no room for it, the
 * payment was for other usage of the line.
 */
function leaveCapped(all: readonly Kept[], atoms: readonly OpenAtom[], { budget, roomCents }: Room): void {
  let excess = paidCents(atoms.filter(({ atom }) => isOfBudget(budget, atom))) - roomCents;
  if (excess <= 0n) return;
  for (const kept of all) {
    const others = kept.covered.filter(({ atom }) => !isOfBudget(budget, atom));
    for (const [capped, cents] of [...kept.paid].filter(([{ atom }]) => isOfBudget(budget, atom))) {
      let left = minimum(excess, cents);
      for (const other of others) {
        if (left === 0n) break;
        const moved = pay(other, minimum(left, other.creditableCents));
        capped.openCents += moved;
        movePaid(kept, capped, -moved);
        movePaid(kept, other, moved);
        left -= moved;
        excess -= moved;
      }
    }
  }
}

function paidCents(atoms: readonly OpenAtom[]): bigint {
  return sumOf(atoms.map(({ atom, openCents }) => atom.cents - openCents));
}

/** Late usage may come before usage that closed grants have paid: it finds only the room of its budgets that is left. */
function leaveRoom(atoms: readonly OpenAtom[], caps: readonly Room[]): void {
  for (const { budget, roomCents } of caps) {
    const own = atoms.filter(({ atom }) => isOfBudget(budget, atom));
    let left = maximum(0n, roomCents - paidCents(own));
    for (const open of own) {
      open.creditableCents = minimum(open.creditableCents, left);
      left -= open.creditableCents;
    }
  }
}

/** A draw as written. A smaller part of it takes the credits of its cents, or its share of free credits. */
function partOfDraw(grant: GrantState, draw: OpenDraw, appliedCents: bigint): Draw {
  const { invoiceId, lineKey, grantId, amountCents, creditMicros } = draw;
  const whole = { invoiceId, lineKey, grantId, appliedCents, amountCents, creditMicros };
  if (appliedCents === draw.appliedCents) return whole;
  if (isFree(grant)) {
    return { ...whole, creditMicros: multiplyDivideHalfUp(creditMicros, appliedCents, draw.appliedCents) };
  }
  return { ...whole, amountCents: appliedCents, creditMicros: minimum(creditMicros, creditsOf(grant, appliedCents)) };
}

/** Takes cents off what is open, and off what is creditable of it; gives how many. */
export function pay(open: OpenAtom, cents: bigint): bigint {
  open.openCents -= cents;
  open.creditableCents = maximum(0n, open.creditableCents - cents);
  return cents;
}

/** Credits of a grant for some of its cents, half-up to the millionth (semantics 9, Consumption). */
export function creditsOf({ originalCents, originalMicros }: GrantState, cents: bigint): bigint {
  return multiplyDivideHalfUp(cents, originalMicros, originalCents);
}

/** Why a grant may not pay for this usage; undefined when it may. Both the rule itself and the words of explanations. */
export function ineligibility(
  grant: Pick<GrantState, 'expiresAt' | 'specifiers'>,
  atom: UsageAtom,
): 'expired before this usage ended' | 'limited to other usage' | undefined {
  if (expiresBefore(grant, atom.phaseEnd)) return 'expired before this usage ended';
  return isSpecified(grant.specifiers, atom) ? undefined : 'limited to other usage';
}

/** Whether a grant has expired by the end of a phase. */
export function expiresBefore({ expiresAt }: Pick<GrantState, 'expiresAt'>, phaseEnd: Temporal.Instant): boolean {
  // As numbers: a contract may have thousands of grants, and each phase of its usage looks at all of them.
  return expiresAt !== undefined && expiresAt.epochMilliseconds < phaseEnd.epochMilliseconds;
}

/** Names a line of an invoice. */
export function lineOf({ invoiceId, lineKey }: { readonly invoiceId: string; readonly lineKey: string }): string {
  return `${invoiceId} ${lineKey}`;
}
