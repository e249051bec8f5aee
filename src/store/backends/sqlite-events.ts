/**
 * Events in SQLite. This is the hot path, so it speaks to prepared statements: a query builder costs more than the row.
 * The table `events` holds the effective versions; a trigger keeps what an update supersedes in `eventVersions`.
 */

import type { SQLInputValue } from 'node:sqlite';

import { limits } from '../../limits.ts';
import { aggregateByScan } from '../event-aggregation.ts';
import { isSameEvent, ReusedEvent } from '../event-content.ts';
import type {
  AppendOutcome,
  CanReplace,
  EventFault,
  EventPage,
  EventQuery,
  EventScan,
  EventStore,
  NewEvent,
  ScannedEvent,
  StoredEvent,
} from '../event-store.ts';
import type { SqliteConnection } from './sqlite-connection.ts';

const columns = `"id", "idempotencyKey", "customerId", "contractId", "eventName", "timestampEpochMs", "propertiesJson",
  "receivedAtEpochMs", "isLate", "version"`;

const insertNew = `INSERT INTO "events" ("orgId", ${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)
  ON CONFLICT ("orgId", "idempotencyKey") DO NOTHING`;

const selectEffective = `SELECT ${columns} FROM "events" WHERE "orgId" = ? AND "idempotencyKey" = ?`;

const updateEffective = `UPDATE "events" SET ("id", "customerId", "contractId", "eventName", "timestampEpochMs",
  "propertiesJson", "receivedAtEpochMs", "isLate", "version") = (?, ?, ?, ?, ?, ?, ?, ?, "version" + 1)
  WHERE "orgId" = ? AND "idempotencyKey" = ?`;

const selectVersions = `SELECT ${columns} FROM "eventVersions" WHERE "orgId" = ? AND "idempotencyKey" = ?
  ORDER BY "version"`;

const selectFaults: Readonly<Record<EventFault['fault'], string>> = {
  versions: `SELECT "event"."idempotencyKey" FROM "events" AS "event" LEFT JOIN (
      SELECT "idempotencyKey", count(*) AS "kept", max("version") AS "last" FROM "eventVersions"
      WHERE "orgId" = :orgId GROUP BY "idempotencyKey"
    ) AS "old" ON "old"."idempotencyKey" = "event"."idempotencyKey"
    WHERE "event"."orgId" = :orgId
      AND ("event"."version" - 1 <> ifnull("old"."kept", 0) OR "event"."version" - 1 <> ifnull("old"."last", 0))`,
  owner: `SELECT "event"."idempotencyKey" FROM "events" AS "event" JOIN "contracts" AS "contract"
      ON "contract"."orgId" = "event"."orgId" AND "contract"."id" = "event"."contractId"
    WHERE "event"."orgId" = :orgId AND "contract"."customerId" <> "event"."customerId"`,
  properties: `SELECT "idempotencyKey" FROM "events" AS "event"
    WHERE "orgId" = :orgId AND NOT json_valid("propertiesJson")`,
};

/** The events of the database that `connection` is open on; every method runs inside the store's current transaction. */
export function createSqliteEventStore(connection: SqliteConnection): EventStore {
  const store: EventStore = {
    append: (_tx, orgId, events, canReplace) => append(connection, orgId, events, canReplace),
    aggregate: (tx, request) => aggregateByScan(store, tx, request),
    async scan(_tx, request, onEvent) {
      scan(connection, request, onEvent);
    },
    async list(_tx, query) {
      return list(connection, query, false);
    },
    async listLate(_tx, query) {
      return list(connection, query, true);
    },
    async listVersions(_tx, orgId, idempotencyKey) {
      return inTransaction(connection).prepare(selectVersions).all(orgId, idempotencyKey).map(storedEvent);
    },
    async listFaults(_tx, orgId) {
      return Object.entries(selectFaults).flatMap(([fault, text]) =>
        inTransaction(connection)
          .prepare(`${text} ORDER BY "event"."seq" LIMIT ${limits.findingsPerCheck}`)
          .all({ orgId })
          .map((row) => ({ idempotencyKey: row['idempotencyKey'] as string, fault: fault as EventFault['fault'] })),
      );
    },
  };
  return store;
}

/** Outside a transaction a statement would commit by itself, so a forgotten one is an error and not a slow success. */
function inTransaction(connection: SqliteConnection): SqliteConnection {
  if (!connection.isTransaction) throw new Error('events are read and written inside read() or write() only');
  return connection;
}

async function append(
  connection: SqliteConnection,
  orgId: string,
  events: readonly NewEvent[],
  canReplace: CanReplace,
): Promise<readonly AppendOutcome[]> {
  const insert = inTransaction(connection).prepare(insertNew);
  const outcomes: AppendOutcome[] = [];
  for (const event of events) {
    const { changes } = insert.run(
      orgId,
      event.id,
      event.idempotencyKey,
      event.customerId,
      event.contractId,
      event.eventName,
      BigInt(event.timestampEpochMs),
      event.propertiesJson,
      BigInt(event.receivedAtEpochMs),
      event.isLate ? 1n : 0n,
    );
    outcomes.push(Number(changes) === 1 ? 'new' : await appendKnown(connection, orgId, event, canReplace));
  }
  return outcomes;
}

