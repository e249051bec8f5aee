/** The events of an organization in order of arrival, each with all its versions, from whichever store has them. */

import type { Transaction } from '../database.ts';
import { storedEvent, withoutPlace } from '../event-content.ts';
import type { ClickhouseServer } from '../backends/clickhouse/connection.ts';
import { isOfBook } from '../backends/clickhouse/view.ts';
import { eventColumns } from '../backends/postgres/events.ts';
import { scannedBytes } from '../backends/scan-pages.ts';
import { selectStored } from '../backends/sqlite/events/append.ts';
import type { StoredEvent } from '../event-store.ts';
import { rowsOfText } from '../raw-query.ts';
import { listStagedEvents, readEventHead } from '../records/staged-events.ts';

export interface PlacedVersions {
  /** The event's place among all events; rises with every new event. */
  readonly place: number;
  /** Oldest first. */
  readonly versions: readonly StoredEvent[];
}

/**
 * The next events after a place; empty if there are no more. Gives fewer than `limit` if events are large: one may have half a
 * megabyte of properties, and thousands of those are more than a text, or the memory, can hold.
 */
export type ReadEventPage = (
  tx: Transaction,
  orgId: string,
  page: { readonly after: number; readonly limit: number },
) => Promise<readonly PlacedVersions[]>;

const selectSize = 'SELECT octet_length("propertiesJson") AS "bytes"';

/** How many of the first rows are taken together. */
function fitting(sizes: readonly Readonly<Record<string, unknown>>[]): number {
  let bytes = 0;
  const end = sizes.findIndex((row) => {
    const isFull = bytes >= scannedBytes;
    bytes += Number(row['bytes']);
    return isFull;
  });
  return end === -1 ? sizes.length : end;
}

/** For a file, where names and owners of events are numbers. */
export const readPageOfFile: ReadEventPage = async (tx, orgId, { after, limit }) => {
  const behind = '"customer"."orgId" = ? AND "event"."seq" > ? ORDER BY "event"."seq" LIMIT ?';
  const sizes = await rowsOfText(
    tx,
    `${selectSize} FROM "events" AS "event"
     JOIN "customers" AS "customer" ON "customer"."seq" = "event"."customerSeq" WHERE ${behind}`,
    [orgId, after, limit],
  );
  const effective = await rowsOfText(tx, `${selectStored('events')} WHERE ${behind}`, [orgId, after, fitting(sizes)]);
  const superseded = await rowsOfText(
    tx,
    `${selectStored('eventVersions')}
     WHERE "customer"."orgId" = ? AND "event"."eventSeq" >= ? AND "event"."eventSeq" <= ?`,
    [orgId, effective[0]?.['seq'] ?? 0n, effective.at(-1)?.['seq'] ?? 0n],
  );
  return grouped([...effective, ...superseded].map(placed));
};

/** For a server that has the events in its own tables. */
export const readPageOfServer: ReadEventPage = async (tx, orgId, { after, limit }) => {
  const behind = 'FROM "events" WHERE "orgId" = $1 AND "seq" > $2 ORDER BY "seq" LIMIT $3';
  const sizes = await rowsOfText(tx, `${selectSize} ${behind}`, [orgId, after, limit]);
  const effective = await rowsOfText(tx, `SELECT "seq", ${eventColumns} ${behind}`, [orgId, after, fitting(sizes)]);
  const superseded = await rowsOfText(
    tx,
    `SELECT ${eventColumns} FROM "eventVersions"
     WHERE "orgId" = $1 AND "idempotencyKey" = ANY($2::text[])`,
    [orgId, effective.filter((row) => row['version'] !== 1n).map((row) => row['idempotencyKey'])],
  );
  const places = new Map(effective.map((row) => [row['idempotencyKey'], row['seq']]));
  const older = superseded.map((row) => ({ ...row, seq: places.get(row['idempotencyKey']) }));
  return grouped([...effective, ...older].map(placed));
};

