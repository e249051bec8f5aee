/** Writes events to SQLite: the row, its key and its place in the tail, in one pass and without promises for new events. */

import { isSameEvent, storedEvent } from '../../../event-content.ts';
import type { AppendOutcome, CanReplace, NewEvent, StoredEvent } from '../../../event-store.ts';
import { createKeyHash } from './key-hash.ts';
import type { SqliteConnection } from '../connection.ts';
import { eventSeqs } from './ids.ts';
import type { SqliteEventKeys } from './keys.ts';
import type { RecentRows } from './recent.ts';
import { absorbTail, forget, type UpkeepThresholds } from './segments.ts';
import { enterTail, type EventPlace } from './tail.ts';

const stored = `"event"."seq", "event"."id", "event"."idempotencyKey", "customer"."id" AS "customerId",
  "contract"."id" AS "contractId", "name"."name" AS "eventName", "event"."timestampEpochMs", "event"."propertiesJson",
  "event"."receivedAtEpochMs", "event"."isLate", "event"."version"`;

/** Selects the columns of `storedEvent`, from events or from their superseded versions. */
export const selectStored = (table: 'events' | 'eventVersions'): string => `SELECT ${
  table === 'events' ? stored : stored.replace('"event"."seq"', '"event"."eventSeq" AS "seq"')
} FROM "${table}" AS "event"
  JOIN "customers" AS "customer" ON "customer"."seq" = "event"."customerSeq"
  JOIN "eventNames" AS "name" ON "name"."id" = "event"."nameId"
  LEFT JOIN "contracts" AS "contract" ON "contract"."seq" = "event"."contractSeq"`;

const insertNew = `INSERT INTO "events" ("seq", "idempotencyKey", "id", "customerSeq", "contractSeq", "nameId",
  "timestampEpochMs", "propertiesJson", "receivedAtEpochMs", "isLate", "version") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)`;

const updateEffective = `UPDATE "events" SET ("id", "customerSeq", "contractSeq", "nameId", "timestampEpochMs",
  "propertiesJson", "receivedAtEpochMs", "isLate", "version") = (?, ?, ?, ?, ?, ?, ?, ?, "version" + 1) WHERE "seq" = ?`;

interface Appender {
  readonly connection: SqliteConnection;
  readonly keys: SqliteEventKeys;
  readonly recent: RecentRows;
  readonly thresholds: UpkeepThresholds;
}

/** Belongs in a transaction for writing. */
export async function appendEvents(
  appender: Appender,
  { orgId, events }: { readonly orgId: string; readonly events: readonly NewEvent[] },
  canReplace: CanReplace,
): Promise<readonly AppendOutcome[]> {
  if (events.length === 0) return [];
  const { connection, keys } = appender;
  const keyHash = createKeyHash(orgId);
  const hashes = events.map(({ idempotencyKey }) => keyHash(idempotencyKey));
  keys.prepare(hashes);
  const batch = beginBatch(appender, orgId, events);
  const outcomes: AppendOutcome[] = [];
  for (const [place, event] of events.entries()) {
    const { candidates, hash } = keys.find(hashes[place] ?? 0, orgId, event.idempotencyKey);
    const known = findKnown(connection, candidates, { orgId, idempotencyKey: event.idempotencyKey });
    if (known === undefined) {
      batch.insert(event, hash);
      outcomes.push('new');
    } else if (isSameEvent(known.event, event)) outcomes.push('same');
    else if (await canReplace(known.event, event)) {
      batch.replace(known.place, event);
      outcomes.push('replaced');
    } else outcomes.push('refused');
  }
  batch.end();
  keepUp(appender, outcomes);
  return outcomes;
}

/** The rows of one call on their way into the tables. */
interface Batch {
  /** Inserts a new event, whose key is found by this hash. */
  readonly insert: (event: NewEvent, hash: number) => void;
  /** Replaces the effective version, which readers find at `place`. */
  readonly replace: (place: EventPlace, event: NewEvent) => void;
  /** Updates keys and tail with what was written. */
  readonly end: () => void;
}