async function appendKnown(
  connection: SqliteConnection,
  orgId: string,
  event: NewEvent,
  canReplace: CanReplace,
): Promise<AppendOutcome> {
  const row = connection.prepare(selectEffective).get(orgId, event.idempotencyKey);
  if (row === undefined) throw new Error(`the event ${event.idempotencyKey} is neither new nor known`);
  const previous = storedEvent(row);
  if (isSameEvent(previous, event)) return 'same';
  if (!(await canReplace(previous, event))) return 'refused';
  connection
    .prepare(updateEffective)
    .run(
      event.id,
      event.customerId,
      event.contractId,
      event.eventName,
      BigInt(event.timestampEpochMs),
      event.propertiesJson,
      BigInt(event.receivedAtEpochMs),
      event.isLate ? 1n : 0n,
      orgId,
      event.idempotencyKey,
    );
  return 'replaced';
}

function storedEvent(row: Record<string, unknown>): StoredEvent {
  return {
    id: row['id'] as string,
    idempotencyKey: row['idempotencyKey'] as string,
    customerId: row['customerId'] as string,
    contractId: row['contractId'] as string | null,
    eventName: row['eventName'] as string,
    timestampEpochMs: Number(row['timestampEpochMs']),
    propertiesJson: row['propertiesJson'] as string,
    receivedAtEpochMs: Number(row['receivedAtEpochMs']),
    isLate: row['isLate'] === 1n,
    version: Number(row['version']),
  };
}

/** A WHERE clause in the making: texts with placeholders, and the values for them in order. */
interface Conditions {
  readonly texts: string[];
  readonly values: SQLInputValue[];
}

function demand(conditions: Conditions, text: string, ...values: SQLInputValue[]): void {
  conditions.texts.push(text);
  conditions.values.push(...values);
}

type ScanRow = readonly [string, number, string | null, string, string];

function scan(connection: SqliteConnection, request: EventScan, onEvent: (event: ScannedEvent) => void): void {
  const { texts, values } = scanConditions(request);
  const statement = inTransaction(connection).prepare(
    `SELECT "eventName", "timestampEpochMs", "contractId", "propertiesJson",
       ${request.withKeys === true ? '"idempotencyKey"' : `''`} FROM "events" INDEXED BY "events_customer"
     WHERE ${texts.join(' AND ')} ORDER BY "timestampEpochMs", "seq"`,
  );
  // Timestamps are safe integers by the table's CHECK; as numbers they need no conversion for each row.
  statement.setReadBigInts(false);
  statement.setReturnArrays(true);
  const event = new ReusedEvent();
  const rows = statement.iterate(...values) as Iterable<unknown> as Iterable<ScanRow>;
  for (const [eventName, timestampEpochMs, contractId, propertiesJson, idempotencyKey] of rows) {
    event.idempotencyKey = idempotencyKey;
    event.eventName = eventName;
    event.timestampEpochMs = timestampEpochMs;
    event.contractId = contractId;
    event.propertiesJson = propertiesJson;
    event.forgetProperties();
    onEvent(event);
  }
}

function scanConditions(request: EventScan): Conditions {
  const conditions: Conditions = { texts: [], values: [] };
  const { orgId, customerId, fromEpochMs, toEpochMs, eventNames = [], excludedEventNames = [], contract } = request;
  demand(conditions, '"orgId" = ? AND "customerId" = ?', orgId, customerId);
  demand(conditions, '"timestampEpochMs" >= ? AND "timestampEpochMs" < ?', BigInt(fromEpochMs), BigInt(toEpochMs));
  if (eventNames.length > 0) demand(conditions, `"eventName" IN (${placeholders(eventNames)})`, ...eventNames);
  if (excludedEventNames.length > 0) {
    demand(conditions, `"eventName" NOT IN (${placeholders(excludedEventNames)})`, ...excludedEventNames);
  }
  if (contract !== undefined) {
    const outside = contract.unassignedOutside.map(
      () => ' AND NOT ("timestampEpochMs" >= ? AND "timestampEpochMs" < ?)',
    );
    const bounds = contract.unassignedOutside.flatMap((taken) => [BigInt(taken.fromEpochMs), BigInt(taken.toEpochMs)]);
    const text = `("contractId" = ? OR ("contractId" IS NULL${outside.join('')}))`;
    demand(conditions, text, contract.contractId, ...bounds);
  }
  if (request.excludeLate) demand(conditions, '"isLate" = 0');
  return conditions;
}

function placeholders(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}

function list(connection: SqliteConnection, query: EventQuery, isLate: boolean): EventPage {
  const { texts, values } = listConditions(query, isLate);
  const where = texts.join(' AND ');
  const page = `SELECT ${columns} FROM "events" WHERE ${where} ORDER BY "seq" DESC LIMIT ? OFFSET ?`;
  const rows = inTransaction(connection)
    .prepare(page)
    .all(...values, BigInt(query.limit), BigInt(query.offset));
  const counted = connection.prepare(`SELECT count(*) AS "total" FROM "events" WHERE ${where}`).get(...values);
  return { rows: rows.map(storedEvent), total: Number(counted?.['total']) };
}

function listConditions(query: EventQuery, isLate: boolean): Conditions {
  const conditions: Conditions = { texts: [], values: [] };
  demand(conditions, '"orgId" = ?', query.orgId);
  if (isLate) demand(conditions, '"isLate" = 1');
  if (query.customerId !== undefined) demand(conditions, '"customerId" = ?', query.customerId);
  if (query.eventName !== undefined) demand(conditions, '"eventName" = ?', query.eventName);
  if (query.fromEpochMs !== undefined) demand(conditions, '"timestampEpochMs" >= ?', BigInt(query.fromEpochMs));
  if (query.toEpochMs !== undefined) demand(conditions, '"timestampEpochMs" < ?', BigInt(query.toEpochMs));
  return conditions;
}
