/**
 * Where usage events are kept. Events are the first thing to outgrow SQL, so they have an interface of their own.
 * One idempotency key is one event of an organization. Its latest version is the effective one, and every superseded version
 * is kept for good (semantics 8). Amounts are not this file's business: `aggregate` gives what meters read.
 */

import type { UsageDimensions } from '../calculation/specifiers.ts';
import type { UsageReading } from '../calculation/usage-atoms.ts';
import type { MeterRules } from '../calculation/usage-fold.ts';
import type { ExactNumber } from '../exact-json.ts';
import type { Transaction } from './database.ts';
import type { Page, Rows } from './records/page.ts';

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
  /** Its period was finalized before it arrived: it is listed, and never billed. */
  readonly isLate: boolean;
}

/** One version of an event. */
export interface StoredEvent extends NewEvent {
  /** 1 for the first one sent; rises by one with every replacement. */
  readonly version: number;
}

/** A primitive; numbers keep the digits that the sender wrote. */
export type EventValue = string | boolean | null | ExactNumber;

/** What `scan` hands out. The object is reused for the next row: take what you need, never keep the object. */
export interface ScannedEvent {
  /** Empty unless the scan is `withKeys`. */
  readonly idempotencyKey: string;
  readonly eventName: string;
  readonly timestampEpochMs: number;
  readonly contractId: string | null;
  readonly propertiesJson: string;
  /** Parsed on first access, with exact numbers. */
  readonly properties: Readonly<Record<string, EventValue>>;
}

/**
 * The outcome of sending an event. `new`: recorded. `same`: equal to the effective version, so nothing was written.
 * `replaced`: it superseded the effective version. `refused`: the caller's `canReplace` said no, and nothing was written.
 * `dropped`: its key is that of a dropped event, and nothing was written.
 */
export type AppendOutcome = 'new' | 'same' | 'replaced' | 'refused' | 'dropped';

/** Whether an effective event may be superseded by another version; called only if the two differ. */
export type CanReplace = (previous: StoredEvent, next: NewEvent) => boolean | Promise<boolean>;

/** Milliseconds since 1970, [from, to). */
export interface EpochInterval {
  readonly fromEpochMs: number;
  readonly toEpochMs: number;
}

/** Effective events of one customer that are not late, `[from, to)` by their own timestamps. */
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
  /** Also read idempotency keys, which metering has no use for. */
  readonly withKeys?: boolean | undefined;
}

/** Whose events, in which intervals, and what readings tell apart. No reading counts late events. */
export interface AggregatedEvents extends Pick<EventScan, 'orgId' | 'customerId' | 'contract'> {
  /** Ascending, all different, milliseconds since 1970: reading `i` covers the events in [bound `i`, bound `i + 1`). */
  readonly boundsEpochMs: readonly number[];
  /** What else readings tell apart. A missing property is not the same as an empty one. */
  readonly dimensions: UsageDimensions;
  /** The same rules will be read again, so data that speeds up the next reading is worth keeping. */
  readonly isStanding: boolean;
  /** The reading is written down, as when it is billed: nobody is likely to ask for it again. */
  readonly isOnce?: boolean | undefined;
}

/** The events that one meter reads, and by which rules. */
export interface EventAggregation extends AggregatedEvents {
  /** Event names, property filters, aggregation, group keys. A missing group key counts as the group of the empty value. */
  readonly rules: MeterRules;
}

/**
 * Per interval, a reading for every combination of group values, event name and properties that has a value. Ordered by event
 * name, then properties, then group values (code units).
 */
export type EventReadings = readonly (readonly UsageReading[])[];

/** Events of one organization; an absent field restricts nothing. */
export interface EventQuery extends Page {
  readonly orgId: string;
  readonly eventName?: string | undefined;
  readonly customerId?: string | undefined;
  /** By the event's own timestamp, inclusive. */
  readonly fromEpochMs?: number | undefined;
  /** By the event's own timestamp, exclusive. */
  readonly toEpochMs?: number | undefined;
  /** Only events that came after their period was finalized. */
  readonly onlyLate?: boolean | undefined;
}

/** Some of the events that match a query, and how many do. */
export type EventPage = Rows<StoredEvent>;

/** An event that is not as `append` leaves events. */
export interface EventFault {
  readonly idempotencyKey: string;
  /**
   * `versions`: superseded versions are missing; `owner`: its contract belongs to another customer; `properties`: they are not
   * JSON; `gone`: nothing of the event is there, so `idempotencyKey` is the number that it had in its organization.
   */
  readonly fault: 'versions' | 'owner' | 'properties' | 'gone';
}

/** Data derived from events that differs from what the events come to. */
export interface UpkeepFault {
  /** For `rollUp` the customer whose usage would be read wrongly; for `key` the event that its key does not find. */
  readonly objectId: string;
  readonly fault: 'rollUp' | 'key';
}

/** For a store that keeps derived data beside the events, so that they are found and read quickly. */
export interface EventUpkeep {
  /** Differences from a recount, the first ones of each fault. Reads every event of the organization. */
  listFaults(tx: Transaction, orgId: string): Promise<readonly UpkeepFault[]>;
  /** Derives all of it anew from the events of every organization. Belongs in a `write`. */
  rebuild(tx: Transaction): Promise<void>;
}

/** For a store whose events can be dropped for good. */
export interface EventRetention {
  /**
   * Drops every version of the organization's events from before the instant that the book holds for it, and keeps their keys.
   * From the commit of that instant on no reader sees any of them, so a drop may be interrupted and repeated. Belongs in a
   * `write` with the turn of the organization, after that commit.
   */
  drop(tx: Transaction, orgId: string): Promise<void>;
  /** How many rows of dropped events are still there. */
  countLeft(tx: Transaction, orgId: string): Promise<number>;
}

/** What the rest of the program knows of events, wherever they are kept. */
export interface EventStore {
  /**
   * Records events in their order; the outcomes have the same order. Two events are the same if their customer, contract, name,
   * timestamp and the text of their properties are: give that text in one normal form.
   * Belongs in a `write`. A customer or contract that the organization does not have is a ConstraintViolation.
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
   * What each of these meters reads of the same effective events, in the order of `meters`: exactly what a fold of all that
   * `scan` finds comes to (event-aggregation.ts).
   * A store answers from derived data where that is quicker, and looks at the events once for all meters if it can.
   */
  aggregate(
    tx: Transaction,
    events: AggregatedEvents,
    meters: readonly MeterRules[],
  ): Promise<readonly EventReadings[]>;

  /**
   * As `aggregate`, for each of these contracts over the events that name it. A store looks at the customer's events once for all
   * contracts. Contracts are all different; events that name no contract are left out.
   */
  aggregateNamed(
    tx: Transaction,
    events: Omit<AggregatedEvents, 'contract'>,
    asked: { readonly contractIds: readonly string[]; readonly meters: readonly MeterRules[] },
  ): Promise<readonly (readonly EventReadings[])[]>;

  /** A page of effective events, the latest arrival first. A replaced event keeps its place. */
  list(tx: Transaction, query: EventQuery): Promise<EventPage>;

  /** Events that are not as `append` leaves them, the first ones of each fault. Reads every event of the organization. */
  listFaults(tx: Transaction, orgId: string): Promise<readonly EventFault[]>;

  /** Throws UnavailableError if the separate event database does not answer; absent if events are kept with the books. */
  readonly checkAnswers?: (() => Promise<void>) | undefined;

  /** Absent if the store keeps nothing but events. */
  readonly upkeep?: EventUpkeep | undefined;

  /** Absent if events are never dropped. */
  readonly retention?: EventRetention | undefined;
}
