/**
 * Checks whether events are as `append` leaves them and whether derived data agrees with them, and rebuilds the derived data.
 */

import { limits } from '../../../../limits.ts';
import { decodeSegment } from './segment-bytes.ts';
import { createSegmentQuery } from './segment-fold.ts';
import {
  appendEvents,
  emptySegment,
  fixedColumns,
  millisecondsPerDay,
  type Segment,
  type SegmentEvent,
  textAt,
} from './segment.ts';
import type { EventFault, UpkeepFault } from '../../../event-store.ts';
import { type Entries, entriesOf } from './key-entries.ts';
import { createKeyHashes, crowd, secondKeyHash } from './key-hash.ts';
import type { SqliteConnection } from '../connection.ts';
import { plainRows } from './rows.ts';
import { nameReader } from './ids.ts';
import type { SqliteEventKeys } from './keys.ts';
import { absorbWholeTail, mostDays, type UpkeepThresholds } from './segments.ts';
import { placesInTail } from './tail.ts';
import { computeTotals, rowsOfContracts, rulesOfText } from './totals.ts';

const ofOrganization = `FROM "events" AS "event" JOIN "customers" AS "customer" ON "customer"."seq" = "event"."customerSeq"
  WHERE "customer"."orgId" = :orgId`;

const selectFaults = {
  versions: `SELECT "event"."idempotencyKey" ${ofOrganization.replace(
    'WHERE',
    `LEFT JOIN (SELECT "eventSeq", count(*) AS "kept", max("version") AS "last" FROM "eventVersions" GROUP BY "eventSeq") AS "old"
       ON "old"."eventSeq" = "event"."seq" WHERE`,
  )} AND ("event"."version" - 1 <> ifnull("old"."kept", 0) OR "event"."version" - 1 <> ifnull("old"."last", 0))`,
  owner: `SELECT "event"."idempotencyKey" ${ofOrganization.replace(
    'WHERE',
    'JOIN "contracts" AS "contract" ON "contract"."seq" = "event"."contractSeq" WHERE',
  )} AND ("contract"."customerId" <> "customer"."id" OR "contract"."orgId" <> "customer"."orgId")`,
  properties: `SELECT "event"."idempotencyKey" ${ofOrganization} AND NOT json_valid("event"."propertiesJson")`,
} as const;

export function listEventFaults(connection: SqliteConnection, orgId: string): EventFault[] {
  return Object.entries(selectFaults).flatMap(([fault, text]) =>
    connection
      .prepare(`${text} ORDER BY "event"."seq" LIMIT ${limits.findingsPerCheck}`)
      .all({ orgId })
      .map((row) => ({ idempotencyKey: String(row['idempotencyKey']), fault: fault as EventFault['fault'] })),
  );
}

/** Rebuilds all derived data from the events alone. Belongs in a transaction for writing. */
export function rebuildDerived(
  connection: SqliteConnection,
  keys: SqliteEventKeys,
  thresholds: UpkeepThresholds,
): void {
  // Where the count of revisions is lost it goes on behind those of segments, which a process may hold by id and revision.
  connection.execute(`INSERT INTO "eventUpkeep" ("id", "tailCount", "revision")
      SELECT 1, 0, ifnull(max("revision"), 0) FROM "eventSegments" WHERE true ON CONFLICT DO NOTHING;
    DELETE FROM "eventTotals"; DELETE FROM "eventRules"; DELETE FROM "eventSegments";
    DELETE FROM "eventKeyPieces"; DELETE FROM "eventKeyRuns"; DELETE FROM "eventKeyTail"; DELETE FROM "eventTail";
    DELETE FROM "eventTailPieces";
    INSERT INTO "eventTail" SELECT "customerSeq", "timestampEpochMs", "seq" FROM "events"`);
  const keyHash = createKeyHashes();
  const insert = connection.prepare('INSERT INTO "eventKeyTail" VALUES (?, ?)');
  const rows = plainRows(connection, keyRows);
  for (const row of rows.iterate() as Iterable<unknown> as Iterable<readonly [number, string, string]>) {
    const [seq, key, orgId] = row;
    insert.run(keyHash(orgId, key), seq);
  }
  partCrowds(connection);
  absorbWholeTail(connection, thresholds);
  keys.absorb();
}

