/**
 * Where usage events are kept: the part that outgrows SQL first, so it stands behind its own interface.
 * One idempotency key is one event of an organization; its latest version is the effective one, and every version that
 * was superseded is kept for good (semantics 8). Amounts are not this file's business: what meters read is `aggregate`'s.
 */

import type { UsageDimensions } from '../calculation/specifiers.ts';
import type { UsageReading } from '../calculation/usage-atoms.ts';
import type { MeterRules } from '../calculation/usage-fold.ts';
import type { ExactNumber } from '../exact-json.ts';
import type { Transaction } from './database.ts';

/** An event as it is handed in to be recorded. */
export interface NewEvent {
  readonly id: string;
  /** Unique in the organization. */
  readonly idempotencyKey: string;
  readonly customerId: string;
  /** The contract that the sender named; null where none was named. */
  readonly contractId: string | null;
  readonly eventName: string;
  readonly timestampEpochMs: number;
  /** A JSON object of primitives, with the digits that the sender wrote. */
  readonly propertiesJson: string;
  readonly receivedAtEpochMs: number;
  /** Its period was finalized before it came: it is listed, and never billed. */
  readonly isLate: boolean;
}

/** One version of an event. */
export interface StoredEvent extends NewEvent {
  /** 1 for what was sent first; rises by one with every replacement. */
  readonly version: number;
}

/** A primitive; a number has the digits that the sender wrote. */
export type EventValue = string | boolean | null | ExactNumber;

/** What `scan` hands out. The object is reused for the next row: take what you need, never keep it. */
export interface ScannedEvent {
  /** Empty unless the scan was asked `withKeys`. */
  readonly idempotencyKey: string;
  readonly eventName: string;
  readonly timestampEpochMs: number;
  readonly contractId: string | null;
  readonly propertiesJson: string;
  /** Parsed when first asked for, with exact numbers. */
  readonly properties: Readonly<Record<string, EventValue>>;
}

/**
 * What became of an event that was sent: `new`; `same` as the effective version, so nothing was written; `replaced` it;
 * or `refused`, because the caller's `canReplace` said no, and nothing was written for it; or its key is that of an event that
 * was `dropped`, and nothing was written either.
 */
export type AppendOutcome = 'new' | 'same' | 'replaced' | 'refused' | 'dropped';

/** Whether an effective event may give way to another version; asked only when the two differ. */
export type CanReplace = (previous: StoredEvent, next: NewEvent) => boolean | Promise<boolean>;

/** Milliseconds since 1970, [from, to). */
export interface EpochInterval {
  readonly fromEpochMs: number;
  readonly toEpochMs: number;
}

/** Effective events of one customer, `[from, to)` by their own timestamps. */
export interface EventScan extends EpochInterval {
  readonly orgId: string;
  readonly customerId: string;
  /** Absent or empty: every name. */
  readonly eventNames?: readonly string[] | undefined;
  readonly excludedEventNames?: readonly string[] | undefined;
  /**
   * Only events of this contract: those that name it, and those that name none and lie outside `unassignedOutside`
   * (the intervals in which an earlier contract of the customer takes them).
   */
  readonly contract?: { readonly contractId: string; readonly unassignedOutside: readonly EpochInterval[] } | undefined;
  /** Leave out events that came after their period was finalized. */
  readonly excludeLate?: boolean | undefined;
  /** Also read idempotency keys, which metering has no use for. */
  readonly withKeys?: boolean | undefined;
}

/** Whose events, in which intervals, and what is to be told apart. Late events are in no reading. */
export interface AggregatedEvents extends Pick<EventScan, 'orgId' | 'customerId' | 'contract'> {
  /** Ascending, all different, milliseconds since 1970: reading `i` is of the events in [bound `i`, bound `i + 1`). */
  readonly boundsEpochMs: readonly number[];
  /** What else readings tell apart. A missing property is not the same as an empty one. */
  readonly dimensions: UsageDimensions;
  /** The same rules will be asked for again: what it takes to answer them faster then is worth keeping. */
  readonly isStanding: boolean;
  /** What is read is written down, as when it is billed: nobody is likely to ask for it again. */
  readonly isOnce?: boolean | undefined;
}

/** What one meter reads of them. */
export interface EventAggregation extends AggregatedEvents {
  /** Event names, filters of properties, aggregation, group keys. A missing group key is the group of the empty value. */
  readonly rules: MeterRules;
}

/**
 * For each interval a reading of every combination of group values, event name and properties that has a value, by event
 * name, then properties, then group values (code units).
 */
export type EventReadings = readonly (readonly UsageReading[])[];

