/** Why each grant paid what it paid of one metered line, for explanations. What is paid is decided in burn-down.ts. */

import { type BudgetDimension, isOfBudget } from './budget.ts';
import { ineligibility } from './kept-payments.ts';
import { type Draw, type GrantState, hasExpired, isFree } from './ledger.ts';
import { sumOf } from './money.ts';
import { centsOfCredits } from '../whole-amounts.ts';
import type { UsageAtom } from './usage-atoms.ts';

/** What one grant paid of the line, in cents and millionths of a credit, positive or 0; and why, in words. */
export interface LinePayment {
  readonly grantId: string;
  readonly appliedCents: bigint;
  readonly creditMicros: bigint;
  readonly why: string;
}

/** One metered line of one invoice, with all that could pay for it. */
export interface LinePaymentInput {
  /** Usage of this line alone. */
  readonly atoms: readonly UsageAtom[];
  /** In deduction order, before their rest lapsed. */
  readonly grants: readonly GrantState[];
  /** What the grants paid of this line. */
  readonly draws: readonly Draw[];
  /** What the grants have paid of earlier invoices and lines since the state in `grants`, by grant id. */
  readonly drawnBefore: ReadonlyMap<string, Drawn>;
  /** The same with all of this invoice: a phase goes through every line before the next one begins, so later lines may pay first. */
  readonly drawnInAll: ReadonlyMap<string, Drawn>;
  readonly budgets: readonly BudgetDimension[];
  /** Cents per credit for free credits; undefined where they have no value on the contract. */
  readonly valuationRateCents: bigint | undefined;
  /** The instant explained: now, or when the invoice was finalized. */
  readonly asOf: Temporal.Instant;
}

/** What was taken from a grant, for any usage. */
export type Drawn = Pick<Draw, 'amountCents' | 'creditMicros'>;

/** One payment for each grant, in the order given, including those that paid nothing. */
export function explainLinePayments(input: LinePaymentInput): LinePayment[] {
  const drawsOf = Map.groupBy(input.draws, (draw) => draw.grantId);
  const isCovered = sumOf(input.draws.map((draw) => draw.appliedCents)) === centsOf(input.atoms);
  let paidBefore = 0n;
  return input.grants.map((grant) => {
    const own = drawsOf.get(grant.grantId) ?? [];
    const appliedCents = sumOf(own.map((draw) => draw.appliedCents));
    const creditMicros = sumOf(own.map((draw) => draw.creditMicros));
    const payment = { grant, own, appliedCents, paidBefore, isCovered };
    const why = appliedCents > 0n ? whyPaid(payment, input) : whyNotPaid(payment, input);
    paidBefore += appliedCents;
    return { grantId: grant.grantId, appliedCents, creditMicros, why };
  });
}

interface GrantPayment {
  readonly grant: GrantState;
  readonly own: readonly Draw[];
  readonly appliedCents: bigint;
  /** Cents that the grants before it paid. */
  readonly paidBefore: bigint;
  /** Whether credits paid all of the line. */
  readonly isCovered: boolean;
}

function whyPaid({ grant, own, appliedCents, paidBefore, isCovered }: GrantPayment, input: LinePaymentInput): string {
  if (!hasRest(grant, [...drawnOf(grant, input.drawnBefore), ...own])) return 'paid until it was used up';
  if (appliedCents === centsOf(input.atoms)) return 'paid all of it';
  if (isCovered) return 'paid what was still open';
  const payable = payableBy(grant, input);
  const isShort = paidBefore + appliedCents < centsOf(payable) && !isCapped(payable, input) && isUsedUp(grant, input);
  return isShort ? 'paid until it was used up' : 'paid the part that credits may pay';
}

/** In the order in which the burn-down itself looks: may it pay, can it, is there anything left to pay. */
function whyNotPaid({ grant, paidBefore }: GrantPayment, input: LinePaymentInput): string {
  if (centsOf(input.atoms) === 0n) return 'there is nothing to pay';
  const payable = payableBy(grant, input);
  const [first] = input.atoms;
  if (payable.length === 0) return (first && ineligibility(grant, first)) ?? 'may not pay this usage';
  if (isFree(grant) && input.valuationRateCents === undefined)
    return 'free credits have no value here: the contract has no credit rate';
  if (paidBefore >= centsOf(payable)) return 'earlier grants paid all of it';
  const whyEmpty = whyNothingLeft(grant, input.drawnBefore, input);
  if (whyEmpty !== undefined) return whyEmpty;
  if (isCapped(payable, input)) return 'a budget caps the credits that this usage may take';
  const whyEmptied = whyNothingLeft(grant, input.drawnInAll, input);
  if (whyEmptied !== undefined) return whyEmptied;
  // On a clock that stands still a grant may come later at the same instant.
  return hasExpired(grant, input.asOf)
    ? 'had lapsed before this usage came in'
    : 'was granted after the invoice was finalized';
}

function payableBy(grant: GrantState, { atoms }: LinePaymentInput): readonly UsageAtom[] {
  return atoms.filter((atom) => ineligibility(grant, atom) === undefined);
}

function isCapped(payable: readonly UsageAtom[], { budgets }: LinePaymentInput): boolean {
  return payable.some((atom) => budgets.some((budget) => isOfBudget(budget, atom)));
}

function isUsedUp(grant: GrantState, { drawnInAll }: LinePaymentInput): boolean {
  return !hasRest(grant, drawnOf(grant, drawnInAll));
}

/** Credits that come to less than half a cent pay nothing, although there are some. */
function whyNothingLeft(
  grant: GrantState,
  draws: ReadonlyMap<string, Drawn>,
  { valuationRateCents }: LinePaymentInput,
): string | undefined {
  const drawn = drawnOf(grant, draws);
  const micros = grant.availableMicros - sumOf(drawn.map((draw) => draw.creditMicros));
  const isWorthless = isFree(grant) && centsOfCredits(micros, valuationRateCents ?? 0n) === 0n;
  if (hasRest(grant, drawn) && !isWorthless) return undefined;
  return micros > 0n ? 'had credits left that are worth no cent' : 'had nothing left';
}

function drawnOf({ grantId }: GrantState, draws: ReadonlyMap<string, Drawn>): readonly Drawn[] {
  const drawn = draws.get(grantId);
  return drawn === undefined ? [] : [drawn];
}

/** Whether anything is left of a grant after these draws on it. */
function hasRest(grant: GrantState, own: readonly Drawn[]): boolean {
  if (isFree(grant)) return grant.availableMicros > sumOf(own.map((draw) => draw.creditMicros));
  return grant.availableCents > sumOf(own.map((draw) => draw.amountCents));
}

function centsOf(atoms: readonly UsageAtom[]): bigint {
  return sumOf(atoms.map((atom) => atom.cents));
}
