/**
 * What the journal knows about grants: which are unfinished, and how much was granted where, by whom and when. Of other calls
 * it knows those whose outcome is unknown.
 */

import type { CallState, JournalFacts } from './journal-line.ts';

export const grantOperation = 'credits.grant';

export const purchaseOperation = 'credits.grantPaid';

/** Where a call goes: two databases or two services share neither contracts nor caps. */
export type Place = Pick<JournalFacts, 'environment' | 'target' | 'organization' | 'profile'>;

/** One grant, however often it was sent. */
export interface KnownGrant {
  readonly place: Place;
  readonly contractId: string;
  readonly externalId: string;
  readonly operator: string;
  /** When it was first sent with this amount. */
  readonly at: string;
  readonly amountCents: bigint;
  /** Like `isGeneratedId` and `body`, of one whose outcome is unknown. */
  readonly requestHash: string;
  readonly isGeneratedId: boolean;
  readonly body: unknown;
  readonly state: CallState;
  /** How often it was sent. */
  readonly tries: number;
}

export interface GrantHistory {
  observe(line: JournalFacts): void;
  /** Grants at a place whose outcome is unknown, the oldest first. */
  unfinished(place: Place): readonly KnownGrant[];
  /** The other places with unfinished grants, each once. */
  unfinishedElsewhere(place: Place): readonly Place[];
  find(place: Place, contractId: string, externalId: string): KnownGrant | undefined;
  /**
   * The beginning of the same call at the same place, no grant, whose outcome is unknown: with the same external id, or if the
   * request has none, of the same request.
   */
  unfinishedCall(facts: JournalFacts): JournalFacts | undefined;
  /** The beginning of a purchase of the same value for the same contract and place, whose outcome is unknown. */
  unfinishedPurchase(facts: JournalFacts): JournalFacts | undefined;
  /** Cents that an operator granted, or may have granted, at a place on a UTC day. */
  grantedBy(place: Place, operator: string, day: string): bigint;
  /** Cents that these contracts were granted, or may have been granted, from here in a UTC month. */
  grantedTo(place: Place, contractIds: readonly string[], month: string): bigint;
  /** A copy, for grants that are planned and not sent. */
  fork(): GrantHistory;
  /** From what is known now, the same history can be made. */
  readonly known: KnownHistory;
}

export interface KnownHistory {
  readonly grants: ReadonlyMap<string, KnownGrant>;
  /** By span, then by operator or contract: each row of a file asks for all contracts of its customer. */
  readonly sums: ReadonlyMap<string, ReadonlyMap<string, bigint>>;
  readonly openCalls: ReadonlyMap<string, JournalFacts>;
}

const nothing: KnownHistory = { grants: new Map(), sums: new Map(), openCalls: new Map() };

export function createGrantHistory(known: KnownHistory = nothing): GrantHistory {
  const grants = new Map(known.grants);
  const sums = new Map([...known.sums].map(([span, cents]) => [span, new Map(cents)]));
  const openCalls = new Map(known.openCalls);

  function keep(key: string, grant: KnownGrant): void {
    const before = grants.get(key);
    grants.set(key, grant);
    const wasCounted = before !== undefined && isGranted(before.state);
    if (wasCounted && isGranted(grant.state) && isCountedAlike(before, grant)) return;
    if (wasCounted) count(before, -before.amountCents);
    if (isGranted(grant.state)) count(grant, grant.amountCents);
  }

  function count({ place, operator, contractId, at }: KnownGrant, cents: bigint): void {
    const counts = [
      [spanKey(place, at.slice(0, 10)), operator],
      [spanKey(place, at.slice(0, 7)), contractId],
    ] as const;
    for (const [span, subject] of counts) {
      const ofSpan = sums.getOrInsertComputed(span, () => new Map<string, bigint>());
      ofSpan.set(subject, (ofSpan.get(subject) ?? 0n) + cents);
    }
  }

  function observeCall(line: JournalFacts): void {
    const key = callKey(line);
    if (line.state === 'begun') openCalls.getOrInsert(key, line);
    else if (line.state !== 'unknown') openCalls.delete(key);
  }

  return {
    observe(line) {
      if (line.operation !== grantOperation) return observeCall(line);
      const { contractId } = line.params ?? {};
      if (contractId === undefined || line.externalId === undefined) return;
      const key = keyOf(line, contractId, line.externalId);
      const before = grants.get(key);
      if (line.state === 'begun') keep(key, begun(grantOf(line, contractId), before));
      else if (before !== undefined) keep(key, { ...before, state: stateAfter(before, line.state) });
    },
    unfinished: (place) =>
      [...grants.values()].filter(({ state, place: at }) => isOpen(state) && isSamePlace(at, place)),
    unfinishedElsewhere(place) {
      const open = [...grants.values()].filter(({ state }) => isOpen(state)).map((grant) => grant.place);
      const others = open.filter((other) => !isSamePlace(other, place));
      return others.filter((other, index) => others.findIndex((each) => isSamePlace(each, other)) === index);
    },
    unfinishedCall(facts) {
      if (facts.externalId !== undefined) return openCalls.get(callKey(facts));
      return openCalls.values().find((open) => isSamePlace(open, facts) && open.requestHash === facts.requestHash);
    },
    unfinishedPurchase: (facts) =>
      openCalls.values().find((open) => isSamePlace(open, facts) && isSameValue(open, facts)),
    find: (place, contractId, externalId) => grants.get(keyOf(place, contractId, externalId)),
    grantedBy: (place, operator, day) => sums.get(spanKey(place, day))?.get(operator) ?? 0n,
    grantedTo(place, contractIds, month) {
      const ofMonth = sums.get(spanKey(place, month));
      return contractIds.reduce((sum, id) => sum + (ofMonth?.get(id) ?? 0n), 0n);
    },
    fork: () => createGrantHistory({ grants, sums, openCalls }),
    known: { grants, sums, openCalls },
  };
}

