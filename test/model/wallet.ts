/** Credits of a contract: what usage draws from which grant, and the entries that settlement writes (semantics 9, 10). */

import { dayOf, dayOfInstant } from './calendar.ts';
import { add, atLeastZero, compare, divide, halfUp, least, most, multiply, smaller, whole, zero } from './fraction.ts';
import { isClosed, nothing, plus, remainderOf, standingGrants } from './grants.ts';
import type { Money } from './grants.ts';
import { billedEvents, readingsBy } from './metering.ts';
import { meteredLines, usageWindows, windowsTouching } from './rating.ts';
import type { Fraction } from './fraction.ts';
import type { UsageWindow } from './rating.ts';
import type { Budget, Contract, Entry, Invoice, Line, Specifiers, State } from './state.ts';

const micro = 1_000_000n;
const hour = 3_600_000;

/** Soonest expiry, promotional first, lower purchase rate, older, id (interface 4.15 rule 5, semantics 9). */
export function burnOrder(grants: readonly Entry[], all: readonly Entry[]): Entry[] {
  const keys = (grant: Entry): (number | bigint)[] => [
    grant.expiresAt ?? Infinity,
    grant.isPromotional ? 0 : 1,
    grant.purchaseRateCents,
    grant.createdAt,
    all.indexOf(grant),
  ];
  return [...grants].sort((a, b) => {
    const [left, right] = [keys(a), keys(b)];
    const at = left.findIndex((key, index) => key !== right[index]);
    return at < 0 ? 0 : (left[at] ?? 0) < (right[at] ?? 0) ? -1 : 1;
  });
}

/** Cents that a free credit is worth; undefined when nobody has said. */
export function valuationRate(contract: Contract): bigint | undefined {
  return contract.creditRateCents ?? standingGrants(contract).findLast((grant) => grant.rateCents > 0n)?.rateCents;
}

/** Whether a grant pays for usage: OR inside a list, AND across members. */
function paysFor(specifiers: Specifiers | undefined, { line, eventName, properties: facts }: Usage): boolean {
  const pricing = line.item?.pricing;
  const { meterIds, productIds, pricingIds, eventNames, properties } = specifiers ?? {};
  if (meterIds !== undefined && !meterIds.includes(pricing?.meter?.id ?? '')) return false;
  if (productIds !== undefined && !productIds.includes(pricing?.productId ?? '')) return false;
  if (pricingIds !== undefined && !pricingIds.includes(pricing?.id ?? '')) return false;
  if (eventNames !== undefined && !eventNames.includes(eventName)) return false;
  return Object.entries(properties ?? {}).every(([key, wanted]) => {
    const fact = facts[key];
    return fact !== undefined && [wanted].flat().includes(fact);
  });
}

function isOf(budget: Budget, { line, properties }: Usage): boolean {
  if (budget.meterId !== null && budget.meterId !== line.item?.pricing.meter?.id) return false;
  return properties[budget.key] === budget.value;
}

/** The smaller of both caps, in cents; undefined when neither is set. */
export function capOf(contract: Contract, budget: Budget): Fraction | undefined {
  const caps = capsOf(contract, budget);
  return caps.length === 0 ? undefined : caps.reduce(smaller);
}

/** The caps that are set, in cents. */
export function capsOf(contract: Contract, budget: Budget): Fraction[] {
  const rate = valuationRate(contract);
  const caps: Fraction[] = [];
  if (budget.maxMicros !== null && (rate !== undefined || budget.maxMicros === 0n)) {
    caps.push({ n: budget.maxMicros * (rate ?? 0n), d: micro });
  }
  if (budget.maxCents !== null) caps.push(whole(budget.maxCents));
  return caps;
}

/** What was or is to be taken from one grant for one line of one invoice. */
export interface Draw extends Money {
  readonly invoice: Invoice;
  readonly line: Line;
  readonly grant: Entry;
  readonly applied: bigint;
}

/** Usage entries and their reversals of one invoice, line and grant, as one draw. */
export function recordedDraw(contract: Contract, invoice: Invoice, lineKey: string, grant: Entry): Omit<Draw, 'line'> {
  const own = contract.entries.filter(
    (entry) => entry.invoice === invoice && entry.lineKey === lineKey && entry.grant === grant,
  );
  const { cents, micros } = own.reduce<Money>(plus, nothing);
  const applied = own.reduce((sum, entry) => sum + entry.applied, 0n);
  return { invoice, grant, applied, cents: -cents, micros: -micros };
}

