/**
 * Events in ClickHouse, of books that are kept elsewhere. A reader goes by its own transaction: it sees the batches that were
 * moved when it began, and the staged ones beside them, so that what is written meanwhile changes nothing.
 */

import { limits } from '../../limits.ts';
import type { Transaction } from '../database.ts';
import { ReusedEvent } from '../event-content.ts';
import type {
  EventFault,
  EventPage,
  EventQuery,
  EventScan,
  EventStore,
  ScannedEvent,
  StoredEvent,
} from '../event-store.ts';
import { type PlacedEvent, listStagedBatches, readEventHead } from '../records/staged-events.ts';
import { appendEvents, storedEventOf, withoutPlace } from './clickhouse-append.ts';
import { aggregateInClickhouse } from './clickhouse-event-readings.ts';
import type { ClickhouseServer } from './clickhouse-server.ts';

/** So many rows of a scan are in memory at a time. */
const scannedAtOnce = 20_000;

/** What a reader sees: moved batches by a condition, and the staged versions of events, each event's last one alone. */
export interface View {
  readonly staged: readonly PlacedEvent[];
  /** WHERE that holds for effective events of the organization among the moved ones, and its parameters. */
  readonly condition: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** `mostStaged` events of an organization wait to be moved. */
export function createClickhouseEventStore(server: ClickhouseServer, mostStaged: number): EventStore {
  return {
    append: async (tx, orgId, events, canReplace) =>
      await appendEvents({ server, mostStaged }, tx, { orgId, events, canReplace }),
    scan: async (tx, request, onEvent) => await scan(server, tx, request, onEvent),
    aggregate: async (tx, request) => await aggregateInClickhouse(server, await viewOf(tx, request), request),
    list: async (tx, query) => await list(server, tx, query, false),
    listLate: async (tx, query) => await list(server, tx, query, true),
    listVersions: async (tx, orgId, idempotencyKey) => await listVersions(server, tx, orgId, idempotencyKey),
    listFaults: async (tx, orgId) => await listFaults(server, tx, orgId),
  };
}

/** `within` narrows where superseded versions are looked for, as the question that the view is for narrows the events. */
export async function viewOf(
  tx: Transaction | undefined,
  { orgId, customerId }: { readonly orgId: string; readonly customerId?: string | undefined },
): Promise<View> {
  if (tx === undefined) throw new Error('events are read and written inside read() or write() only');
  const { movedBatch } = await readEventHead(tx, orgId);
  const versions = (await listStagedBatches(tx, orgId)).flatMap(({ events }) => events);
  const last = new Map(versions.map((event) => [event.place, event]));
  const superseded = versions
    .filter(({ version }) => version > 1)
    .map((event) => `(${event.place}, ${event.version - 1})`);
  const own = customerId === undefined ? '' : ' AND customerId = {customerId:String}';
  const replaced = superseded.length === 0 ? '' : ` AND (place, version) NOT IN (${superseded.join(', ')})`;
  return {
    staged: [...last.values()],
    condition: `orgId = {orgId:String}${own} AND batch <= {movedBatch:UInt64} AND (place, version) GLOBAL NOT IN (
        SELECT place, version FROM tallybookSupersededEvents
        WHERE orgId = {orgId:String}${own} AND batch <= {movedBatch:UInt64})${replaced}`,
    parameters: { orgId, movedBatch, ...(customerId === undefined ? {} : { customerId }) },
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
  ];
  if (eventNames.length > 0) texts.push('eventName IN {eventNames:Array(String)}');
  if (excludedEventNames.length > 0) texts.push('eventName NOT IN {excludedEventNames:Array(String)}');
  if (contract !== undefined) {
    const outside = contract.unassignedOutside.map(
      (taken) => ` AND NOT (timestampEpochMs >= ${taken.fromEpochMs} AND timestampEpochMs < ${taken.toEpochMs})`,
    );
    texts.push(`(contractId = {contractId:String} OR (contractId IS NULL${outside.join('')}))`);
  }
  if (request.excludeLate === true) texts.push('isLate = 0');
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
      !(request.excludeLate === true && event.isLate),
  };
}

type Scanned = Pick<
  PlacedEvent,
  'idempotencyKey' | 'eventName' | 'timestampEpochMs' | 'contractId' | 'propertiesJson' | 'place'
>;