/** Where a crowd of keys shares a hash, gives all but the first of them their second hash. */
function partCrowds(connection: SqliteConnection): void {
  const crowded = connection.prepare(`SELECT "hash", "eventSeq" FROM (SELECT "hash", "eventSeq",
      row_number() OVER (PARTITION BY "hash" ORDER BY "eventSeq") AS "place" FROM "eventKeyTail" WHERE "hash" IN
      (SELECT "hash" FROM "eventKeyTail" GROUP BY "hash" HAVING count(*) > ${crowd})) WHERE "place" > ${crowd}`);
  const move = connection.prepare('UPDATE "eventKeyTail" SET "hash" = ? WHERE "hash" = ? AND "eventSeq" = ?');
  const keyOf = plainRows(connection, `${keyRows} WHERE "event"."seq" = ?`);
  for (const { hash, eventSeq } of crowded.all()) {
    const [, key, orgId] = keyOf.get(eventSeq as bigint) as unknown as readonly [number, string, string];
    move.run(secondKeyHash(orgId, key), hash as bigint, eventSeq as bigint);
  }
}

const keyRows = `SELECT "event"."seq", "event"."idempotencyKey", "customer"."orgId" FROM "events" AS "event"
  JOIN "customers" AS "customer" ON "customer"."seq" = "event"."customerSeq"`;

/** Customers whose segments, tail or totals differ from what their events come to, and events that their key does not find. */
export function listUpkeepFaults(connection: SqliteConnection, orgId: string): UpkeepFault[] {
  const last = Number(connection.prepare('SELECT max("seq") AS "last" FROM "events"').get()?.['last'] ?? 0n);
  return [...listWrongCustomers(connection, orgId, last), ...listLostKeys(connection, orgId, last)];
}

function listWrongCustomers(connection: SqliteConnection, orgId: string, last: number): UpkeepFault[] {
  const seen = new Uint8Array(last + 1);
  const customers = connection
    .prepare('SELECT "seq", "id" FROM "customers" WHERE "orgId" = ? ORDER BY "seq"')
    .all(orgId);
  const wrong = new Set(
    customers.filter((row) => !isSound(connection, Number(row['seq']), seen)).map((row) => String(row['id'])),
  );
  const events = plainRows(
    connection,
    `SELECT "event"."seq", "customer"."id" FROM "events" AS "event"
     JOIN "customers" AS "customer" ON "customer"."seq" = "event"."customerSeq" WHERE "customer"."orgId" = ?`,
  );
  for (const row of events.iterate(orgId) as Iterable<unknown>) {
    const [seq, id] = row as readonly [number, string];
    if (seen[seq] === 0) wrong.add(id);
  }
  return [...wrong].slice(0, limits.findingsPerCheck).map((objectId) => ({ objectId, fault: 'rollUp' }));
}

/** Keys that do not lead to their event: sent again, such an event would count twice. */
function listLostKeys(connection: SqliteConnection, orgId: string, last: number): UpkeepFault[] {
  const hashes = readHashes(connection, last);
  const keyHash = createKeyHashes();
  const lost: UpkeepFault[] = [];
  for (const row of plainRows(connection, keyRows).iterate() as Iterable<unknown>) {
    const [seq, objectId, owner] = row as readonly [number, string, string];
    if (owner !== orgId || hashes[seq] === keyHash(owner, objectId)) continue;
    if (hashes[seq] === secondKeyHash(owner, objectId)) continue;
    lost.push({ objectId, fault: 'key' });
    if (lost.length === limits.findingsPerCheck) break;
  }
  return lost;
}

function readHashes(connection: SqliteConnection, last: number): Float64Array {
  const hashes = new Float64Array(last + 1).fill(-1);
  for (const row of connection.prepare('SELECT * FROM "eventKeyTail"').iterate()) {
    hashes[Number(row['eventSeq'])] = Number(row['hash']);
  }
  const pieces = connection.prepare(`SELECT "runId", "firstHash", "data" FROM "eventKeyPieces"
    ORDER BY "runId" DESC, "firstHash" DESC, "id" DESC`);
  let next = { runId: undefined as unknown, firstHash: Infinity };
  for (const row of pieces.iterate()) {
    const { runId, data } = row;
    const firstHash = Number(row['firstHash']);
    const end = next.runId === runId ? next.firstHash : Infinity;
    next = { runId, firstHash };
    const entries = entriesIn(data as Uint8Array);
    // A piece is found by its stated first hash, for hashes up to that of the next one in its run.
    if (entries?.hashes[0] !== firstHash) continue;
    for (const [place, hash] of entries.hashes.entries()) if (hash <= end) hashes[entries.seqs[place] ?? 0] = hash;
  }
  return hashes;
}

function entriesIn(bytes: Uint8Array): Entries | undefined {
  try {
    return entriesOf(bytes);
  } catch {
    // The bytes are not those of a piece.
    return undefined;
  }
}

type EventRow = readonly [number, number, number, number | null, number, string];

