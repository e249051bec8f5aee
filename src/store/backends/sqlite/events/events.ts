/**
 * Events in SQLite. This is the hot path, so it uses prepared statements directly: a query builder costs more than the row.
 * The table `events` holds the effective versions; a trigger keeps superseded ones in `eventVersions`. The data beside them that
 * serves reading is derived: see segments.ts and keys.ts.
 */

import { ReusedEvent } from '../../../event-content.ts';
import type { EventScan, EventStore, ScannedEvent } from '../../../event-store.ts';
import type { SqliteConnection } from '../connection.ts';
import { appendEvents } from './append.ts';
import { listEventFaults, listUpkeepFaults, rebuildDerived } from './check.ts';
import { createReadingCache } from './cache.ts';
import { contractIdReader } from './ids.ts';
import { createSqliteEventKeys } from './keys.ts';
import { createEventPages } from './pages.ts';
import { createKnownTail } from './known-tail.ts';
import { findEvents } from './places.ts';
import { createRecentRows } from './recent.ts';
import { readNamed, readSegments } from './readings.ts';
import { type UpkeepThresholds, usualThresholds } from './segments.ts';
import { type FoundTotals, keepTotals } from './totals.ts';

export interface SqliteEventStore extends EventStore {
  /** Whether readers have computed totals that a transaction for writing may keep. */
  readonly hasFoundTotals: () => boolean;
  /** Keeps those totals; belongs in a transaction for writing. */
  readonly keepFoundTotals: () => void;
}

/** The most totals held for a writer; others can be computed again. */
const mostFound = 10_000;

/** The events of the database on `connection`; every method runs inside the store's current transaction. */
export function createSqliteEventStore(
  connection: SqliteConnection,
  thresholds: UpkeepThresholds = usualThresholds,
): SqliteEventStore {
  const keys = createSqliteEventKeys(connection);
  const recent = createRecentRows(connection);
  const cache = createReadingCache(connection);
  const pages = createEventPages(connection);
  const knownTail = createKnownTail(connection, thresholds);
  const upkeep = { leastKept: thresholds.leastKept, cache, knownTail };
  let found: FoundTotals[] = [];
  let handle = connection.handleCount;

  /** Without those that were read by another handle, which may belong to another file. */
  function foundHere(): FoundTotals[] {
    if (handle !== connection.handleCount) found = [];
    handle = connection.handleCount;
    return found;
  }

  function keepOrHold(totals: readonly FoundTotals[]): void {
    if (totals.length === 0) return;
    if (connection.isWriting) {
      cache.noteChange();
      keepTotals(connection, totals);
    } else if (!connection.isReadOnly) foundHere().push(...totals.slice(0, mostFound - found.length));
  }

  return {
    async append(_tx, orgId, events, canReplace) {
      const appender = { connection: inTransaction(connection), keys, recent, thresholds };
      cache.noteChange();
      knownTail.noteChange();
      return await appendEvents(appender, { orgId, events }, canReplace);
    },
    async scan(_tx, request, onEvent) {
      scan(inTransaction(connection), request, onEvent);
    },
    async aggregate(_tx, of, meters) {
      const answer = readSegments(inTransaction(connection), { of, meters }, upkeep);
      keepOrHold(answer.found);
      return answer.readings;
    },
    async aggregateNamed(_tx, of, asked) {
      const answer = readNamed(inTransaction(connection), { of, ...asked }, upkeep);
      keepOrHold(answer.found);
      return answer.readings;
    },
    async list(_tx, query) {
      inTransaction(connection);
      return pages.list(query);
    },
    async listFaults(_tx, orgId) {
      return listEventFaults(inTransaction(connection), orgId);
    },
    upkeep: {
      async listFaults(_tx, orgId) {
        return listUpkeepFaults(inTransaction(connection), orgId);
      },
      async rebuild() {
        cache.noteChange();
        pages.forget();
        knownTail.forget();
        knownTail.noteChange();
        rebuildDerived(inTransaction(connection), keys, thresholds);
      },
    },
    hasFoundTotals: () => foundHere().length > 0,
    keepFoundTotals() {
      keepTotals(connection, foundHere());
      found = [];
    },
  };
}

/** Outside a transaction a statement would commit by itself. A forgotten transaction is an error, not a slow success. */
function inTransaction(connection: SqliteConnection): SqliteConnection {
  if (!connection.isTransaction) throw new Error('events are read and written inside read() or write() only');
  return connection;
}

function scan(connection: SqliteConnection, request: EventScan, onEvent: (event: ScannedEvent) => void): void {
  const events = findEvents(connection, request);
  events.sort((a, b) => a.timestampEpochMs - b.timestampEpochMs || a.eventSeq - b.eventSeq);
  const contractIdOf = contractIdReader(connection);
  const select = connection.prepare('SELECT "propertiesJson", "idempotencyKey" FROM "events" WHERE "seq" = ?');
  const event = new ReusedEvent();
  for (const { eventSeq, timestampEpochMs, eventName, contractSeq } of events) {
    const row = select.get(eventSeq);
    event.idempotencyKey = request.withKeys === true ? String(row?.['idempotencyKey']) : '';
    event.eventName = eventName;
    event.timestampEpochMs = timestampEpochMs;
    event.contractId = contractIdOf(contractSeq);
    event.propertiesJson = String(row?.['propertiesJson']);
    onEvent(event);
  }
}
