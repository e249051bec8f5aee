/** Which events of a customer lie in an interval, and where their rows are; segments and the tail serve as the index. */

import { decodeSegment } from './segment-bytes.ts';
import { millisecondsPerDay } from './segment.ts';
import type { EpochInterval, EventScan } from '../../../event-store.ts';
import type { SqliteConnection } from '../connection.ts';
import { type Attribution, attributionOf, isAttributed } from './attribution.ts';
import { findCustomerSeq, nameReader } from './ids.ts';
import { boundsOf, dayOf, ofDays } from './segments.ts';
import { tailRows } from './tail.ts';

/** An event, as far as segments and the tail know it. */
export interface FoundEvent {
  readonly eventSeq: number;
  readonly timestampEpochMs: number;
  readonly eventName: string;
  /** 0 if it names no contract. */
  readonly contractSeq: number;
}

type PlaceRequest = Omit<EventScan, 'withKeys'> & { readonly withLate?: boolean };

/** Every matching event, in no particular order. */
export function findEvents(connection: SqliteConnection, request: PlaceRequest): FoundEvent[] {
  const customerSeq = findCustomerSeq(connection, request.orgId, request.customerId);
  if (customerSeq === undefined) return [];
  const { fromEpochMs, toEpochMs, withLate = false } = request;
  const attribution = attributionOf(connection, request.orgId, request.contract);
  const nameOf = nameReader(connection);
  const isWanted = nameTest(request);
  const found: FoundEvent[] = [];
  const take = (event: Row) => {
    const { timestampEpochMs, isLate, contractSeq } = event;
    if (timestampEpochMs < fromEpochMs || timestampEpochMs >= toEpochMs || (isLate && !withLate)) return;
    const eventName = nameOf(event.nameId);
    if (!isWanted(eventName) || !isOfContract(attribution, event)) return;
    found.push({ eventSeq: event.eventSeq, timestampEpochMs, eventName, contractSeq });
  };
  for (const event of rowsOfSegments(connection, { customerSeq, fromEpochMs, toEpochMs })) take(event);
  for (const event of rowsOfTail(connection, { customerSeq, fromEpochMs, toEpochMs })) take(event);
  return found;
}

interface Row extends Omit<FoundEvent, 'eventName'> {
  readonly nameId: number;
  readonly isLate: boolean;
}

interface Range extends EpochInterval {
  readonly customerSeq: number;
}

function* rowsOfSegments(connection: SqliteConnection, { customerSeq, fromEpochMs, toEpochMs }: Range): Generator<Row> {
  const segments = connection.prepare(
    `SELECT "day", "data" FROM "eventSegments" WHERE ${ofDays} ORDER BY "day", "part"`,
  );
  const bounds = boundsOf(dayOf(fromEpochMs), dayOf(toEpochMs - 1));
  for (const { day, data } of segments.iterate(customerSeq, ...bounds)) {
    const start = Number(day) * millisecondsPerDay;
    const { rowCount, fixed } = decodeSegment(data as Uint8Array);
    const { eventSeq, millisecond, nameId, contractSeq, isLate } = fixed;
    for (let row = 0; row < rowCount; row += 1) {
      yield {
        eventSeq: eventSeq[row] ?? 0,
        timestampEpochMs: start + (millisecond[row] ?? 0),
        nameId: nameId[row] ?? 0,
        contractSeq: contractSeq[row] ?? 0,
        isLate: isLate[row] === 1,
      };
    }
  }
}

type TailRow = readonly [number, number, number, number | null, number];

function* rowsOfTail(connection: SqliteConnection, range: Range): Generator<Row> {
  const columns =
    '"event"."seq", "event"."timestampEpochMs", "event"."nameId", "event"."contractSeq", "event"."isLate"';
  const rows = tailRows(connection, range, columns) as readonly TailRow[];
  for (const [eventSeq, timestampEpochMs, nameId, contractSeq, isLate] of rows) {
    yield { eventSeq, timestampEpochMs, nameId, contractSeq: contractSeq ?? 0, isLate: isLate === 1 };
  }
}

function nameTest({ eventNames = [], excludedEventNames = [] }: PlaceRequest): (eventName: string) => boolean {
  const [wanted, unwanted] = [new Set(eventNames), new Set(excludedEventNames)];
  return (eventName) => !unwanted.has(eventName) && (wanted.size === 0 || wanted.has(eventName));
}

function isOfContract(attribution: Attribution | undefined, { contractSeq, timestampEpochMs }: Row): boolean {
  return attribution === undefined || isAttributed(attribution, contractSeq, timestampEpochMs);
}