/** A part of a line that grants and budgets can tell from the rest. */
interface Usage {
  readonly line: Line;
  readonly eventName: string;
  /** Group values, and the other properties that somebody asks about. */
  readonly properties: Readonly<Record<string, string>>;
  readonly cents: bigint;
}

/** Usage of one line in one stretch of time between two expiries. */
interface Atom extends Usage {
  readonly invoice: Invoice;
  /** Usage of the atom was before this instant. */
  readonly before: number;
}

/** Usage of every draft that has begun, in the order in which it is paid for. */
function atomsOf(state: State, contract: Contract): Atom[] {
  return contract.invoices
    .filter((invoice) => invoice.status === 'Drafted')
    .flatMap((invoice) =>
      usageWindows(invoice)
        .filter((window) => window.from <= state.now)
        .flatMap((window) => usagesOf(state, contract, window))
        .sort((a, b) => a.before - b.before)
        .map((usage) => ({ invoice, ...usage })),
    );
}

/**
 * The usage of a window, cut at the expiry of each grant, and by what grants and budgets ask about. The amount that is
 * owed without any usage falls due at the end; no cut takes more than the whole comes to.
 */
function usagesOf(state: State, contract: Contract, window: UsageWindow): (Usage & { readonly before: number })[] {
  const expiries = standingGrants(contract).flatMap((grant) => grant.expiresAt ?? []);
  const inside = [...new Set(expiries)].filter((expiry) => expiry > window.from && expiry < window.to);
  const cuts = [...inside.sort((a, b) => a - b), window.to];
  return meteredLines(state, contract, window).flatMap((whole) => {
    let counted = 0n;
    return cuts.flatMap((before, index) => {
      const line = meteredLines(state, contract, window, before).find((each) => each.key === whole.key);
      const owed = before === window.to ? whole.cents : line?.isUsed === true ? least(line.cents, whole.cents) : 0n;
      const cents = most(owed - counted, 0n);
      counted += cents;
      const from = cuts[index - 1] ?? window.from;
      const shares = cents === 0n ? [] : sharesOf(state, contract, window, { line: whole, cents, from, before });
      return shares.map((share) => ({ ...share, before }));
    });
  });
}

/** The parts of a line's cents: by quantity for SUM and COUNT; for MAX and MIN all go to what sets the quantity. */
function sharesOf(
  state: State,
  contract: Contract,
  window: UsageWindow,
  { line, cents, from, before }: { line: Line; cents: bigint; from: number; before: number },
): Usage[] {
  const { meter } = window.item.pricing;
  if (meter === undefined) throw new TypeError('a usage price without a meter');
  const isExtreme = meter.aggregation === 'MAX' || meter.aggregation === 'MIN';
  const events = billedEvents(state, contract, meter, isExtreme ? window.from : from, before);
  const parts = readingsBy(meter, events, askedOf(contract)).filter(
    (part) => JSON.stringify(part.groups) === JSON.stringify(line.groups),
  );
  if (parts.length === 0) return [{ line, eventName: '', properties: line.groups, cents }];
  if (isExtreme) {
    const sign = meter.aggregation === 'MAX' ? 1 : -1;
    const [first] = [...parts].sort((a, b) => sign * compare(b.quantity, a.quantity));
    return first === undefined ? [] : [{ line, ...first, cents }];
  }
  const weights = parts.map((part) => atLeastZero(part.quantity));
  const total = weights.reduce(add, zero);
  let weight = zero;
  let counted = 0n;
  return parts.map((part, index) => {
    weight = add(weight, weights[index] ?? zero);
    const upTo = total.n === 0n ? cents : halfUp(divide(multiply(whole(cents), weight), total));
    const share = upTo - counted;
    counted = upTo;
    return { line, ...part, cents: share };
  });
}

/** What budgets and grants of a contract ask about: properties, and event names. */
function askedOf(contract: Contract): { names: boolean; properties: string[] } {
  const specifiers = standingGrants(contract).map((grant) => grant.specifiers ?? {});
  const keys = specifiers.flatMap((each) => Object.keys(each.properties ?? {}));
  return {
    names: specifiers.some((each) => each.eventNames !== undefined),
    properties: [...new Set([...contract.budgets.map((budget) => budget.key), ...keys])].sort(),
  };
}

/**
 * What usage draws from the grants of a contract, on its drafts. Draws on closed grants stand as far as
 * usage still asks for them, and what they pay is not paid again; all others are reckoned anew.
 */
