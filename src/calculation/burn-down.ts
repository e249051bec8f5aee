/**
 * Running usage through all grants in order (semantics 9), within the caps of budgets (semantics 10).
 * Pure, and always computed from what the grants had before the open invoices drew on them. So a second run over the same
 * usage gives the same totals, and only the difference is written (settlement-plan.ts).
 */

import { assert } from '../assert.ts';
import { type BudgetCap, budgetCapCents, budgetCents, isOfBudget } from './budget.ts';
import { compareDeduction } from './deduction-order.ts';
import { type GrantState, isFree, type OpenDraw } from './ledger.ts';
import { centsOfCredits, multiplyDivideHalfUp } from '../whole-amounts.ts';
import { maximum, microsOfCents, minimum, sumOf } from './money.ts';
import { isSpecified } from './specifiers.ts';
import type { UsageAtom } from './usage-atoms.ts';

/** What one grant pays on one line of one invoice, in total. All three are positive or 0. */
export interface Draw {
  readonly invoiceId: string;
  readonly lineKey: string;
  readonly grantId: string;
  /** Taken off the invoice. */
  readonly appliedCents: bigint;
  /** Taken from the grant: `appliedCents`, or 0 for free credits. */
  readonly amountCents: bigint;
  readonly creditMicros: bigint;
}

/** What credits pay of one line of one open invoice: `totalCents` is the sum of `appliedCents` and `overageCents`. */
export interface LineBurn {
  readonly invoiceId: string;
  readonly lineKey: string;
  readonly totalCents: bigint;
  readonly appliedCents: bigint;
  /** What no grant covered. */
  readonly overageCents: bigint;
}

/** Counted beyond the cap too: a budget stops credits, never usage (semantics 10). */
export interface BudgetConsumption {
  readonly budgetId: string;
  /** Rated usage of the dimension over the contract's life: finalized invoices and `usage`. */
  readonly consumedCents: bigint;
}

/** One contract: the usage of its open invoices, its grants and its budgets. */
export interface BurnDownInput {
  /** Metered lines of all open invoices, in line order; ordered here by invoice, then phase. */
  readonly usage: readonly UsageAtom[];
  readonly grants: readonly GrantState[];
  /** What is written on open invoices. Only draws on closed grants matter: these stay as they are. */
  readonly openDraws: readonly OpenDraw[];
  readonly budgets: readonly BudgetCap[];
  /** Cents per credit for free credits and for budgets in credits; absent where the contract has no rate. */
  readonly valuationRateCents?: bigint | undefined;
}

/**
 * Draws in deduction order, those of closed grants first; lines in the order in which they are paid; budgets as given.
 */
export interface BurnDown {
  readonly draws: readonly Draw[];
  readonly lines: readonly LineBurn[];
  readonly budgets: readonly BudgetConsumption[];
}

/** Usage that is being paid. */
interface OpenAtom {
  readonly atom: UsageAtom;
  /** Not paid yet. */
  openCents: bigint;
  /** The part of `openCents` that budgets still let credits pay. */
  creditableCents: bigint;
}

/** A grant that is being drawn on, in cents; its credits follow once it is known what each line takes. */
interface Pool {
  readonly grant: GrantState;
  capacityCents: bigint;
  /** Whether usage asked for more than the grant had and took all of it: further usage then changes nothing. */
  wasShort: boolean;
  readonly takings: Map<string, Taking>;
}

interface Taking {
  readonly atom: UsageAtom;
  appliedCents: bigint;
}

/**
 * What each grant pays on each line of the open invoices, in total; and what is left to pay.
 *
 * Atoms go in the order of invoice, phase, line; the grants that may pay an atom do so in deduction order. A grant with a
 * rate gives credits by its own ratio, half-up at six decimals, and all it has left with its last cent. Free credits are
 * valued at `valuationRateCents` and stay unused without it (semantics 9). What closed grants paid stays, unless the usage
 * itself has shrunk. Budgets make the first cents of their dimension creditable, up to the cap (semantics 10); what closed
 * grants paid of it counts first.
 */
