/**
 * Lists of events, page by page. What a page finds out about its list is kept for the next one: the number of events, and where
 * pages ended or which events match. A walk through all pages then reads each event once, instead of rereading all earlier
 * events for each page. Events that arrive meanwhile come first in the list, and change nothing behind an end.
 */

import type { SQLInputValue } from 'node:sqlite';

import { keepNewest } from '../../../../once.ts';
import { storedEvent } from '../../../event-content.ts';
import type { EventPage, EventQuery } from '../../../event-store.ts';
import type { SqliteConnection } from '../connection.ts';
import { selectStored } from './append.ts';
import { createListMemory } from './memory.ts';
import { findEvents } from './places.ts';
import { plainRows } from './rows.ts';
import { countRuns } from './tail.ts';

export interface EventPages {
  /** As `EventStore.list`. */
  readonly list: (query: EventQuery) => EventPage;
  /** What is kept may no longer be true. */
  readonly forget: () => void;
}

/** What is known of a list that is read by walking through all events. */
interface Walked {
  total: number;
  /** Where pages ended: for a seq, how many events of the list have a lower one. */
  readonly ends: Map<number, number>;
}

/** A list whose events an index finds: their seqs, ascending. */
type Picked = number[];

/** With more concurrent readers than this, some begin their walk anew. */
const mostEnds = 64;
/** Some 8 MB. */
const mostPicked = 1_000_000;

/** For the database on `connection`; every method runs inside the current transaction. */
export function createEventPages(connection: SqliteConnection): EventPages {
  const walked = createListMemory<Walked>(connection);
  const picked = createListMemory<Picked>(connection, { weightOf: ({ length }) => length, mostWeight: mostPicked });

  /** Walks through all events, the newest first, starting at the nearest known end. */
  function walk(query: EventQuery): EventPage {
    const demands = demandsOf(query);
    const { total, ends } = walked.recall(demands.key, {
      find: () => ({ total: countNow(connection, demands, query), ends: new Map() }),
      grow(list, since) {
        list.total += countSince(connection, demands, since);
      },
    });
    const rest = total - query.offset;
    if (rest <= 0) return { rows: [], total };
    let [end, behind] = [Number.MAX_SAFE_INTEGER, total];
    for (const [seq, count] of ends) if (count >= rest && count < behind) [end, behind] = [seq, count];
    const rows = connection
      .prepare(
        `${selectStored('events')} WHERE ${demands.text} AND "event"."seq" < ?
         ORDER BY "event"."seq" DESC LIMIT ? OFFSET ?`,
      )
      .all(...demands.values, end, query.limit, behind - rest);
    const last = rows.at(-1);
    if (last !== undefined) noteEnd(ends, Number(last['seq']), rest - rows.length);
    return { rows: rows.map(storedEvent), total };
  }

  /** Events of a customer are found by its segments, late events by their index. */
  function pick(query: EventQuery): EventPage {
    const demands = demandsOf(query);
    const seqs = picked.recall(demands.key, {
      find: () => (query.onlyLate === true ? seqsSince(connection, demands, 0) : seqsOfCustomer(connection, query)),
      grow(list, since) {
        for (const seq of seqsSince(connection, demands, since)) list.push(seq);
      },
    });
    const rest = Math.max(0, seqs.length - query.offset);
    const shown = seqs.slice(Math.max(0, rest - query.limit), rest).reverse();
    const select = connection.prepare(`${selectStored('events')} WHERE "event"."seq" = ?`);
    return { rows: shown.map((seq) => storedEvent(select.get(seq) ?? {})), total: seqs.length };
  }

  return {
    list: (query) => (query.customerId === undefined && query.onlyLate !== true ? walk(query) : pick(query)),
    forget() {
      walked.forget();
      picked.forget();
    },
  };
}

function noteEnd(ends: Map<number, number>, seq: number, behind: number): void {
  ends.delete(seq);
  ends.set(seq, behind);
  keepNewest(ends, mostEnds);
}

/** The conditions of a list on events, as text with its values. */
interface Demands {
  readonly text: string;
  readonly values: readonly SQLInputValue[];
  /** Identifies the list. */
  readonly key: string;
}

function demandsOf(query: EventQuery): Demands {
  const given = (
    [
      ['"customer"."orgId" = ?', query.orgId],
      ['"customer"."id" = ?', query.customerId],
      ['"name"."name" = ?', query.eventName],
      ['"event"."timestampEpochMs" >= ?', query.fromEpochMs],
      ['"event"."timestampEpochMs" < ?', query.toEpochMs],
    ] as const
  ).flatMap(([text, value]) => (value === undefined ? [] : [{ text, value }]));
  const late = query.onlyLate === true ? ['"event"."isLate" = 1'] : [];
  const text = [...late, ...given.map((demand) => demand.text)].join(' AND ');
  const values = given.map(({ value }) => value);
  return { text, values, key: JSON.stringify([text, values]) };
}

const selectSince = (what: string, { text }: Demands): string =>
  `SELECT ${what} FROM "events" AS "event" JOIN "customers" AS "customer" ON "customer"."seq" = "event"."customerSeq"
   JOIN "eventNames" AS "name" ON "name"."id" = "event"."nameId" WHERE ${text} AND "event"."seq" > ?`;

function countSince(connection: SqliteConnection, demands: Demands, since: number): number {
  const counted = connection.prepare(selectSince('count(*) AS "total"', demands)).get(...demands.values, since);
  return Number(counted?.['total']);
}

/** Ascending. */
function seqsSince(connection: SqliteConnection, demands: Demands, since: number): number[] {
  const rows = plainRows(connection, `${selectSince('"event"."seq"', demands)} ORDER BY "event"."seq"`);
  return (rows.all(...demands.values, since) as unknown as readonly (readonly [number])[]).map(([seq]) => seq);
}

function seqsOfCustomer(connection: SqliteConnection, query: EventQuery): number[] {
  const { orgId, customerId = '', eventName, fromEpochMs = 0, toEpochMs = Number.MAX_SAFE_INTEGER } = query;
  const eventNames = eventName === undefined ? [] : [eventName];
  const events = findEvents(connection, { orgId, customerId, eventNames, fromEpochMs, toEpochMs, withLate: true });
  return events.map(({ eventSeq }) => eventSeq).sort((a, b) => a - b);
}

function countNow(connection: SqliteConnection, demands: Demands, { orgId }: EventQuery): number {
  return demands.values.length === 1 ? countAll(connection, orgId) : countSince(connection, demands, 0);
}

/**
 * Segments and tail together hold every event once; counting rows one by one takes a second for ten million. SQLite itself would
 * go through all counts for each customer.
 */
function countAll(connection: SqliteConnection, orgId: string): number {
  const counts = connection
    .prepare(
      `SELECT (SELECT ifnull(sum("rowCount"), 0) FROM "customers" JOIN "eventSegments" ON "customerSeq" = "seq" WHERE "orgId" = :orgId)
         + (SELECT count(*) FROM "customers" JOIN "eventTail" ON "customerSeq" = "seq" WHERE "orgId" = :orgId)
         + (SELECT ifnull(sum("tail"."value"), 0) FROM json_each(:counts) AS "tail" CROSS JOIN "customers" ON "seq" = CAST("key" AS INTEGER) WHERE "orgId" = :orgId)
         AS "total"`,
    )
    .get({ orgId, counts: JSON.stringify(Object.fromEntries(countRuns(connection))) });
  return Number(counts?.['total']);
}