/** Whether segments and tail hold the customer's events alone, each once, and every total is that of its segment. */
function isSound(connection: SqliteConnection, customerSeq: number, seen: Uint8Array): boolean {
  let isRight = true;
  const notice = (seq: number) => {
    if (seen[seq] !== 0) isRight = false;
    else seen[seq] = 1;
  };
  const tail = soundTail(connection, customerSeq);
  if (tail === undefined) isRight = false;
  for (const { eventSeq } of tail ?? []) notice(eventSeq);
  const segments = connection.prepare('SELECT * FROM "eventSegments" WHERE "customerSeq" = ? ORDER BY "day", "part"');
  for (const row of segments.all(customerSeq)) {
    const segment = soundSegment(connection, customerSeq, row);
    if (segment === undefined || !hasSoundTotals(connection, row, segment)) isRight = false;
    for (const seq of segment?.fixed.eventSeq ?? []) notice(seq);
  }
  return isRight;
}

interface Expected extends Omit<SegmentEvent, 'millisecond'> {
  readonly timestampEpochMs: number;
}

function findEvent(connection: SqliteConnection, customerSeq: number, seq: number): Expected | undefined {
  const row = plainRows(
    connection,
    `SELECT "seq", "timestampEpochMs", "nameId", "contractSeq", "isLate", "propertiesJson" FROM "events"
     WHERE "seq" = ? AND "customerSeq" = ?`,
  ).get(seq, customerSeq) as unknown as EventRow | undefined;
  if (row === undefined) return undefined;
  const [eventSeq, timestampEpochMs, nameId, contractSeq, isLate, propertiesJson] = row;
  return { eventSeq, timestampEpochMs, nameId, contractSeq: contractSeq ?? 0, isLate: isLate === 1, propertiesJson };
}

/** The customer's events in the tail; undefined unless all are where the tail says. */
function soundTail(connection: SqliteConnection, customerSeq: number): ReturnType<typeof placesInTail> | undefined {
  try {
    const places = placesInTail(connection, { customerSeq });
    const isSoundPlace = ({ eventSeq, timestampEpochMs }: (typeof places)[number]) =>
      findEvent(connection, customerSeq, eventSeq)?.timestampEpochMs === timestampEpochMs;
    return places.every(isSoundPlace) ? places : undefined;
  } catch {
    // The bytes are not those of a run.
    return undefined;
  }
}

/** The segment; undefined unless it is what its events make. */
function soundSegment(
  connection: SqliteConnection,
  customerSeq: number,
  row: Record<string, unknown>,
): Segment | undefined {
  try {
    const segment = decodeSegment(row['data'] as Uint8Array);
    const [start, days] = [Number(row['day']) * millisecondsPerDay, Number(row['days'])];
    const events = [...segment.fixed.eventSeq].flatMap((seq) => {
      const event = findEvent(connection, customerSeq, seq);
      return event === undefined ? [] : { ...event, millisecond: event.timestampEpochMs - start };
    });
    const isOfDays = events.every(({ millisecond }) => millisecond >= 0 && millisecond < days * millisecondsPerDay);
    if (
      !isOfDays ||
      days > mostDays ||
      segment.rowCount !== Number(row['rowCount']) ||
      events.length !== segment.rowCount
    )
      return undefined;
    return isSameContent(segment, appendEvents(emptySegment, events)) ? segment : undefined;
  } catch {
    // The bytes are not those of a segment, or properties are not JSON, which is reported elsewhere.
    return undefined;
  }
}

/** A column may be left out in one segment and not in the other, because that depends on how it grew. */
function isSameContent(one: Segment, other: Segment): boolean {
  const isSameFixed = fixedColumns.every((name) =>
    one.fixed[name].every((value, row) => value === other.fixed[name][row]),
  );
  if (!isSameFixed) return false;
  return [...new Set([...one.properties.keys(), ...other.properties.keys()])].every((name) => {
    const [a, b] = [one.properties.get(name), other.properties.get(name)];
    if (a?.kind === 'leftOut' || b?.kind === 'leftOut') return true;
    for (let row = 0; row < one.rowCount; row += 1) {
      if ((a && textAt(a, row)) !== (b && textAt(b, row))) return false;
    }
    return true;
  });
}

function hasSoundTotals(connection: SqliteConnection, row: Record<string, unknown>, segment: Segment): boolean {
  const totals = connection
    .prepare(`SELECT "total"."cells", "rule"."rules" FROM "eventTotals" AS "total"
      JOIN "eventRules" AS "rule" ON "rule"."id" = "total"."ruleId"
      WHERE "total"."segmentId" = ? AND "total"."revision" = ?`)
    .all(row['id'] as bigint, row['revision'] as bigint);
  if (totals.length === 0) return true;
  const nameOf = nameReader(connection);
  const contracts = rowsOfContracts(segment);
  return totals.every(({ cells, rules }) => {
    try {
      const query = createSegmentQuery(rulesOfText(String(rules)), nameOf);
      return JSON.stringify(computeTotals(segment, query, contracts)) === cells;
    } catch {
      // The text is not one of rules.
      return false;
    }
  });
}