/** Caps count per environment of a service or database, whichever profile names it. */
function spanKey({ environment, target }: Place, span: string): string {
  return JSON.stringify([environment, target, span]);
}

/** Whether two calls go to the same organization; two profiles of a service may have keys of different ones. */
function isSamePlace(one: Place, other: Place): boolean {
  return (
    one.environment === other.environment &&
    one.target === other.target &&
    one.organization === other.organization &&
    one.profile === other.profile
  );
}

/** An external id stands for one purchase, whatever else the request says. */
function callKey({ operation, params, externalId, requestHash, ...line }: JournalFacts): string {
  const identity = externalId === undefined ? [requestHash] : [params?.['contractId'], externalId];
  return JSON.stringify([line.environment, line.target, line.organization, line.profile, operation, ...identity]);
}

function isSameValue(open: JournalFacts, { operation, params, amountCents, creditAmount }: JournalFacts): boolean {
  const isSameSubject = open.operation === operation && open.params?.['contractId'] === params?.['contractId'];
  return isSameSubject && open.amountCents === amountCents && open.creditAmount === creditAmount;
}

/** Names a grant among all that a history knows. */
export function keyOf({ target, organization = '' }: Place, contractId: string, externalId: string): string {
  return JSON.stringify([target, organization, contractId, externalId]);
}

function grantOf(line: JournalFacts, contractId: string): KnownGrant {
  const { environment, target, organization, profile, operator, at, externalId = '', requestHash, body, state } = line;
  return {
    place: { environment, target, organization, profile },
    contractId,
    externalId,
    operator,
    at,
    amountCents: BigInt(line.amountCents ?? 0),
    requestHash,
    isGeneratedId: line.isGeneratedId === true,
    body,
    state,
    tries: 0,
  };
}

function isGranted(state: CallState): boolean {
  return state === 'done' || isOpen(state);
}

/** Of two states of one grant: contract and target are the same. */
function isCountedAlike(one: KnownGrant, other: KnownGrant): boolean {
  const isSameAmount = one.amountCents === other.amountCents && one.place.environment === other.place.environment;
  return isSameAmount && one.at === other.at && one.operator === other.operator;
}

/** Whether a grant was sent and its outcome is unknown. */
export function isOpen(state: CallState): boolean {
  return state === 'begun' || state === 'unknown';
}

/**
 * Sending a completed grant again changes nothing about it, and a refused grant begins anew. Of a grant whose outcome is
 * unknown, the latest request is the one to send again, and the largest amount counts.
 */
function begun(now: KnownGrant, before: KnownGrant | undefined): KnownGrant {
  if (before === undefined || before.state === 'refused') return { ...now, tries: 1 };
  const tries = before.tries + 1;
  if (!isOpen(before.state)) return { ...before, tries };
  const { at, operator, amountCents } = before.amountCents < now.amountCents ? now : before;
  // An id of ours stays one when --resume sends it, so that the command itself still finishes the grant.
  const isGeneratedId = before.isGeneratedId || now.isGeneratedId;
  return { ...now, at, operator, amountCents, isGeneratedId, tries };
}

/**
 * A grant that existed already was made by an earlier try, or else by somebody whom this journal does not know; and so it stays,
 * whatever a later try says.
 */
function stateAfter({ state, tries }: KnownGrant, now: CallState): CallState {
  if (state === 'done' || now === 'done') return 'done';
  if (state === 'repeated') return state;
  return now === 'repeated' && tries > 1 ? 'done' : now;
}