async function scan(
  server: ClickhouseServer,
  tx: Transaction,
  request: EventScan,
  onEvent: (event: ScannedEvent) => void,
): Promise<void> {
  await scanView(server, await viewOf(tx, request), { request }, onEvent);
}

/** `only` narrows both the moved and the staged events further. */
export async function scanView(
  { ask }: ClickhouseServer,
  view: View,
  {
    request,
    only,
  }: { readonly request: EventScan; readonly only?: { readonly text: string; holds(event: StoredEvent): boolean } },
  onEvent: (event: ScannedEvent) => void,
): Promise<void> {
  const { text, parameters, holds } = scanConditions(request);
  const staged = view.staged
    .filter((event) => holds(event) && only?.holds(event) !== false)
    .toSorted((a, b) => a.timestampEpochMs - b.timestampEpochMs || a.place - b.place);
  const event = new ReusedEvent();
  const give = (found: Scanned): void => {
    event.idempotencyKey = request.withKeys === true ? found.idempotencyKey : '';
    event.eventName = found.eventName;
    event.timestampEpochMs = found.timestampEpochMs;
    event.contractId = found.contractId;
    event.propertiesJson = found.propertiesJson;
    event.forgetProperties();
    onEvent(event);
  };
  const question = `SELECT eventName, timestampEpochMs, contractId, propertiesJson, place,
      ${request.withKeys === true ? 'idempotencyKey' : `'' AS idempotencyKey`} FROM tallybookEvents FINAL
    WHERE ${view.condition} AND ${text}${only === undefined ? '' : ` AND ${only.text}`}
      AND (timestampEpochMs, place) > ({afterEpochMs:Int64}, {afterPlace:UInt64})
    ORDER BY timestampEpochMs, place LIMIT ${scannedAtOnce}`;
  let next = 0;
  let behind: { afterEpochMs: number; afterPlace: number } = { afterEpochMs: -1, afterPlace: 0 };
  for (;;) {
    const rows = (await ask(question, { ...view.parameters, ...parameters, ...behind })) as readonly Scanned[];
    for (const row of rows) {
      for (let own = staged[next]; own !== undefined && isBefore(own, row); own = staged[next]) {
        give(own);
        next += 1;
      }
      give(row);
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < scannedAtOnce) break;
    behind = { afterEpochMs: last.timestampEpochMs, afterPlace: last.place };
  }
  for (const own of staged.slice(next)) give(own);
}

function isBefore(a: Scanned, b: Scanned): boolean {
  return a.timestampEpochMs < b.timestampEpochMs || (a.timestampEpochMs === b.timestampEpochMs && a.place < b.place);
}

async function list(
  { ask }: ClickhouseServer,
  tx: Transaction,
  query: EventQuery,
  isLate: boolean,
): Promise<EventPage> {
  const view = await viewOf(tx, query);
  const { eventName, customerId, fromEpochMs, toEpochMs, limit, offset } = query;
  const texts = [
    view.condition,
    ...(isLate ? ['isLate = 1'] : []),
    ...(eventName === undefined ? [] : ['eventName = {eventName:String}']),
    ...(fromEpochMs === undefined ? [] : ['timestampEpochMs >= {from:Int64}']),
    ...(toEpochMs === undefined ? [] : ['timestampEpochMs < {to:Int64}']),
  ];
  const given = { eventName, from: fromEpochMs, to: toEpochMs };
  const parameters = {
    ...view.parameters,
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  };
  const staged = view.staged
    .filter(
      (event) =>
        (!isLate || event.isLate) &&
        (eventName === undefined || event.eventName === eventName) &&
        (customerId === undefined || event.customerId === customerId) &&
        event.timestampEpochMs >= (fromEpochMs ?? 0) &&
        event.timestampEpochMs < (toEpochMs ?? Number.POSITIVE_INFINITY),
    )
    .toSorted((a, b) => b.place - a.place);
  const from = `FROM tallybookEvents FINAL WHERE ${texts.join(' AND ')}`;
  const [counted] = await ask(`SELECT count() AS total ${from}`, parameters);
  // At most all staged ones stand before the page: with so many more, whatever the page needs has been read.
  const skipped = Math.max(0, offset - staged.length);
  const rows = await ask(
    `SELECT * ${from} ORDER BY place DESC LIMIT ${limit + staged.length} OFFSET ${skipped}`,
    parameters,
  );
  const moved = rows.map((row) => ({ ...storedEventOf(row), place: Number(row['place']) }));
  const page = [...moved, ...staged]
    .toSorted((a, b) => b.place - a.place)
    .slice(offset - skipped, offset - skipped + limit);
  return { rows: page.map(withoutPlace), total: Number(counted?.['total']) + staged.length };
}

