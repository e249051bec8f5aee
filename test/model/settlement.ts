/** The one routine that moves credits (semantics 9, Settlement, Expiry, Reversal). */

import { topUpDrafts } from './drafts.ts';
import { isBilledOut } from './metering.ts';
import type { Contract, Entry, Invoice, State } from './state.ts';
import { grantsOf, isClosed, isExpired, isReversed, remainderOf, standingGrants } from './grants.ts';
import { type Draw, drawDown, recordedDraw } from './wallet.ts';

type EntryFacts = Partial<Entry> & Pick<Entry, 'type' | 'cents' | 'micros' | 'sourceType'>;

/** Writes one entry; what it does not say is as of an entry that stands alone. */
export function addEntry(state: State, contract: Contract, facts: EntryFacts): Entry {
  const entry: Entry = {
    id: `${contract.id}.entry${contract.entries.length}`,
    seq: state.contracts.reduce((count, each) => count + each.entries.length, 0),
    applied: 0n,
    rateCents: 0n,
    invoice: null,
    lineKey: undefined,
    grant: null,
    target: undefined,
    expiresAt: null,
    isPromotional: false,
    createdAt: state.now,
    externalId: undefined,
    purchaseRateCents: 0n,
    specifiers: undefined,
    request: undefined,
    ...facts,
  };
  contract.entries.push(entry);
  return entry;
}

function addLinkedEntry(state: State, contract: Contract, grant: Entry, facts: EntryFacts): Entry {
  const { rateCents, isPromotional } = grant;
  return addEntry(state, contract, { grant, rateCents, isPromotional, ...facts });
}

/**
 * Writes what usage draws; then what is left of grants that have expired lapses, and with the last invoice of a contract
 * also what is left of grants without an expiry. Written twice it writes nothing the second time.
 */
export function settle(state: State, contract: Contract): Entry[] {
  topUpDrafts(state, contract);
  const before = contract.entries.length;
  writeDraws(state, contract);
  for (const grant of grantsOf(contract).filter((each) => isExpired(each, state.now))) {
    expireRest(state, contract, grant);
    contract.swept.add(grant);
  }
  if (isBilledOut(contract)) lapseUnending(state, contract);
  return contract.entries.slice(before);
}

/** Writes off what is left of grants without an expiry. */
export function lapseUnending(state: State, contract: Contract): void {
  for (const grant of grantsOf(contract)) if (grant.expiresAt === null) expireRest(state, contract, grant);
}

/**
 * Settles if a grant has expired since the last settlement, also one that drafts emptied before: it may owe other usage by
 * then. Every write that changes credits or their caps begins with it; a bill run asks whether one has `by` the clock.
 */
export function sweep(state: State, contract: Contract, by = state.now): void {
  const isUnswept = (grant: Entry) => isExpired(grant, by) && !contract.swept.has(grant);
  if (standingGrants(contract).some(isUnswept)) settle(state, contract);
}

/** Writes off what is left of a grant. */
function expireRest(state: State, contract: Contract, grant: Entry): void {
  const rest = remainderOf(contract, grant);
  if (rest.cents === 0n && rest.micros === 0n) return;
  addLinkedEntry(state, contract, grant, {
    type: 'expiration',
    sourceType: 'expiration',
    cents: -rest.cents,
    micros: -rest.micros,
    expiresAt: grant.expiresAt,
  });
}

/** Brings the entries of all drafts to what usage draws. */
function writeDraws(state: State, contract: Contract): void {
  const draws = drawDown(state, contract);
  const closed = grantsOf(contract).filter((grant) => isClosed(contract, grant));
  const drafts = contract.invoices.filter((invoice) => invoice.status === 'Drafted');
  const written = contract.entries.filter(
    (entry) => entry.type === 'usage' && entry.invoice !== null && drafts.includes(entry.invoice),
  );
  for (const { invoice, lineKey, grant } of written) {
    if (invoice === null || lineKey === undefined || grant === null) continue;
    const wanted = draws.find((d) => d.invoice === invoice && d.line.key === lineKey && d.grant === grant);
    takeBack(state, contract, { invoice, lineKey, grant, wanted });
  }
  for (const draw of draws) {
    const { invoice, grant } = draw;
    const lineKey = draw.line.key;
    const recorded = recordedDraw(contract, invoice, lineKey, grant);
    const cents = draw.cents - recorded.cents;
    const micros = draw.micros - recorded.micros;
    const applied = draw.applied - recorded.applied;
    if (cents === 0n && micros === 0n && applied === 0n) continue;
    addLinkedEntry(state, contract, grant, {
      type: 'usage',
      sourceType: 'invoice',
      cents: -cents,
      micros: -micros,
      applied,
      invoice,
      lineKey,
    });
  }
  for (const grant of closed) expireRest(state, contract, grant);
}