export function burnDown(input: BurnDownInput): BurnDown {
  const usage = input.usage.toSorted(byPhase);
  const caps = roomsOf(input.budgets, input.valuationRateCents);
  const atoms = creditableAtoms(usage, caps);
  const ordered = input.grants.toSorted(compareDeduction);
  const written = Map.groupBy(input.openDraws, (draw) => draw.grantId);
  const closed = ordered.filter((grant) => grant.isClosed && written.has(grant.grantId));
  const history = closed.length === 0 ? [] : keepHistory(closed, written, atoms);
  if (history.length > 0) leaveRoom(atoms, caps);
  const pools = ordered.filter((grant) => !grant.isClosed).map((grant) => poolOf(grant, input.valuationRateCents));
  payAtoms(atoms, pools);
  const draws = [...history, ...pools.flatMap((pool) => drawsOfPool(pool, input.valuationRateCents))];
  return {
    draws,
    // Computed on demand: few callers need it, and open invoices may have thousands of lines.
    get lines() {
      return linesOf(usage, draws);
    },
    budgets: input.budgets.map((budget) => ({
      budgetId: budget.budgetId,
      consumedCents: budget.consumedBeforeCents + budgetCents(budget, usage),
    })),
  };
}

/** Why a grant may not pay for this usage; undefined when it may. Both the rule itself and the words of explanations. */
export function ineligibility(
  grant: Pick<GrantState, 'expiresAt' | 'specifiers'>,
  atom: UsageAtom,
): 'expired before this usage ended' | 'limited to other usage' | undefined {
  if (expiresBefore(grant, atom.phaseEnd)) return 'expired before this usage ended';
  return isSpecified(grant.specifiers, atom) ? undefined : 'limited to other usage';
}

function expiresBefore({ expiresAt }: Pick<GrantState, 'expiresAt'>, phaseEnd: Temporal.Instant): boolean {
  // As numbers: a contract may have thousands of grants, and each phase of its usage looks at all of them.
  return expiresAt !== undefined && expiresAt.epochMilliseconds < phaseEnd.epochMilliseconds;
}

/** What the cap of a budget leaves to open invoices. */
interface Room {
  readonly budget: BudgetCap;
  readonly roomCents: bigint;
}

function roomsOf(budgets: readonly BudgetCap[], valuationRateCents: bigint | undefined): Room[] {
  return budgets.flatMap((budget) => {
    const capCents = budgetCapCents(budget, valuationRateCents);
    return capCents === undefined ? [] : [{ budget, roomCents: maximum(0n, capCents - budget.consumedBeforeCents) }];
  });
}

