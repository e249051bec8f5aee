/** Events into SQLite: the row, its key, its place in the tail, in one pass and without a promise for what is new. */

import { ConstraintViolation } from '../constraint-violation.ts';
import { isSameEvent, storedEvent } from '../event-content.ts';
import type { AppendOutcome, CanReplace, NewEvent, StoredEvent } from '../event-store.ts';
import { createKeyHash } from '../key-hash.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import type { SqliteEventKeys } from './sqlite-event-keys.ts';
import type { RecentRows } from './sqlite-event-recent.ts';
import {
  absorbTail,
  findContractSeq,
  findCustomerSeqs,
  forget,
  type UpkeepThresholds,
} from './sqlite-event-segments.ts';
import { enterTail, type EventPlace } from './sqlite-event-tail.ts';

const stored = `"event"."seq", "event"."id", "event"."idempotencyKey", "customer"."id" AS "customerId",
  "contract"."id" AS "contractId", "name"."name" AS "eventName", "event"."timestampEpochMs", "event"."propertiesJson",
  "event"."receivedAtEpochMs", "event"."isLate", "event"."version"`;

/** The columns of `storedEvent`, of events and of their versions. */
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

/** Belongs into a transaction for writing. */
export async function appendEvents(
  { connection, keys, recent, thresholds }: Appender,
  { orgId, events }: { readonly orgId: string; readonly events: readonly NewEvent[] },
  canReplace: CanReplace,
): Promise<readonly AppendOutcome[]> {
  if (events.length === 0) return [];
  keys.prepare(events.length);
  const keyHash = createKeyHash(orgId);
  const seqs = createSeqs(connection, orgId, events);
  const insert = connection.prepare(insertNew);
  const superseded: EventPlace[] = [];
  /** Where the new events of this call stand after the last of it, in their order, and those that were there by their seqs. */
  const places: EventPlace[] = [];
  const moved = new Map<number, EventPlace>();
  const first = Number(connection.prepare('SELECT max("seq") AS "last" FROM "events"').get()?.['last'] ?? 0n) + 1;
  let next = first;
  recent.prepare(next);

  const insertOne = (event: NewEvent, hash: number): void => {
    const { customerSeq, contractSeq, nameId } = seqs(event);
    const { timestampEpochMs, receivedAtEpochMs } = event;
    const isLate = event.isLate ? 1 : 0;
    insert.run(next, event.idempotencyKey, event.id, customerSeq, contractSeq, nameId, timestampEpochMs,
      event.propertiesJson, receivedAtEpochMs, isLate); // prettier-ignore
    recent.add([customerSeq, timestampEpochMs, next, contractSeq, nameId, isLate, event.propertiesJson]);
    keys.add(hash, next);
    places.push({ eventSeq: next, customerSeq, timestampEpochMs });
    next += 1;
  };

  const replace = (place: EventPlace, event: NewEvent): void => {
    const { customerSeq, contractSeq, nameId } = seqs(event);
    const { timestampEpochMs, receivedAtEpochMs } = event;
    const isLate = event.isLate ? 1 : 0;
    connection
      .prepare(updateEffective)
      .run(event.id, customerSeq, contractSeq, nameId, timestampEpochMs, event.propertiesJson, receivedAtEpochMs,
        isLate, place.eventSeq); // prettier-ignore
    const { eventSeq } = place;
    recent.forget(eventSeq);
    const now = { eventSeq, customerSeq, timestampEpochMs };
    if (eventSeq >= first) {
      places[eventSeq - first] = now;
      return;
    }
    if (!moved.has(eventSeq)) superseded.push(place);
    moved.set(eventSeq, now);
  };

  const outcomes: AppendOutcome[] = [];
  for (const event of events) {
    const hash = keyHash(event.idempotencyKey);
    const candidates = keys.candidates(hash);
    const known = findKnown(connection, candidates, { orgId, idempotencyKey: event.idempotencyKey });
    if (known === undefined) {
      insertOne(event, hash);
      outcomes.push('new');
    } else if (isSameEvent(known.event, event)) outcomes.push('same');
    else if (await canReplace(known.event, event)) {
      replace(known.place, event);
      outcomes.push('replaced');
    } else outcomes.push('refused');
  }
  const leastRun = Math.ceil(thresholds.longestTail / 32);
  if (next > first) keys.keep(leastRun);
  forget(connection, superseded);
  enterTail(connection, [...places, ...moved.values()], leastRun);
  keepUp({ connection, keys, recent, thresholds }, outcomes);
  return outcomes;
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

interface EventSeqs {
  readonly customerSeq: number;
  readonly contractSeq: number | null;
  readonly nameId: number;
}

/** Ids as the short integers of rows, each looked up once a call. Throws ConstraintViolation for what the organization lacks. */
function createSeqs(
  connection: SqliteConnection,
  orgId: string,
  events: readonly NewEvent[],
): (event: NewEvent) => EventSeqs {
  const customers = findCustomerSeqs(connection, orgId, new Set(events.map((event) => event.customerId)));
  const contracts = new Map<string, number>();
  const names = new Map<string, number>();
  const contractSeqOf = (id: string) => required(findContractSeq(connection, orgId, id), 'contract');
  const nameIdOf = (name: string): number => {
    connection.prepare('INSERT INTO "eventNames" ("name") VALUES (?) ON CONFLICT DO NOTHING').run(name);
    return Number(connection.prepare('SELECT "id" FROM "eventNames" WHERE "name" = ?').get(name)?.['id']);
  };
  return ({ customerId, contractId, eventName }) => ({
    customerSeq: required(customers.get(customerId), 'customer'),
    contractSeq: contractId === null ? null : lookedUp(contracts, contractId, contractSeqOf),
    nameId: lookedUp(names, eventName, nameIdOf),
  });
}

function lookedUp(known: Map<string, number>, id: string, find: (id: string) => number): number {
  let seq = known.get(id);
  if (seq === undefined) {
    seq = find(id);
    known.set(id, seq);
  }
  return seq;
}

function required(seq: number | undefined, what: string): number {
  if (seq !== undefined) return seq;
  throw new ConstraintViolation('reference', `an event names a ${what} that its organization does not have`, undefined);
}
