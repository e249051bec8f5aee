/**
 * Running usage through all grants in order (semantics 9), within the caps of budgets (semantics 10).
 * Pure, and always computed from what the grants had before the open invoices drew on them. So a second run over the same
 * usage gives the same totals, and only the difference is written (settlement-plan.ts).
 */

import { assert } from '../assert.ts';
import { limits } from '../limits.ts';
import { type BudgetCap, budgetCapCents, isOfBudget } from './budget.ts';
import { compareDeduction } from './deduction-order.ts';
import { creditsOf, expiresBefore, keepHistory, lineOf, type OpenAtom, pay, type Room } from './kept-payments.ts';
import { type Draw, type GrantState, isFree, type OpenDraw } from './ledger.ts';
import { centsOfCredits } from '../whole-amounts.ts';
import { maximum, microsOfCents, minimum } from './money.ts';
import { isSpecified } from './specifiers.ts';
import type { UsageAtom } from './usage-atoms.ts';

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
 * What each grant pays on each line of the open invoices, in total: in deduction order, but those of closed grants first.
 *
 * Atoms go in the order of invoice, phase, line; the grants that may pay an atom do so in deduction order. A grant with a
 * rate gives credits by its own ratio, half-up at six decimals, and all it has left with its last cent. Free credits are
 * valued at `valuationRateCents`, up to `limits.centsMaximum`, and stay unused without it (semantics 9). What closed grants
 * paid stays, unless the usage itself has shrunk. Budgets make the first cents of their dimension creditable, up to the cap
 * (semantics 10); what closed grants paid of it counts first.
 */
export function burnDown(input: BurnDownInput): Draw[] {
  const caps = roomsOf(input.budgets, input.valuationRateCents);
  const atoms = creditableAtoms(input.usage.toSorted(byPhase), caps);
  const ordered = input.grants.toSorted(compareDeduction);
  const written = Map.groupBy(input.openDraws, (draw) => draw.grantId);
  const closed = ordered.filter((grant) => grant.isClosed && written.has(grant.grantId));
  const history = closed.length === 0 ? [] : keepHistory(closed, written, { atoms, caps });
  const pools = ordered.filter((grant) => !grant.isClosed).map((grant) => poolOf(grant, input.valuationRateCents));
  payAtoms(atoms, pools);
  return [...history, ...pools.flatMap((pool) => drawsOfPool(pool, input.valuationRateCents))];
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

function poolOf(grant: GrantState, valuationRateCents: bigint | undefined): Pool {
  const worth = valuationRateCents === undefined ? 0n : centsOfCredits(grant.availableMicros, valuationRateCents);
  return {
    grant,
    capacityCents: isFree(grant) ? minimum(worth, limits.centsMaximum) : grant.availableCents,
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
    const own = lasting.getOrInsertComputed(
      phaseEnd,
      () => new Set(pools.filter((pool) => !pool.wasShort && !expiresBefore(pool.grant, phaseEnd))),
    );
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

function take(pool: Pool, atom: UsageAtom, cents: bigint): void {
  pool.takings.getOrInsert(lineOf(atom), { atom, appliedCents: 0n }).appliedCents += cents;
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

function byPhase(a: UsageAtom, b: UsageAtom): number {
  return a.periodIndex - b.periodIndex || a.phaseEnd.epochMilliseconds - b.phaseEnd.epochMilliseconds;
}
