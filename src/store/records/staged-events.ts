/**
 * Events that are recorded here and have yet to move to the database in which their organization's events live. The
 * transaction that records them stages them, batch by batch, so they count from its commit on or not at all.
 */

import type { Transaction } from '../database.ts';
import type { StoredEvent } from '../event-store.ts';

/** One version of an event, and its place among all events of its organization. */
export interface PlacedEvent extends StoredEvent {
  /** Rises with every new event; a replaced event keeps its place. */
  readonly place: number;
  /** Where the superseded version is found; undefined for the first version. */
  readonly previous: { readonly customerId: string; readonly timestampEpochMs: number } | undefined;
}

/** How far the events of an organization are numbered and moved. */
export interface EventHead {
  readonly lastPlace: number;
  readonly lastBatch: number;
  /** Batches up to and including this one are moved; later ones are staged. */
  readonly movedBatch: number;
  /** Events from before this are dropped, even if their rows are still there; 0 if none are. */
  readonly droppedBeforeEpochMs: number;
}

/** The events that one `append` recorded. */
export interface StagedBatch {
  readonly batch: number;
  readonly events: readonly PlacedEvent[];
  /**
   * False for a batch that the transaction itself has staged, for writes that share its commit. The batch may still be undone,
   * and its number then goes to other events.
   */
  readonly isCommitted: boolean;
}

/** What each transaction has staged itself, by organization and batch number. The number of an undone batch is reused. */
const ownBatches = new WeakMap<Transaction, Map<string, OwnBatches>>();
type OwnBatches = Map<number, readonly PlacedEvent[]>;

/** All numbers are 0 for an organization without events. */
export async function readEventHead(tx: Transaction, orgId: string): Promise<EventHead> {
  const row = await tx
    .selectFrom('eventHeads')
    .innerJoin('organizations', 'organizations.id', 'eventHeads.orgId')
    .select(['lastPlace', 'lastBatch', 'movedBatch', 'eventsDroppedBeforeEpochMs'])
    .where('eventHeads.orgId', '=', orgId)
    .executeTakeFirst();
  const { lastPlace = 0n, lastBatch = 0n, movedBatch = 0n, eventsDroppedBeforeEpochMs = 0n } = row ?? {};
  return {
    lastPlace: Number(lastPlace),
    lastBatch: Number(lastBatch),
    movedBatch: Number(movedBatch),
    droppedBeforeEpochMs: Number(eventsDroppedBeforeEpochMs),
  };
}

/** Does not write `droppedBeforeEpochMs`: the organization's row holds it. */
export async function writeEventHead(
  tx: Transaction,
  orgId: string,
  { lastPlace, lastBatch, movedBatch }: EventHead,
): Promise<void> {
  const head = { lastPlace, lastBatch, movedBatch };
  await tx
    .insertInto('eventHeads')
    .values({ orgId, ...head })
    .onConflict((conflict) => conflict.column('orgId').doUpdateSet(head))
    .execute();
}

/** The staged batches of an organization, oldest first. */
export async function listStagedBatches(tx: Transaction, orgId: string): Promise<readonly StagedBatch[]> {
  const own = ownBatches.get(tx)?.get(orgId);
  const [firstOwn] = own?.keys() ?? [];
  const rows = await stagedOf(tx, orgId)
    .select(['batch', 'events'])
    .$if(firstOwn !== undefined, (query) => query.where('batch', '<', BigInt(firstOwn ?? 0)))
    .execute();
  const batches: StagedBatch[] = rows.map(({ batch, events }) => ({
    batch: Number(batch),
    events: (JSON.parse(events) as readonly Packed[]).map(unpack),
    isCommitted: true,
  }));
  if (own === undefined || firstOwn === undefined) return batches;
  // Writes that share a commit would otherwise each reread what all writes before them have staged.
  for (const { batch } of await stagedOf(tx, orgId).select('batch').where('batch', '>=', BigInt(firstOwn)).execute()) {
    batches.push({ batch: Number(batch), events: own.get(Number(batch)) ?? [], isCommitted: false });
  }
  return batches;
}

/** Every staged version, oldest first. */
export async function listStagedEvents(tx: Transaction, orgId: string): Promise<readonly PlacedEvent[]> {
  return (await listStagedBatches(tx, orgId)).flatMap(({ events }) => events);
}

function stagedOf(tx: Transaction, orgId: string) {
  return tx.selectFrom('stagedEvents').where('orgId', '=', orgId).orderBy('batch');
}

/** The caller numbers the batch: one more than `lastBatch`. */
export async function insertStagedBatch(
  tx: Transaction,
  orgId: string,
  { batch, events }: Omit<StagedBatch, 'isCommitted'>,
): Promise<void> {
  await tx
    .insertInto('stagedEvents')
    .values({ orgId, batch, events: JSON.stringify(events.map(pack)) })
    .execute();
  const own = ownBatches.getOrInsertComputed(tx, () => new Map<string, OwnBatches>());
  own.getOrInsertComputed(orgId, (): OwnBatches => new Map()).set(batch, events);
}

/** `upTo` is inclusive. */
export async function removeStagedBatches(tx: Transaction, orgId: string, upTo: number): Promise<void> {
  await tx.deleteFrom('stagedEvents').where('orgId', '=', orgId).where('batch', '<=', BigInt(upTo)).execute();
}

/** Organizations that have staged events. */
export async function listStagedOrganizations(tx: Transaction): Promise<readonly string[]> {
  const rows = await tx.selectFrom('stagedEvents').select('orgId').distinct().orderBy('orgId').execute();
  return rows.map(({ orgId }) => orgId);
}

type Packed = readonly [
  place: number,
  version: number,
  id: string,
  idempotencyKey: string,
  customerId: string,
  contractId: string | null,
  eventName: string,
  timestampEpochMs: number,
  propertiesJson: string,
  receivedAtEpochMs: number,
  isLate: 0 | 1,
  previousCustomerId: string | null,
  previousTimestampEpochMs: number,
];

function pack(event: PlacedEvent): Packed {
  return [
    event.place,
    event.version,
    event.id,
    event.idempotencyKey,
    event.customerId,
    event.contractId,
    event.eventName,
    event.timestampEpochMs,
    event.propertiesJson,
    event.receivedAtEpochMs,
    event.isLate ? 1 : 0,
    event.previous?.customerId ?? null,
    event.previous?.timestampEpochMs ?? 0,
  ];
}

function unpack(packed: Packed): PlacedEvent {
  const [place, version, id, idempotencyKey, customerId, contractId, eventName, timestampEpochMs] = packed;
  const [propertiesJson, receivedAtEpochMs, isLate, previousCustomerId, previousTimestampEpochMs] = packed.slice(8) as [
    string,
    number,
    number,
    string | null,
    number,
  ];
  return {
    place,
    version,
    id,
    idempotencyKey,
    customerId,
    contractId,
    eventName,
    timestampEpochMs,
    propertiesJson,
    receivedAtEpochMs,
    isLate: isLate === 1,
    previous:
      previousCustomerId === null
        ? undefined
        : { customerId: previousCustomerId, timestampEpochMs: previousTimestampEpochMs },
  };
}
