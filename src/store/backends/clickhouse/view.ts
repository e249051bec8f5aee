/**
 * What a reader sees of events in ClickHouse: the batches that had moved when its transaction began, and the staged ones beside
 * them. What is written meanwhile changes nothing.
 */

import type { Transaction } from '../../database.ts';
import { ReusedEvent } from '../../event-content.ts';
import type { EventScan, ScannedEvent, StoredEvent } from '../../event-store.ts';
import { type PlacedEvent, listStagedEvents, readEventHead } from '../../records/staged-events.ts';
import { type ClickhouseServer, missingBatch } from './connection.ts';
import { inParts, listedCharacters } from './parts.ts';
import { nextLimit, scannedBytes, scannedRows } from '../scan-pages.ts';

/** What a reader sees: moved batches by a condition, and staged events, each in its last version alone. */
export interface View {
  readonly staged: readonly PlacedEvent[];
  /** A WHERE condition that selects the organization's effective events among the moved ones, and its parameters. */
  readonly condition: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/**
 * Fails if more events of an organization were dropped than the book knows of, even if no row is left to look at; or if the
 * last batch that the book has moved was never named here, as after a restoration from before it.
 */
export const isOfBook = `(SELECT throwIf(max(beforeEpochMs) > {droppedBeforeEpochMs:Int64})
  FROM tallybookDropped WHERE orgId = {orgId:String}) = 0
  AND (SELECT throwIf({movedBatch:UInt64} > 0 AND count() = 0, '${missingBatch}')
  FROM tallybookBatches WHERE orgId = {orgId:String} AND batch = {movedBatch:UInt64}) = 0`;

/** The view of one customer, or of the whole organization. */
export async function viewOf(
  tx: Transaction,
  { orgId, customerId }: { readonly orgId: string; readonly customerId?: string | undefined },
): Promise<View> {
  const { movedBatch, droppedBeforeEpochMs } = await readEventHead(tx, orgId);
  const versions = await listStagedEvents(tx, orgId);
  const last = new Map(versions.map((event) => [event.place, event]));
  const superseded = versions
    .filter(({ version }) => version > 1)
    .map((event) => `(${event.place}, ${event.version - 1})`);
  const own = customerId === undefined ? '' : ' AND customerId = {customerId:String}';
  const replaced = superseded.length === 0 ? '' : ` AND (place, version) NOT IN (${superseded.join(', ')})`;
  return {
    staged: [...last.values()].filter(({ timestampEpochMs }) => timestampEpochMs >= droppedBeforeEpochMs),
    condition: `orgId = {orgId:String}${own} AND batch <= {movedBatch:UInt64} AND (place, version) GLOBAL NOT IN (
        SELECT place, version FROM tallybookSupersededEvents
        WHERE orgId = {orgId:String}${own} AND batch <= {movedBatch:UInt64})${replaced}
      AND timestampEpochMs >= {droppedBeforeEpochMs:Int64} AND ${isOfBook}`,
    parameters: { orgId, movedBatch, droppedBeforeEpochMs, ...(customerId === undefined ? {} : { customerId }) },
  };
}

/** The part of the view whose events name one of these contracts. */
export function ofContracts(view: View, contractIds: readonly string[]): View {
  const isNamed = new Set<string | null>(contractIds);
  const parts = inParts(contractIds, listedCharacters, (id) => id.length);
  const lists = parts.map((ids, index) => [`contractIds${index}`, ids] as const);
  return {
    staged: view.staged.filter(({ contractId }) => isNamed.has(contractId)),
    condition: `${view.condition} AND (${['0', ...lists.map(([name]) => `contractId IN {${name}:Array(String)}`)].join(' OR ')})`,
    parameters: { ...view.parameters, ...Object.fromEntries(lists) },
  };
}

/** The same request as a condition for moved events and as a test for staged ones. */
export function scanConditions(request: EventScan): {
  readonly text: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly holds: (event: StoredEvent) => boolean;
} {
  const { customerId, fromEpochMs, toEpochMs, eventNames = [], excludedEventNames = [], contract } = request;
  const texts = [
    'customerId = {customerId:String} AND timestampEpochMs >= {from:Int64} AND timestampEpochMs < {to:Int64}',
    'isLate = 0',
  ];
  if (eventNames.length > 0) texts.push('eventName IN {eventNames:Array(String)}');
  if (excludedEventNames.length > 0) texts.push('eventName NOT IN {excludedEventNames:Array(String)}');
  if (contract !== undefined) {
    const outside = contract.unassignedOutside.map(
      (taken) => ` AND NOT (timestampEpochMs >= ${taken.fromEpochMs} AND timestampEpochMs < ${taken.toEpochMs})`,
    );
    texts.push(`(contractId = {contractId:String} OR (contractId IS NULL${outside.join('')}))`);
  }
  const isTaken = (at: number) =>
    contract?.unassignedOutside.some((taken) => at >= taken.fromEpochMs && at < taken.toEpochMs) === true;
  return {
    text: texts.join(' AND '),
    parameters: {
      customerId,
      from: fromEpochMs,
      to: toEpochMs,
      ...(eventNames.length > 0 ? { eventNames } : {}),
      ...(excludedEventNames.length > 0 ? { excludedEventNames } : {}),
      ...(contract === undefined ? {} : { contractId: contract.contractId }),
    },
    holds: (event) =>
      event.customerId === customerId &&
      event.timestampEpochMs >= fromEpochMs &&
      event.timestampEpochMs < toEpochMs &&
      (eventNames.length === 0 || eventNames.includes(event.eventName)) &&
      !excludedEventNames.includes(event.eventName) &&
      (contract === undefined ||
        event.contractId === contract.contractId ||
        (event.contractId === null && !isTaken(event.timestampEpochMs))) &&
      !event.isLate,
  };
}

type Scanned = Pick<
  PlacedEvent,
  'idempotencyKey' | 'eventName' | 'timestampEpochMs' | 'contractId' | 'propertiesJson' | 'place'
>;

/** `before` is the number of bytes of properties that precede the row in its page. */
type ScannedRow = Scanned & { readonly before: number };

/** `amongMoved` narrows the moved events further, but not the staged ones. */
export async function scanView(
  { ask }: ClickhouseServer,
  view: View,
  { request, amongMoved = '1' }: { readonly request: EventScan; readonly amongMoved?: string },
  onEvent: (event: ScannedEvent) => void,
): Promise<void> {
  const { text, parameters, holds } = scanConditions(request);
  const staged = view.staged
    .filter(holds)
    .toSorted((a, b) => a.timestampEpochMs - b.timestampEpochMs || a.place - b.place);
  const event = new ReusedEvent();
  const give = (found: Scanned): void => {
    event.idempotencyKey = request.withKeys === true ? found.idempotencyKey : '';
    event.eventName = found.eventName;
    event.timestampEpochMs = found.timestampEpochMs;
    event.contractId = found.contractId;
    event.propertiesJson = found.propertiesJson;
    onEvent(event);
  };
  const columns = `eventName, timestampEpochMs, contractId, propertiesJson, place${request.withKeys === true ? ', idempotencyKey' : ''}`;
  const question = `SELECT ${columns}, before FROM (
      SELECT *, sum(length(propertiesJson)) OVER (
        ORDER BY timestampEpochMs, place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
      FROM (
        SELECT ${columns} FROM tallybookEvents FINAL
        WHERE ${view.condition} AND ${text} AND ${amongMoved}
          AND (timestampEpochMs, place) > ({afterEpochMs:Int64}, {afterPlace:UInt64})
        ORDER BY timestampEpochMs, place LIMIT {limit:UInt64}
      )
    ) WHERE before < ${scannedBytes} ORDER BY timestampEpochMs, place`;
  let next = 0;
  let behind: { afterEpochMs: number; afterPlace: number } = { afterEpochMs: -1, afterPlace: 0 };
  for (let limit: number | undefined = scannedRows; limit !== undefined;) {
    // The pair alone does not tell the server where to begin: each page would read the ones before it again.
    const from = Math.max(request.fromEpochMs, behind.afterEpochMs);
    const given = { ...view.parameters, ...parameters, ...behind, from, limit };
    const rows = (await ask(question, given)) as readonly ScannedRow[];
    for (const row of rows) {
      for (let own = staged[next]; own !== undefined && isBefore(own, row); own = staged[next]) {
        give(own);
        next += 1;
      }
      give(row);
    }
    const last = rows.at(-1);
    if (last === undefined) break;
    behind = { afterEpochMs: last.timestampEpochMs, afterPlace: last.place };
    limit = nextLimit(limit, {
      rowCount: rows.length,
      bytes: last.before + Buffer.byteLength(last.propertiesJson),
    });
  }
  for (const own of staged.slice(next)) give(own);
}

function isBefore(a: Scanned, b: Scanned): boolean {
  return a.timestampEpochMs < b.timestampEpochMs || (a.timestampEpochMs === b.timestampEpochMs && a.place < b.place);
}