/** Reverses usage entries of one line and grant, newest first, until no more than is wanted stands, and what is missing takes credits. */
function takeBack(
  state: State,
  contract: Contract,
  at: {
    invoice: Invoice;
    lineKey: string;
    grant: Entry;
    wanted: Pick<Draw, 'applied' | 'cents' | 'micros'> | undefined;
  },
): void {
  const entries = contract.entries.filter(
    (entry) =>
      entry.type === 'usage' &&
      entry.invoice === at.invoice &&
      entry.lineKey === at.lineKey &&
      entry.grant === at.grant,
  );
  for (const entry of entries.reverse()) {
    const { applied, cents, micros } = recordedDraw(contract, at.invoice, at.lineKey, at.grant);
    const { wanted = { applied: 0n, cents: 0n, micros: 0n } } = at;
    const isWithin = applied <= wanted.applied && cents <= wanted.cents && micros <= wanted.micros;
    // The same credits, worth more or less: an entry of the difference would take nothing.
    const isWorthAlone = applied !== wanted.applied && cents === wanted.cents && micros === wanted.micros;
    if (isWithin && !isWorthAlone) return;
    if (!isReversed(contract, entry)) writeReversal(state, contract, entry);
  }
}

/** Undoes one entry; what returns to a grant that has expired lapses at once. */
export function reverseEntry(state: State, contract: Contract, target: Entry): Entry {
  const entry = writeReversal(state, contract, target);
  if (entry.grant !== null && isExpired(entry.grant, state.now)) expireRest(state, contract, entry.grant);
  return entry;
}

function writeReversal(state: State, contract: Contract, target: Entry): Entry {
  const grant = target.type === 'grant' ? target : target.grant;
  if (grant === null) throw new TypeError('only entries of a grant can be reversed');
  return addLinkedEntry(state, contract, grant, {
    type: 'reversal',
    sourceType: 'reversal',
    cents: -target.cents,
    micros: -target.micros,
    applied: -target.applied,
    invoice: target.invoice,
    lineKey: target.lineKey,
    target,
  });
}

/**
 * Gives back everything that an invoice drew; what returns to a grant that has expired lapses at once, and what it had kept of
 * prepaid credits that nobody pays for is taken back.
 */
export function returnCredits(state: State, contract: Contract, invoice: Invoice): void {
  const billing = contract.invoices.find((each) => each.index === 0 && each.status === 'Cancelled');
  const kept = contract.entries.filter(
    (entry) =>
      entry.type === 'usage' &&
      entry.invoice === invoice &&
      entry.grant !== null &&
      entry.grant === contract.prepaid &&
      !isReversed(contract, entry) &&
      billing !== undefined &&
      entry.createdAt <= billing.updatedAt,
  );
  for (const { grant } of undoUsage(state, contract, invoice)) {
    if (grant !== null && isExpired(grant, state.now)) expireRest(state, contract, grant);
  }
  takeBackUnbought(state, contract, { most: kept.reduce((sum, entry) => sum - entry.cents, 0n) });
}

/** The same of an invoice whose usage another one bills: a settlement must follow, and says what lapses. Gives what it drew. */
export function undoUsage(state: State, contract: Contract, invoice: Invoice): Entry[] {
  const taken = contract.entries.filter((entry) => entry.type === 'usage' && entry.invoice === invoice);
  for (const entry of taken) if (!isReversed(contract, entry)) writeReversal(state, contract, entry);
  return taken;
}

/** Credits that nobody will pay for are taken back, with the first invoice: what finalized ones have left of them. */
export function takeBackPrepaid(state: State, contract: Contract, invoice: Invoice): void {
  const grant = contract.prepaid;
  if (grant === undefined || invoice.index !== 0) return;
  const isLoose = (other: Invoice | null) => other === invoice || other?.status === 'Drafted';
  for (const entry of contract.entries.filter((each) => each.type === 'usage' && each.grant === grant)) {
    if (isLoose(entry.invoice) && !isReversed(contract, entry)) writeReversal(state, contract, entry);
  }
  takeBackUnbought(state, contract, { most: grant.cents });
}

function takeBackUnbought(state: State, contract: Contract, { most }: { most: bigint }): void {
  const grant = contract.prepaid;
  if (grant === undefined) return;
  const { cents: left } = remainderOf(contract, grant);
  const cents = left < most ? left : most;
  const hasLapsed = contract.entries.some((entry) => entry.type === 'expiration' && entry.grant === grant);
  if (hasLapsed || isExpired(grant, state.now)) expireRest(state, contract, grant);
  else if (cents === grant.cents) writeReversal(state, contract, grant);
  else if (cents > 0n) {
    addLinkedEntry(state, contract, grant, { type: 'adjustment', sourceType: 'adjustment', cents: -cents, micros: 0n });
  }
}
