/**
 * How events are recorded beside the books. New versions are staged in the transaction that records them, so they count from its
 * commit on or not at all. Events committed earlier move to ClickHouse in large inserts. An interrupted move is repeated with
 * the same rows, and until the move's own commit readers use the staged ones.
 */

import { sha256Of } from '../../../digest.ts';
import { UnavailableError } from '../../../errors.ts';
import { limits } from '../../../limits.ts';
import { ConstraintViolation } from '../../constraint-violation.ts';
import type { Transaction } from '../../database.ts';
import { isSameEvent, storedEvent, withoutPlace } from '../../event-content.ts';
import type { AppendOutcome, CanReplace, NewEvent, StoredEvent } from '../../event-store.ts';
import { readBookFacts } from '../../records/book-facts.ts';
import { findCustomerIds } from '../../records/event-owners.ts';
import { askedInParts } from '../../records/padded.ts';
import {
  type EventHead,
  type PlacedEvent,
  type StagedBatch,
  insertStagedBatch,
  listStagedBatches,
  readEventHead,
  removeStagedBatches,
  writeEventHead,
} from '../../records/staged-events.ts';
import type { ClickhouseServer, EventRow } from './connection.ts';
import { inParts, listedCharacters } from './parts.ts';
import { isOfBook } from './view.ts';

/** How many events one question may name. */
const placesAtOnce = 2_000;

export async function appendEvents(
  { server, mostStaged }: { readonly server: ClickhouseServer; readonly mostStaged: number },
  tx: Transaction,
  {
    orgId,
    events,
    canReplace,
  }: { readonly orgId: string; readonly events: readonly NewEvent[]; readonly canReplace: CanReplace },
): Promise<readonly AppendOutcome[]> {
  const [first] = events;
  if (first === undefined) return [];
  await refuseUnknownOwners(tx, orgId, events);
  let head = await readEventHead(tx, orgId);
  let batches = await listStagedBatches(tx, orgId);
  if (isDue(batches, { mostStaged, nowEpochMs: first.receivedAtEpochMs })) {
    head = await moveBatches(server, tx, { orgId, head, batches });
    batches = batches.filter(({ isCommitted }) => !isCommitted);
  }
  const staged = batches.flatMap((batch) => batch.events);
  const effective = await readEffective(server, { orgId, head, staged, events });
  const { outcomes, added, lastPlace } = await decide(events, { effective, head, canReplace });
  if (added.length === 0) return outcomes;
  const batch = head.lastBatch + 1;
  await insertStagedBatch(tx, orgId, { batch, events: added });
  await writeEventHead(tx, orgId, { ...head, lastPlace, lastBatch: batch });
  return outcomes;
}

async function refuseUnknownOwners(tx: Transaction, orgId: string, events: readonly NewEvent[]): Promise<void> {
  const customers = [...new Set(events.map((event) => event.customerId))];
  const contracts = [...new Set(events.flatMap((event) => event.contractId ?? []))];
  const known = await findCustomerIds(tx, orgId, customers);
  const query = tx.selectFrom('contracts').select('id').where('orgId', '=', orgId);
  const found = await askedInParts(contracts, async (part) => await query.where('id', 'in', part).execute());
  if (known.size === customers.length && found.length === contracts.length) return;
  throw new ConstraintViolation('reference', 'an event names a customer or contract that does not exist', undefined);
}

/** Goes by the arrival of the events themselves: no clock is needed. */
function isDue(
  batches: readonly StagedBatch[],
  { mostStaged, nowEpochMs }: { readonly mostStaged: number; readonly nowEpochMs: number },
): boolean {
  const committed = batches.filter(({ isCommitted }) => isCommitted);
  const count = committed.reduce((sum, { events }) => sum + events.length, 0);
  const since = committed[0]?.events[0]?.receivedAtEpochMs;
  if (count >= mostStaged || (since !== undefined && nowEpochMs - since >= limits.stagedMilliseconds)) return true;
  const lengths = committed.flatMap(({ events }) => events.map(({ propertiesJson }) => propertiesJson.length));
  return lengths.reduce((sum, length) => sum + length, 0) >= limits.stagedCharacters;
}

/** What has a key: the effective event, or a dropped one, of which nothing else is known any more. */
type KnownEvent = (StoredEvent & { readonly place: number }) | 'dropped';

async function readEffective(
  server: ClickhouseServer,
  {
    orgId,
    head,
    staged,
    events,
  }: {
    readonly orgId: string;
    readonly head: EventHead;
    readonly staged: readonly PlacedEvent[];
    readonly events: readonly NewEvent[];
  },
): Promise<Map<string, KnownEvent>> {
  const keys = [...new Set(events.map((event) => event.idempotencyKey))];
  const known = await findMovedEvents(server, { orgId, head, keys });
  for (const event of staged) {
    known.set(event.idempotencyKey, event.timestampEpochMs < head.droppedBeforeEpochMs ? 'dropped' : event);
  }
  return known;
}