/** Events of one organization; what is absent asks nothing. */
export interface EventQuery {
  readonly orgId: string;
  readonly eventName?: string | undefined;
  readonly customerId?: string | undefined;
  /** By the event's own timestamp, inclusive. */
  readonly fromEpochMs?: number | undefined;
  /** By the event's own timestamp, exclusive. */
  readonly toEpochMs?: number | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** Some of the events that match a query, and how many do. */
export interface EventPage {
  readonly rows: readonly StoredEvent[];
  /** How many events match, on all pages. */
  readonly total: number;
}

/** An event that is not as `append` leaves it. */
export interface EventFault {
  readonly idempotencyKey: string;
  /**
   * `versions`: what it superseded is not all there; `owner`: its contract is another customer's; `properties`: they are no
   * JSON; `gone`: nothing of it is there, so that the key is the number that it had in its organization.
   */
  readonly fault: 'versions' | 'owner' | 'properties' | 'gone';
}

/** What a store derived from its events, and that is not what they come to. */
export interface UpkeepFault {
  /** Of `rollUp` the customer whose usage would be read wrongly; of `key` the event that its key does not find. */
  readonly objectId: string;
  readonly fault: 'rollUp' | 'key';
}

/** Of a store that keeps more than the events, so that they are found and read quickly. */
export interface EventUpkeep {
  /** What differs from a recount, the first ones of each fault; reads every event of the organization. */
  listFaults(tx: Transaction, orgId: string): Promise<readonly UpkeepFault[]>;
  /** Makes all of it anew from the events of every organization. Belongs into a `write`. */
  rebuild(tx: Transaction): Promise<void>;
}

/** Of a store whose events can be dropped for good. */
export interface EventRetention {
  /**
   * Drops every version of the organization's events from before the instant that the book names for it, and keeps their keys.
   * No reader sees any of them from the commit of that instant on, so it may be cut off, and done again. Belongs into a
   * `write` with the turn of the organization, after the commit.
   */
  drop(tx: Transaction, orgId: string): Promise<void>;
  /** How many rows of them are still there. */
  countLeft(tx: Transaction, orgId: string): Promise<number>;
}

/** What the rest of the program knows of events, wherever they are kept. */
export interface EventStore {
  /**
   * Records events in their order; the outcomes stand in the same order. Two events are the same when customer,
   * contract, name, timestamp and the text of their properties are: give the text in one normal form.
   * Belongs into a `write`; a customer or contract that the organization does not have is a ConstraintViolation.
   */
  append(
    tx: Transaction,
    orgId: string,
    events: readonly NewEvent[],
    canReplace: CanReplace,
  ): Promise<readonly AppendOutcome[]>;

  /** Calls `onEvent` with every effective event that matches, by timestamp and then in the order of arrival. */
  scan(tx: Transaction, request: EventScan, onEvent: (event: ScannedEvent) => void): Promise<void>;

  /**
   * What each of these meters reads of the same effective events, in their order, exactly what `aggregateByScan` gives: a
   * store answers from what it keeps beside the events where that is quicker, and looks at them once for all meters if it can.
   */
  aggregate(
    tx: Transaction,
    events: AggregatedEvents,
    meters: readonly MeterRules[],
  ): Promise<readonly EventReadings[]>;

  /**
   * As `aggregate`, of the events that name each of these contracts, for each of them apart: a store looks at the events of the
   * customer once for all. Contracts are all different; events that name none are nobody's.
   */
  aggregateNamed(
    tx: Transaction,
    events: Omit<AggregatedEvents, 'contract'>,
    asked: { readonly contractIds: readonly string[]; readonly meters: readonly MeterRules[] },
  ): Promise<readonly (readonly EventReadings[])[]>;

  /** A page of effective events, the one that arrived last first. A replaced event keeps its place. */
  list(tx: Transaction, query: EventQuery): Promise<EventPage>;

  /** As `list`, of the events that came after their period was finalized. */
  listLate(tx: Transaction, query: EventQuery): Promise<EventPage>;

  /** The superseded versions of one event, oldest first; empty when it never changed or is unknown. */
  listVersions(tx: Transaction, orgId: string, idempotencyKey: string): Promise<readonly StoredEvent[]>;

  /** Events that are not as `append` leaves them, the first ones of each fault; reads every event of the organization. */
  listFaults(tx: Transaction, orgId: string): Promise<readonly EventFault[]>;

  /** Throws UnavailableError where the database of its own does not answer; absent where events are with the books. */
  readonly checkAnswers?: (() => Promise<void>) | undefined;

  /** Absent where events are all that is kept. */
  readonly upkeep?: EventUpkeep | undefined;

  /** Absent where no event is ever dropped. */
  readonly retention?: EventRetention | undefined;
}