function beginBatch(
  { connection, keys, recent, thresholds }: Appender,
  orgId: string,
  events: readonly NewEvent[],
): Batch {
  const seqsOf = eventSeqs(connection, orgId, events);
  const insert = connection.prepare(insertNew);
  /** Where new events stand once all is written, in order; `moved` has the same for earlier events, by seq. */
  const places: EventPlace[] = [];
  const moved = new Map<number, EventPlace>();
  const superseded: EventPlace[] = [];
  const first = Number(connection.prepare('SELECT max("seq") AS "last" FROM "events"').get()?.['last'] ?? 0n) + 1;
  let next = first;
  recent.prepare(next);
  return {
    insert(event, hash) {
      const { customerSeq, contractSeq, nameId } = seqsOf(event);
      const { timestampEpochMs, propertiesJson } = event;
      const isLate = event.isLate ? 1 : 0;
      // The statement gives no row, and `get`, unlike `run`, makes no object to say so.
      insert.get(next, event.idempotencyKey, event.id, customerSeq, contractSeq, nameId, timestampEpochMs, propertiesJson,
        event.receivedAtEpochMs, isLate); // prettier-ignore
      recent.add([customerSeq, timestampEpochMs, next, contractSeq, nameId, isLate, propertiesJson]);
      keys.add(hash, next);
      places.push({ eventSeq: next, customerSeq, timestampEpochMs });
      next += 1;
    },
    replace(place, event) {
      const { customerSeq, contractSeq, nameId } = seqsOf(event);
      const { timestampEpochMs, propertiesJson } = event;
      const { eventSeq } = place;
      connection
        .prepare(updateEffective)
        .run(event.id, customerSeq, contractSeq, nameId, timestampEpochMs, propertiesJson, event.receivedAtEpochMs,
          event.isLate ? 1 : 0, eventSeq); // prettier-ignore
      recent.forget(eventSeq);
      const now = { eventSeq, customerSeq, timestampEpochMs };
      if (eventSeq >= first) {
        places[eventSeq - first] = now;
        return;
      }
      if (!moved.has(eventSeq)) superseded.push(place);
      moved.set(eventSeq, now);
    },
    end() {
      const leastRun = Math.ceil(thresholds.longestTail / 32);
      if (next > first) keys.keep(leastRun);
      forget(connection, superseded);
      enterTail(connection, [...places, ...moved.values()], leastRun);
    },
  };
}

interface Known {
  readonly event: StoredEvent;
  readonly place: EventPlace;
}

function findKnown(
  connection: SqliteConnection,
  candidates: readonly number[],
  { orgId, idempotencyKey }: { readonly orgId: string; readonly idempotencyKey: string },
): Known | undefined {
  for (const eventSeq of candidates) {
    const row = connection
      .prepare(
        `${selectStored('events').replace('SELECT', 'SELECT "event"."customerSeq",')}
         WHERE "event"."seq" = ? AND "customer"."orgId" = ? AND "event"."idempotencyKey" = ?`,
      )
      .get(eventSeq, orgId, idempotencyKey);
    if (row === undefined) continue;
    const event = storedEvent(row);
    const place = { eventSeq, customerSeq: Number(row['customerSeq']), timestampEpochMs: event.timestampEpochMs };
    return { event, place };
  }
  return undefined;
}

function keepUp({ connection, keys, recent, thresholds }: Appender, outcomes: readonly AppendOutcome[]): void {
  const added = outcomes.filter((outcome) => outcome === 'new' || outcome === 'replaced').length;
  if (added === 0) return;
  const row = connection
    .prepare('UPDATE "eventUpkeep" SET "tailCount" = "tailCount" + ? RETURNING "tailCount"')
    .get(added);
  const tailCount = Number(row?.['tailCount']);
  if (tailCount < thresholds.longestTail) return;
  absorbTail(connection, thresholds, { tailCount, recent });
  recent.clear();
  keys.absorb();
}