/** The latest moved version under each of these keys that has one. */
async function findMovedEvents(
  { ask }: ClickhouseServer,
  { orgId, head, keys }: { readonly orgId: string; readonly head: EventHead; readonly keys: readonly string[] },
): Promise<Map<string, KnownEvent>> {
  const { movedBatch, droppedBeforeEpochMs } = head;
  const known = new Map<string, KnownEvent>();
  for (const some of inParts(keys, listedCharacters, (key) => key.length)) {
    const places = await ask(
      `SELECT idempotencyKey, argMax(customerId, version) AS "customerId",
         argMax(timestampEpochMs, version) AS "timestampEpochMs",
         any(place) AS "place", max(version) AS "latest" FROM tallybookEventKeys
       WHERE orgId = {orgId:String} AND batch <= {movedBatch:UInt64} AND idempotencyKey IN {keys:Array(String)}
         AND ${isOfBook} GROUP BY idempotencyKey`,
      { orgId, movedBatch, droppedBeforeEpochMs, keys: some },
    );
    const isThere = (row: EventRow) => Number(row['timestampEpochMs']) >= droppedBeforeEpochMs;
    for (const row of places) if (!isThere(row)) known.set(String(row['idempotencyKey']), 'dropped');
    const there = places.filter(isThere);
    for (let from = 0; from < there.length; from += placesAtOnce) {
      const events = await readPlaces(ask, orgId, there.slice(from, from + placesAtOnce));
      for (const event of events) known.set(event.idempotencyKey, event);
    }
  }
  return known;
}

async function readPlaces(
  ask: ClickhouseServer['ask'],
  orgId: string,
  places: readonly EventRow[],
): Promise<(StoredEvent & { readonly place: number })[]> {
  const times = places.map((row) => Number(row['timestampEpochMs']));
  const rows = await ask(
    `SELECT * FROM tallybookEvents FINAL
     WHERE orgId = {orgId:String} AND customerId IN {customerIds:Array(String)}
       AND timestampEpochMs >= {from:Int64} AND timestampEpochMs <= {to:Int64}
       AND (place, version) IN (${places.map((row) => `(${Number(row['place'])}, ${Number(row['latest'])})`).join(', ')})`,
    {
      orgId,
      customerIds: [...new Set(places.map((row) => row['customerId']))],
      from: times.reduce((a, b) => Math.min(a, b)),
      to: times.reduce((a, b) => Math.max(a, b)),
    },
  );
  return rows.map((row) => ({ ...storedEvent(row), place: Number(row['place']) }));
}

async function decide(
  events: readonly NewEvent[],
  known: {
    readonly effective: Map<string, KnownEvent>;
    readonly head: EventHead;
    readonly canReplace: CanReplace;
  },
): Promise<{ outcomes: AppendOutcome[]; added: PlacedEvent[]; lastPlace: number }> {
  const outcomes: AppendOutcome[] = [];
  const added: PlacedEvent[] = [];
  let { lastPlace } = known.head;
  const add = (event: PlacedEvent): void => {
    added.push(event);
    known.effective.set(event.idempotencyKey, event);
  };
  for (const event of events) {
    const previous = known.effective.get(event.idempotencyKey);
    if (previous === undefined) {
      lastPlace += 1;
      add({ ...event, place: lastPlace, version: 1, previous: undefined });
      outcomes.push('new');
    } else if (previous === 'dropped') outcomes.push('dropped');
    else if (isSameEvent(previous, event)) outcomes.push('same');
    else if (await known.canReplace(withoutPlace(previous), event)) {
      add({ ...event, place: previous.place, version: previous.version + 1, previous });
      outcomes.push('replaced');
    } else outcomes.push('refused');
  }
  return { outcomes, added, lastPlace };
}

/**
 * Moves the committed ones of `batches`; gives the head after that. Belongs in a `write` of the organization. Uncommitted
 * batches stay: if one were moved and then undone, its rows would remain and block the next batch with its number.
 */
export async function moveBatches(
  server: ClickhouseServer,
  tx: Transaction,
  {
    orgId,
    head,
    batches: staged,
  }: { readonly orgId: string; readonly head: EventHead; readonly batches: readonly StagedBatch[] },
): Promise<EventHead> {
  const batches = staged.filter(({ isCommitted }) => isCommitted);
  const last = batches.at(-1);
  if (last === undefined) return head;
  await refuseOtherBook(server, tx);
  await announce(server, { orgId, head, batches });
  const placed = batches.flatMap(({ batch, events }) => events.map((event) => ({ orgId, batch, ...event })));
  // Batches that shared a commit may be more than one text can hold, so each insert is as large as a move that is due by size.
  for (const some of inParts(placed, limits.stagedCharacters, ({ propertiesJson }) => propertiesJson.length)) {
    await server.insert('tallybookEvents', some.map(eventRow));
    await server.insert('tallybookEventKeys', some.map(keyRow));
    await server.insert('tallybookSupersededEvents', some.flatMap(supersededRows));
    await expectShown(server, some);
  }
  await removeStagedBatches(tx, orgId, last.batch);
  const moved = { ...head, movedBatch: last.batch };
  await writeEventHead(tx, orgId, moved);
  return moved;
}