/** For a database of events beside the books. */
export function readPageOf(server: ClickhouseServer): ReadEventPage {
  const timesOf = createTimes(server);
  return async (tx, orgId, { after, limit }) => {
    const { lastPlace, movedBatch, droppedBeforeEpochMs } = await readEventHead(tx, orgId);
    const staged = await listStagedEvents(tx, orgId);
    const view = { orgId, movedBatch, droppedBeforeEpochMs };
    // Places of dropped events are empty.
    for (let from = after; from < lastPlace; from += limit) {
      const page = await readBetween(from, from + limit);
      if (page.length > 0) return page;
    }
    return [];

    async function readBetween(from: number, upTo: number): Promise<PlacedVersions[]> {
      const times = await timesOf(view, from, upTo);
      const moved = times === undefined ? [] : await server.ask(pageBetween, { ...view, ...times, from, upTo });
      const last = moved.reduce((most, row) => Math.max(most, Number(row['place'])), from);
      const end = last < Number(moved[0]?.['furthest'] ?? last) ? last : upTo;
      return grouped([
        ...moved.map((row) => ({ place: Number(row['place']), event: storedEvent(row) })),
        ...staged
          .filter(({ place }) => place > from && place <= end)
          .map((event) => ({ place: event.place, event: withoutPlace(event) })),
      ]);
    }
  };
}

const ofView = `orgId = {orgId:String} AND batch <= {movedBatch:UInt64} AND ${isOfBook}`;

const pageBetween = `SELECT * FROM (
    SELECT *, max(place) OVER () AS furthest,
      sum(length(propertiesJson)) OVER (ORDER BY place RANGE BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
    FROM (
      SELECT * FROM tallybookEvents FINAL WHERE ${ofView} AND place > {from:UInt64} AND place <= {upTo:UInt64}
        AND timestampEpochMs >= {first:Int64} AND timestampEpochMs <= {last:Int64}
    )
  ) WHERE before < ${scannedBytes}`;

/** Both inclusive, in milliseconds. */
interface Times {
  readonly first: number;
  readonly last: number;
}

const placesPerPart = 10_000;

/**
 * When the events of the places above `from`, up to `upTo`, happened; undefined if none are there. The server keeps events by
 * their times, not by their places: by places alone, it would read all of them for every page.
 */
function createTimes({ ask: question }: ClickhouseServer) {
  let known: { readonly of: string; readonly times: ReadonlyMap<number, Times> } | undefined;
  return async (view: Readonly<Record<string, unknown>>, from: number, upTo: number): Promise<Times | undefined> => {
    const of = JSON.stringify(view);
    if (known?.of !== of) {
      const rows = await question(
        `SELECT intDiv(place - 1, ${placesPerPart}) AS part, min(timestampEpochMs) AS first, max(timestampEpochMs) AS last
         FROM tallybookEvents WHERE ${ofView} GROUP BY part`,
        view,
      );
      const times = rows.map(
        (row) => [Number(row['part']), { first: Number(row['first']), last: Number(row['last']) }] as const,
      );
      known = { of, times: new Map(times) };
    }
    let all: Times | undefined;
    for (let part = Math.floor(from / placesPerPart); part * placesPerPart < upTo; part += 1) {
      const own = known.times.get(part);
      if (own === undefined) continue;
      all = { first: Math.min(own.first, all?.first ?? own.first), last: Math.max(own.last, all?.last ?? own.last) };
    }
    return all;
  };
}

interface PlacedVersion {
  readonly place: number;
  readonly event: StoredEvent;
}

function placed(row: Readonly<Record<string, unknown>>): PlacedVersion {
  return { place: Number(row['seq']), event: storedEvent(row) };
}

function grouped(versions: readonly PlacedVersion[]): PlacedVersions[] {
  return Map.groupBy(versions, ({ place }) => place)
    .entries()
    .map(([place, own]) => ({
      place,
      versions: own.map(({ event }) => event).toSorted((a, b) => a.version - b.version),
    }))
    .toArray()
    .toSorted((a, b) => a.place - b.place);
}
