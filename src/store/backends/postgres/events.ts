/**
 * Events in PostgreSQL. The table `events` holds the effective versions; a trigger keeps superseded ones in `eventVersions`.
 * The statements are hand-written, so that one of them takes a whole batch.
 */

import { limits } from '../../../limits.ts';
import type { Transaction } from '../../database.ts';
import { isSameEvent, storedEvent } from '../../event-content.ts';
import type {
  AppendOutcome,
  CanReplace,
  EventFault,
  EventPage,
  EventQuery,
  EventReadings,
  EventStore,
  NewEvent,
} from '../../event-store.ts';
import { type RawRow, rowsOfText } from '../../raw-query.ts';
import { type PageStart, readPage } from '../../records/page.ts';
import { askByMeter } from '../event-groups.ts';
import { createDayMemory } from './event-days.ts';
import { aggregateInServer } from './event-readings.ts';
import { Conditions, scan } from './event-scan.ts';

/** The columns of `storedEvent`. */
export const eventColumns = `"id", "idempotencyKey", "customerId", "contractId", "eventName", "timestampEpochMs", "propertiesJson",
  "receivedAtEpochMs", "isLate", "version"`;

/** Inserts in order of arrival, which `seq` follows; an existing key is left alone and not returned. */
const insertNew = `INSERT INTO "events" ("orgId", ${eventColumns})
  SELECT $1, "id", "idempotencyKey", "customerId", "contractId", "eventName", "timestampEpochMs", "propertiesJson",
    "receivedAtEpochMs", "isLate", 1
  FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::text[], $9::bigint[],
    $10::smallint[]) WITH ORDINALITY AS "sent" ("id", "idempotencyKey", "customerId", "contractId", "eventName",
    "timestampEpochMs", "propertiesJson", "receivedAtEpochMs", "isLate", "place")
  ORDER BY "place" ON CONFLICT ("orgId", "idempotencyKey") DO NOTHING RETURNING "idempotencyKey"`;

const selectEffective = `SELECT ${eventColumns} FROM "events" WHERE "orgId" = $1 AND "idempotencyKey" = ANY($2::text[])`;

const updateEffective = `UPDATE "events" SET ("id", "customerId", "contractId", "eventName", "timestampEpochMs",
  "propertiesJson", "receivedAtEpochMs", "isLate", "version") = ROW($3, $4, $5, $6, $7::bigint, $8, $9::bigint,
  $10::smallint, "version" + 1) WHERE "orgId" = $1 AND "idempotencyKey" = $2`;

const selectFaults: Readonly<Record<Exclude<EventFault['fault'], 'gone'>, string>> = {
  versions: `SELECT "event"."idempotencyKey" FROM "events" AS "event" LEFT JOIN (
      SELECT "idempotencyKey", count(*) AS "kept", max("version") AS "last" FROM "eventVersions"
      WHERE "orgId" = $1 GROUP BY "idempotencyKey"
    ) AS "old" ON "old"."idempotencyKey" = "event"."idempotencyKey"
    WHERE "event"."orgId" = $1
      AND ("event"."version" - 1 <> coalesce("old"."kept", 0) OR "event"."version" - 1 <> coalesce("old"."last", 0))`,
  owner: `SELECT "event"."idempotencyKey" FROM "events" AS "event" JOIN "contracts" AS "contract"
      ON "contract"."orgId" = "event"."orgId" AND "contract"."id" = "event"."contractId"
    WHERE "event"."orgId" = $1 AND "contract"."customerId" <> "event"."customerId"`,
  properties: `SELECT "idempotencyKey" FROM "events" AS "event"
    WHERE "orgId" = $1 AND "propertiesJson" IS NOT JSON`,
};

/** Every method runs inside a transaction of the store. */
export function createPostgresEventStore(): EventStore {
  const readByDays = createDayMemory();
  return {
    append,
    scan,
    async aggregate(tx, of, meters) {
      const readings: EventReadings[] = [];
      for (const rules of meters) readings.push(await readByDays(tx, { ...of, rules }));
      return readings;
    },
    aggregateNamed: async (tx, of, asked) =>
      await askByMeter(of, asked, async (question) => await aggregateInServer(tx, question)),
    list,
    async listFaults(tx, orgId) {
      const faults: EventFault[] = [];
      for (const [fault, text] of Object.entries(selectFaults) as [EventFault['fault'], string][]) {
        const rows = await rowsOfText(tx, `${text} ORDER BY "event"."seq" LIMIT ${limits.findingsPerCheck}`, [orgId]);
        faults.push(...rows.map((row) => ({ idempotencyKey: row['idempotencyKey'] as string, fault })));
      }
      return faults;
    },
  };
}