/** Another book may have taken the database while it was empty. Events of two books in it could never be told apart again. */
async function refuseOtherBook({ ask, location }: ClickhouseServer, tx: Transaction): Promise<void> {
  const { eventsElsewhere } = await readBookFacts(tx);
  const books = await ask('SELECT bookId FROM tallybookBook');
  if (books.some(({ bookId }) => bookId === eventsElsewhere?.bookId)) return;
  throw new UnavailableError(`${location} was taken by another book; nothing was moved`, {
    hint: 'restart this program, and give this book or the other one an empty database of its own',
  });
}

/** A version as its rows hold it. */
interface MovedEvent extends PlacedEvent {
  readonly orgId: string;
  readonly batch: number;
}

type SupersededRow = Pick<MovedEvent, 'orgId' | 'customerId' | 'timestampEpochMs' | 'place' | 'version' | 'batch'>;

function eventRow({ previous: _previous, isLate, ...event }: MovedEvent): EventRow {
  return { ...event, isLate: isLate ? 1 : 0 };
}

function keyRow({ orgId, idempotencyKey, version, batch, place, customerId, timestampEpochMs }: MovedEvent): EventRow {
  return { orgId, idempotencyKey, version, batch, place, customerId, timestampEpochMs };
}

function supersededRows({ orgId, batch, place, version, previous }: MovedEvent): SupersededRow[] {
  if (previous === undefined) return [];
  const { customerId, timestampEpochMs } = previous;
  return [{ orgId, customerId, timestampEpochMs, place, version: version - 1, batch }];
}

/**
 * Names the batches before any of their rows is written. A different batch with the same number comes from a book that went on
 * from an older backup, or from another book: its rows and ours could never be told apart again. Behind batches that are gone
 * nothing is named: the later name would hide the gap.
 */
async function announce(
  { ask, insert }: ClickhouseServer,
  {
    orgId,
    head,
    batches,
  }: { readonly orgId: string; readonly head: EventHead; readonly batches: readonly StagedBatch[] },
): Promise<void> {
  const digests = new Map(batches.map(({ batch, events }) => [batch, sha256Of(JSON.stringify(events))]));
  const known = await ask(
    `SELECT batch, digest FROM tallybookBatches
     WHERE orgId = {orgId:String} AND batch > {movedBatch:UInt64} AND ${isOfBook}`,
    { orgId, movedBatch: head.movedBatch, droppedBeforeEpochMs: head.droppedBeforeEpochMs },
  );
  if (known.some(({ batch, digest }) => digests.get(Number(batch)) !== digest)) {
    throw new UnavailableError(`the events of organization ${orgId} went on without this book; nothing was moved`, {
      hint: 'this book was restored from an older backup: restore the database of events from the same time as well',
    });
  }
  await insert(
    'tallybookBatches',
    [...digests].map(([batch, digest]) => ({ orgId, batch, digest })),
  );
}

/** A part is shown whole or not at all, and each month has a part of its own: one row of each month tells. */
async function expectShown({ ask, location }: ClickhouseServer, placed: readonly MovedEvent[]): Promise<void> {
  for (const { orgId, customerId, timestampEpochMs, place, version, idempotencyKey } of ofEachMonth(placed)) {
    const [shown] = await ask(
      `SELECT (SELECT count() FROM tallybookEvents WHERE ${isRow}) AS events,
         (SELECT count() FROM tallybookEventKeys WHERE orgId = {orgId:String}
           AND idempotencyKey = {idempotencyKey:String} AND version = {version:UInt32}) AS keys`,
      { orgId, customerId, timestampEpochMs, place, version, idempotencyKey },
    );
    expectSome([shown?.['events'], shown?.['keys']], location);
  }
  // Their months may differ. A superseded version that is not shown as such would count beside its replacement.
  for (const superseded of ofEachMonth(placed.flatMap(supersededRows))) {
    const [shown] = await ask(`SELECT count() AS total FROM tallybookSupersededEvents WHERE ${isRow}`, superseded);
    expectSome([shown?.['total']], location);
  }
}

const isRow = `orgId = {orgId:String} AND customerId = {customerId:String} AND timestampEpochMs = {timestampEpochMs:Int64}
  AND place = {place:UInt64} AND version = {version:UInt32}`;

/** An answer without a count shows nothing either. */
function expectSome(counts: readonly unknown[], location: string): void {
  if (counts.every((count) => Number(count) > 0)) return;
  throw new UnavailableError(`${location} accepted events but does not show them yet; nothing was recorded`, {
    retryAfterSeconds: 1,
    hint: 'read from the server that you write to, or add insert_quorum and select_sequential_consistency to the URL',
  });
}

function ofEachMonth<Row extends { readonly timestampEpochMs: number }>(rows: readonly Row[]): Iterable<Row> {
  return new Map(rows.map((row) => [monthOf(row.timestampEpochMs), row])).values();
}

function monthOf(epochMs: number): string {
  return Temporal.Instant.fromEpochMilliseconds(epochMs).toString().slice(0, 7);
}