async function listVersions(
  { ask }: ClickhouseServer,
  tx: Transaction,
  orgId: string,
  idempotencyKey: string,
): Promise<readonly StoredEvent[]> {
  const { movedBatch } = await readEventHead(tx, orgId);
  const rows = await ask(
    `SELECT * FROM tallybookEvents FINAL WHERE orgId = {orgId:String} AND batch <= {movedBatch:UInt64}
       AND (customerId, timestampEpochMs, place, version) GLOBAL IN (
         SELECT customerId, timestampEpochMs, place, version FROM tallybookEventKeys
         WHERE orgId = {orgId:String} AND batch <= {movedBatch:UInt64} AND idempotencyKey = {idempotencyKey:String})`,
    { orgId, movedBatch, idempotencyKey },
  );
  const staged = (await listStagedBatches(tx, orgId)).flatMap(({ events }) => events);
  const versions = [...rows.map(storedEventOf), ...staged.filter((event) => event.idempotencyKey === idempotencyKey)];
  return versions
    .toSorted((a, b) => a.version - b.version)
    .slice(0, -1)
    .map(withoutPlace);
}

/** Of the moved events; staged ones are rows of the books, and as they were written. */
async function listFaults({ ask }: ClickhouseServer, tx: Transaction, orgId: string): Promise<readonly EventFault[]> {
  const { movedBatch } = await readEventHead(tx, orgId);
  const parameters = { orgId, movedBatch };
  const own = 'orgId = {orgId:String} AND batch <= {movedBatch:UInt64}';
  const limit = `ORDER BY place LIMIT ${limits.findingsPerCheck}`;
  const limitOfGroups = `ORDER BY min(place) LIMIT ${limits.findingsPerCheck}`;
  const faultsOf = async (fault: EventFault['fault'], text: string, more: object = {}): Promise<EventFault[]> => {
    const rows = await ask(text, { ...parameters, ...more });
    return rows.map((row) => ({ idempotencyKey: row['key'] as string, fault }));
  };
  const versions = await faultsOf(
    'versions',
    `SELECT idempotencyKey AS key FROM tallybookEvents FINAL WHERE ${own} GROUP BY idempotencyKey
     HAVING count() <> max(version) OR count(DISTINCT place) <> 1 ${limitOfGroups}`,
  );
  const keys = await faultsOf(
    'versions',
    `SELECT idempotencyKey AS key FROM (
       SELECT idempotencyKey, place, version, customerId, timestampEpochMs, 1 AS side FROM tallybookEvents FINAL WHERE ${own}
       UNION ALL
       SELECT idempotencyKey, place, version, customerId, timestampEpochMs, -1 AS side FROM tallybookEventKeys FINAL WHERE ${own}
     ) GROUP BY idempotencyKey HAVING sum(side * toInt64(cityHash64(place, version, customerId, timestampEpochMs) % 1000000007)) <> 0
     ${limitOfGroups}`,
  );
  const pairs = await ask(
    `SELECT DISTINCT customerId, contractId FROM tallybookEvents WHERE ${own} AND contractId IS NOT NULL`,
    parameters,
  );
  const contracts = await tx.selectFrom('contracts').select(['id', 'customerId']).where('orgId', '=', orgId).execute();
  const owners = new Map(contracts.map(({ id, customerId }) => [id, customerId]));
  const foreign = pairs.filter((pair) => owners.get(pair['contractId'] as string) !== pair['customerId']);
  const owner =
    foreign.length === 0
      ? []
      : await faultsOf(
          'owner',
          `SELECT idempotencyKey AS key, place FROM tallybookEvents FINAL WHERE ${own}
             AND has({customers:Array(String)}, customerId) AND contractId IN {contracts:Array(String)} ${limit}`,
          {
            customers: foreign.map((pair) => pair['customerId']),
            contracts: foreign.map((pair) => pair['contractId']),
          },
        );
  const properties = await faultsOf(
    'properties',
    `SELECT idempotencyKey AS key, place FROM tallybookEvents FINAL WHERE ${own} AND NOT isValidJSON(propertiesJson) ${limit}`,
  );
  return [...versions, ...(versions.length === 0 ? keys : []), ...owner, ...properties];
}