function creditableAtoms(usage: readonly UsageAtom[], caps: readonly Room[]): OpenAtom[] {
  const capped = caps.map((room) => ({ ...room }));
  return usage.map((atom) => {
    let creditableCents = atom.cents;
    for (const room of capped.filter(({ budget }) => isOfBudget(budget, atom))) {
      creditableCents = minimum(creditableCents, room.roomCents);
      room.roomCents = maximum(0n, room.roomCents - atom.cents);
    }
    return { atom, openCents: atom.cents, creditableCents };
  });
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
 * others takes their place where they may pay for usage that is still open.
 */
function keepHistory(
  closed: readonly GrantState[],
  written: ReadonlyMap<string, readonly OpenDraw[]>,
  atoms: readonly OpenAtom[],
): Draw[] {
  const atomsOfLine = Map.groupBy(atoms, ({ atom }) => lineOf(atom));
  const all = closed.flatMap((grant) =>
    (written.get(grant.grantId) ?? []).map((draw) => keepDraw(grant, draw, atomsOfLine.get(lineOf(draw)) ?? [])),
  );
  const short = all.filter((kept) => leftOf(kept) > 0n);
  const ofLine = short.length === 0 ? undefined : Map.groupBy(all, ({ draw }) => lineOf(draw));
  // What one search finds leads nowhere leads nowhere for the next.
  const closedOff = new Set<OpenAtom>();
  for (const kept of short) takePlaces(kept, ofLine?.get(lineOf(kept.draw)) ?? [], closedOff);
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

/** Late usage may come before usage that closed grants have paid: it finds only the room of its budgets that is left. */
function leaveRoom(atoms: readonly OpenAtom[], caps: readonly Room[]): void {
  for (const { budget, roomCents } of caps) {
    const own = atoms.filter(({ atom }) => isOfBudget(budget, atom));
    let left = maximum(0n, roomCents - sumOf(own.map(({ atom, openCents }) => atom.cents - openCents)));
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

/** Credits of a grant for some of its cents, half-up to the millionth (semantics 9, Consumption). */
function creditsOf({ originalCents, originalMicros }: GrantState, cents: bigint): bigint {
  return multiplyDivideHalfUp(cents, originalMicros, originalCents);
}

function poolOf(grant: GrantState, valuationRateCents: bigint | undefined): Pool {
  const worth = valuationRateCents === undefined ? 0n : centsOfCredits(grant.availableMicros, valuationRateCents);
  return {
    grant,
    capacityCents: isFree(grant) ? worth : grant.availableCents,
    wasShort: false,
    takings: new Map(),
  };
}

/**
 * Finds once for each phase which grants expire before its end or have nothing left by then: a phase may have thousands of
 * lines, and as many grants.
 */
function payAtoms(atoms: readonly OpenAtom[], pools: readonly Pool[]): void {
  const lasting = new Map<Temporal.Instant, Set<Pool>>();
  for (const open of atoms) {
    const { phaseEnd } = open.atom;
    const own =
      lasting.get(phaseEnd) ?? new Set(pools.filter((pool) => !pool.wasShort && !expiresBefore(pool.grant, phaseEnd)));
    lasting.set(phaseEnd, own);
    payAtom(open, own);
  }
}

/** `pools` holds the grants that do not expire before the usage ends; a pool that can give nothing more is removed. */
function payAtom(open: OpenAtom, pools: Set<Pool>): void {
  for (const pool of pools) {
    if (open.creditableCents === 0n) return;
    if (pool.wasShort) {
      pools.delete(pool);
      continue;
    }
    if (!isSpecified(pool.grant.specifiers, open.atom)) continue;
    if (open.creditableCents > pool.capacityCents) pool.wasShort = true;
    const cents = pay(open, minimum(open.creditableCents, pool.capacityCents));
    if (cents > 0n) take(pool, open.atom, cents);
  }
}

function pay(open: OpenAtom, cents: bigint): bigint {
  open.openCents -= cents;
  open.creditableCents = maximum(0n, open.creditableCents - cents);
  return cents;
}

function take(pool: Pool, atom: UsageAtom, cents: bigint): void {
  const key = lineOf(atom);
  const taking = pool.takings.get(key) ?? { atom, appliedCents: 0n };
  taking.appliedCents += cents;
  pool.takings.set(key, taking);
  pool.capacityCents -= cents;
}

function drawsOfPool(pool: Pool, valuationRateCents: bigint | undefined): Draw[] {
  let micros = pool.grant.availableMicros;
  const takings = [...pool.takings.values()];
  return takings.map(({ atom, appliedCents }, index) => {
    const isLast = index === takings.length - 1;
    const creditMicros = creditsTaken({ pool, appliedCents, micros, isLast, valuationRateCents });
    micros -= creditMicros;
    return {
      invoiceId: atom.invoiceId,
      lineKey: atom.lineKey,
      grantId: pool.grant.grantId,
      appliedCents,
      amountCents: isFree(pool.grant) ? 0n : appliedCents,
      creditMicros,
    };
  });
}

interface CreditsTaken {
  readonly pool: Pool;
  readonly appliedCents: bigint;
  /** What the grant has left before this line. */
  readonly micros: bigint;
  readonly isLast: boolean;
  readonly valuationRateCents: bigint | undefined;
}

function creditsTaken({ pool, appliedCents, micros, isLast, valuationRateCents }: CreditsTaken): bigint {
  if (micros === 0n) return 0n;
  if (isFree(pool.grant)) {
    if (isLast && pool.wasShort) return micros;
    assert(valuationRateCents !== undefined, 'free credits that nothing values pay for nothing');
    // However much a credit is worth, even a cent takes at least a millionth of one.
    return minimum(micros, maximum(1n, microsOfCents(appliedCents, valuationRateCents)));
  }
  if (isLast && pool.capacityCents === 0n) return micros;
  // While a cent is left, so is some credit: rounding must not empty one before the other.
  return minimum(micros - 1n, creditsOf(pool.grant, appliedCents));
}

function linesOf(usage: readonly UsageAtom[], draws: readonly Draw[]): LineBurn[] {
  const applied = new Map<string, bigint>();
  for (const draw of draws) applied.set(lineOf(draw), (applied.get(lineOf(draw)) ?? 0n) + draw.appliedCents);
  return Map.groupBy(usage, lineOf)
    .entries()
    .flatMap(([key, atoms]) => {
      const [first] = atoms;
      if (first === undefined) return [];
      const totalCents = sumOf(atoms.map((atom) => atom.cents));
      const appliedCents = applied.get(key) ?? 0n;
      const { invoiceId, lineKey } = first;
      return [{ invoiceId, lineKey, totalCents, appliedCents, overageCents: totalCents - appliedCents }];
    })
    .toArray();
}

function lineOf({ invoiceId, lineKey }: { readonly invoiceId: string; readonly lineKey: string }): string {
  return `${invoiceId} ${lineKey}`;
}

function byPhase(a: UsageAtom, b: UsageAtom): number {
  return a.periodIndex - b.periodIndex || a.phaseEnd.epochMilliseconds - b.phaseEnd.epochMilliseconds;
}