export function drawDown(state: State, contract: Contract): Draw[] {
  const draws: Draw[] = [];
  const grants = burnOrder(standingGrants(contract), contract.entries);
  const drafts = contract.invoices.filter((invoice) => invoice.status === 'Drafted');
  const isOpen = (entry: Entry) => entry.invoice !== null && drafts.includes(entry.invoice);
  const closed = grants.filter((grant) => isClosed(contract, grant));
  const rate = valuationRate(contract);

  const left = new Map<Entry, Pool>();
  for (const grant of grants) {
    const drawn = contract.entries
      .filter((entry) => entry.grant === grant && isOpen(entry))
      .reduce<Money>(plus, nothing);
    const now = remainderOf(contract, grant);
    if (closed.includes(grant)) continue;
    const open = { cents: now.cents - drawn.cents, micros: now.micros - drawn.micros };
    left.set(grant, {
      room: isFree(grant) ? worthOf(open.micros, rate) : open.cents,
      micros: open.micros,
      isShort: false,
    });
  }

  const usedBefore = new Map<Budget, bigint>(
    contract.budgets.map((budget) => [
      budget,
      consumption(state, contract, budget, (invoice) => invoice?.number !== undefined),
    ]),
  );
  const used = new Map(usedBefore);
  const atoms = atomsOf(state, contract).map((atom) => {
    let creditable = atom.cents;
    for (const budget of contract.budgets) {
      if (!isOf(budget, atom)) continue;
      const cap = capOf(contract, budget);
      const earlier = used.get(budget) ?? 0n;
      used.set(budget, earlier + atom.cents);
      // Credits stay below the cap: a part of a cent that is left of it pays for nothing.
      if (cap !== undefined) creditable = least(creditable, most(0n, cap.n / cap.d - earlier));
    }
    return { ...atom, unpaid: atom.cents, creditable };
  });
  // What credits may pay comes first, so that it is not paid again; then what budgets forbade only later.
  for (const grant of closed) {
    for (const room of ['creditable', 'unpaid'] as const) {
      for (const atom of atoms) {
        const { invoice, line, before } = atom;
        if ((grant.expiresAt ?? Infinity) < before || !paysFor(grant.specifiers, atom)) continue;
        const past = recordedDraw(contract, invoice, line.key, grant).applied;
        const standing = draws.find((draw) => isSameDraw(draw, { invoice, line, grant }))?.applied ?? 0n;
        const applied = least(atom[room], past - standing);
        if (applied <= 0n) continue;
        atom.unpaid -= applied;
        atom.creditable = most(0n, atom.creditable - applied);
        merge(draws, { invoice, line, grant, applied, cents: 0n, micros: 0n });
      }
    }
  }
  // Late usage may come before what they have paid of a budget's dimension: it finds only the room that is left.
  for (const budget of contract.budgets) {
    const cap = capOf(contract, budget);
    if (cap === undefined) continue;
    const own = atoms.filter((atom) => isOf(budget, atom));
    const paid = own.reduce((sum, atom) => sum + atom.cents - atom.unpaid, usedBefore.get(budget) ?? 0n);
    let room = most(0n, cap.n / cap.d - paid);
    for (const atom of own) {
      atom.creditable = least(atom.creditable, room);
      room -= atom.creditable;
    }
  }
  for (const atom of atoms) {
    const { invoice, line, before } = atom;
    let need = atom.creditable;
    for (const grant of grants) {
      const pool = left.get(grant);
      if (pool === undefined || need <= 0n) continue;
      if (grant.expiresAt !== null && grant.expiresAt < before) continue;
      if (!paysFor(grant.specifiers, atom)) continue;
      if (need > pool.room) pool.isShort = true;
      const applied = least(need, pool.room);
      if (applied === 0n) continue;
      pool.room -= applied;
      need -= applied;
      merge(draws, { invoice, line, grant, applied, cents: isFree(grant) ? 0n : applied, micros: 0n });
    }
  }
  return creditsOf(contract, draws, left);
}

/** A grant that is being drawn on. */
interface Pool {
  /** Cents that it can still pay. */
  room: bigint;
  /** Credits that it had at first. */
  readonly micros: bigint;
  /** Whether usage has asked for more. */
  isShort: boolean;
}

const worthOf = (micros: bigint, rate: bigint | undefined): bigint =>
  rate === undefined ? 0n : halfUp(divide(whole(micros * rate), whole(micro)));

type Place = Pick<Draw, 'invoice' | 'line' | 'grant'>;

const isSameDraw = (a: Place, b: Place): boolean =>
  a.invoice === b.invoice && a.line.key === b.line.key && a.grant === b.grant;