async function append(
  tx: Transaction,
  orgId: string,
  events: readonly NewEvent[],
  canReplace: CanReplace,
): Promise<readonly AppendOutcome[]> {
  if (events.length === 0) return [];
  const column = <Name extends keyof NewEvent>(name: Name) => events.map((event) => event[name]);
  const inserted = await rowsOfText(tx, insertNew, [
    orgId,
    column('id'),
    column('idempotencyKey'),
    column('customerId'),
    column('contractId'),
    column('eventName'),
    column('timestampEpochMs'),
    column('propertiesJson'),
    column('receivedAtEpochMs'),
    column('isLate'),
  ]);
  const added = new Set(inserted.map((row) => row['idempotencyKey'] as string));
  if (added.size === events.length) return events.map(() => 'new');
  return await appendKnown(tx, orgId, { events, added, canReplace });
}

/** The rest of a batch, of which `added` are recorded: the first event with each of these keys is new, all others are known. */
async function appendKnown(
  tx: Transaction,
  orgId: string,
  {
    events,
    added,
    canReplace,
  }: { readonly events: readonly NewEvent[]; readonly added: Set<string>; readonly canReplace: CanReplace },
): Promise<readonly AppendOutcome[]> {
  const outcomes: AppendOutcome[] = [];
  const isNew = events.map(({ idempotencyKey }) => added.delete(idempotencyKey));
  const keys = [...new Set(events.filter((_event, index) => !isNew[index]).map((event) => event.idempotencyKey))];
  const rows = (await rowsOfText(tx, selectEffective, [orgId, keys])).map(storedEvent);
  const effective = new Map(rows.map((row) => [row.idempotencyKey, row]));
  for (const [index, event] of events.entries()) {
    const previous = effective.get(event.idempotencyKey);
    if (isNew[index] === true) outcomes.push('new');
    else if (previous === undefined) throw new Error(`the event ${event.idempotencyKey} is neither new nor known`);
    else if (isSameEvent(previous, event)) outcomes.push('same');
    else if (await canReplace(previous, event)) {
      await replace(tx, orgId, event);
      effective.set(event.idempotencyKey, { ...event, version: previous.version + 1 });
      outcomes.push('replaced');
    } else outcomes.push('refused');
  }
  return outcomes;
}

async function replace(tx: Transaction, orgId: string, event: NewEvent): Promise<void> {
  await rowsOfText(tx, updateEffective, [
    orgId,
    event.idempotencyKey,
    event.id,
    event.customerId,
    event.contractId,
    event.eventName,
    event.timestampEpochMs,
    event.propertiesJson,
    event.receivedAtEpochMs,
    event.isLate,
  ]);
}

async function list(tx: Transaction, query: EventQuery): Promise<EventPage> {
  const conditions = new Conditions();
  conditions.add('"orgId" = ?', query.orgId);
  if (query.onlyLate === true) conditions.add('"isLate" = 1');
  if (query.customerId !== undefined) conditions.add('"customerId" = ?', query.customerId);
  if (query.eventName !== undefined) conditions.add('"eventName" = ?', query.eventName);
  if (query.fromEpochMs !== undefined) conditions.add('"timestampEpochMs" >= ?', query.fromEpochMs);
  if (query.toEpochMs !== undefined) conditions.add('"timestampEpochMs" < ?', query.toEpochMs);
  const { rows, total } = await readPage(tx, {
    name: JSON.stringify(['events', `${conditions}`, conditions.values]),
    page: query,
    read: async (start) => await rowsFrom(tx, conditions, start),
    count: async () =>
      (await rowsOfText(
        tx,
        `SELECT count(*) AS "total" FROM "events" WHERE ${conditions}`,
        conditions.values,
      )) as readonly (RawRow & { readonly total: bigint })[],
  });
  return { rows: rows.map(storedEvent), total };
}

async function rowsFrom(tx: Transaction, conditions: Conditions, { limit, offset, afterSeq }: PageStart) {
  const given = conditions.values.length;
  const behind = afterSeq === undefined ? '' : ` AND "seq" < $${given + 3}`;
  const text = `SELECT ${eventColumns}, "seq" FROM "events" WHERE ${conditions}${behind}
    ORDER BY "seq" DESC LIMIT $${given + 1} OFFSET $${given + 2}`;
  const values = [...conditions.values, limit, offset, ...(afterSeq === undefined ? [] : [afterSeq])];
  return (await rowsOfText(tx, text, values)) as readonly (RawRow & { readonly seq: bigint })[];
}