function merge(draws: Draw[], draw: Draw): void {
  const before = draws.find((other) => isSameDraw(other, draw));
  draws.splice(before === undefined ? draws.length : draws.indexOf(before), 1, {
    ...draw,
    applied: (before?.applied ?? 0n) + draw.applied,
    cents: (before?.cents ?? 0n) + draw.cents,
    micros: (before?.micros ?? 0n) + draw.micros,
  });
}

/** Cents and credits of draws, now that it is known which grants they empty: the last of its draws takes every credit. */
function creditsOf(contract: Contract, draws: readonly Draw[], left: ReadonlyMap<Entry, Pool>): Draw[] {
  const rate = valuationRate(contract);
  const gone = new Map<Entry, bigint>();
  return draws.map((draw, index) => {
    const { grant, applied } = draw;
    const pool = left.get(grant);
    if (pool === undefined) return { ...draw, ...historyOf(contract, draw) };
    const rest = pool.micros - (gone.get(grant) ?? 0n);
    const isLast = !draws.slice(index + 1).some((other) => other.grant === grant);
    const isEmpty = isFree(grant) ? pool.isShort : pool.room === 0n;
    const part = isFree(grant) ? freeShare(applied, rate, rest) : least(shareOf(grant, applied), most(rest - 1n, 0n));
    const micros = isLast && isEmpty ? rest : part;
    gone.set(grant, (gone.get(grant) ?? 0n) + micros);
    return { ...draw, micros };
  });
}

/** Free credits for cents at their rate: a millionth at least, so that nothing is had for none of them. */
function freeShare(cents: bigint, rate: bigint | undefined, rest: bigint): bigint {
  return rate === undefined ? 0n : least(most(1n, halfUp(divide(whole(cents * micro), whole(rate)))), rest);
}

/** Credits in proportion to cents of a rated grant. */
function shareOf(grant: Entry, cents: bigint): bigint {
  return grant.micros === 0n ? 0n : halfUp(divide(whole(cents * grant.micros), whole(grant.cents)));
}

/** A draw on a closed grant as it was written, or the part of it that usage still asks for. */
function historyOf(contract: Contract, { invoice, line, grant, applied }: Draw): Money {
  const past = recordedDraw(contract, invoice, line.key, grant);
  if (past.applied === applied) return { cents: past.cents, micros: past.micros };
  if (!isFree(grant)) return { cents: applied, micros: shareOf(grant, applied) };
  return { cents: 0n, micros: halfUp(divide(whole(applied * past.micros), whole(past.applied))) };
}

/** Credits that nobody paid for by the credit: they have no cents of their own. */
const isFree = (grant: Entry): boolean => grant.rateCents === 0n && grant.micros > 0n;

/** What each grant has paid for an invoice by the entries. */
export function recordedCredits(invoice: Invoice): Map<Entry, bigint> {
  const { contract } = invoice;
  const applied = new Map<Entry, bigint>();
  for (const entry of contract.entries) {
    if (entry.invoice !== invoice || entry.grant === null) continue;
    applied.set(entry.grant, (applied.get(entry.grant) ?? 0n) + entry.applied);
  }
  return applied;
}

/** What each grant would pay for a draft if everything that is known now were settled. */
export function projectedCredits(state: State, invoice: Invoice): Map<Entry, bigint> {
  const applied = new Map<Entry, bigint>();
  for (const draw of drawDown(state, invoice.contract)) {
    if (draw.invoice === invoice) applied.set(draw.grant, (applied.get(draw.grant) ?? 0n) + draw.applied);
  }
  return applied;
}

/**
 * Cents of usage by budget: all rated usage of the dimension, whether credits paid for it or not, but for
 * what cancelled invoices would have billed (semantics 10).
 */
export function consumption(
  state: State,
  contract: Contract,
  budget: Budget,
  isCounted: (invoice: Invoice | undefined) => boolean = () => true,
): bigint {
  const life = { start: dayOf(contract.start), end: dayOfInstant(state.now + hour) + 1 };
  const keyOf = ({ item, from }: UsageWindow): string => `${contract.items.indexOf(item)} ${from}`;
  const invoices = new Map<string, Invoice>();
  for (const each of contract.invoices.toReversed()) {
    for (const window of usageWindows(each)) invoices.set(keyOf(window), each);
  }
  let cents = 0n;
  for (const window of windowsTouching(contract, life.start, life.end)) {
    const invoice = invoices.get(keyOf(window));
    if (invoice?.status === 'Cancelled' || !isCounted(invoice)) continue;
    for (const usage of usagesOf(state, contract, window)) if (isOf(budget, usage)) cents += usage.cents;
  }
  return cents;
}
