/**
 * Events in ClickHouse, of books that are kept elsewhere: see clickhouse-append.ts for how they get there, and
 * clickhouse-view.ts for what a reader sees.
 */

import { limits } from '../../limits.ts';
import type { Transaction } from '../database.ts';
import type {
  EventFault,
  EventPage,
  EventQuery,
  EventReadings,
  EventScan,
  EventStore,
  ScannedEvent,
  StoredEvent,
} from '../event-store.ts';
import { listStagedBatches, readEventHead } from '../records/staged-events.ts';
import { storedEvent } from '../event-content.ts';
import { appendEvents, withoutPlace } from './clickhouse-append.ts';
import { aggregateInClickhouse } from './clickhouse-event-readings.ts';
import { countLeft, dropEvents } from './clickhouse-retention.ts';
import type { ClickhouseServer } from './clickhouse-server.ts';
import { scanView, viewOf } from './clickhouse-view.ts';

/** `mostStaged` events of an organization wait to be moved. */
export function createClickhouseEventStore(server: ClickhouseServer, mostStaged: number): EventStore {
  return {
    append: async (tx, orgId, events, canReplace) =>
      await appendEvents({ server, mostStaged }, tx, { orgId, events, canReplace }),
    scan: async (tx, request, onEvent) => await scan(server, tx, request, onEvent),
    async aggregate(tx, of, meters) {
      const view = await viewOf(tx, of);
      const readings: EventReadings[] = [];
      for (const rules of meters) readings.push(await aggregateInClickhouse(server, view, { ...of, rules }));
      return readings;
    },
    list: async (tx, query) => await list(server, tx, query, false),
    listLate: async (tx, query) => await list(server, tx, query, true),
    listVersions: async (tx, orgId, idempotencyKey) => await listVersions(server, tx, orgId, idempotencyKey),
    listFaults: async (tx, orgId) => await listFaults(server, tx, orgId),
    checkAnswers: async () => await server.checkAnswers(),
    retention: {
      drop: async (tx, orgId) => await dropEvents(server, tx, orgId),
      countLeft: async (tx, orgId) => await countLeft(server, tx, orgId),
    },
  };
}

async function scan(
  server: ClickhouseServer,
  tx: Transaction,
  request: EventScan,
  onEvent: (event: ScannedEvent) => void,
): Promise<void> {
  await scanView(server, await viewOf(tx, request), { request }, onEvent);
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
  const moved = rows.map((row) => ({ ...storedEvent(row), place: Number(row['place']) }));
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
  const { movedBatch, droppedBeforeEpochMs } = await readEventHead(tx, orgId);
  const rows = await ask(
    `SELECT * FROM tallybookEvents FINAL WHERE orgId = {orgId:String} AND batch <= {movedBatch:UInt64}
       AND timestampEpochMs >= {droppedBeforeEpochMs:Int64} AND (customerId, timestampEpochMs, place, version) GLOBAL IN (
         SELECT customerId, timestampEpochMs, place, version FROM tallybookEventKeys
         WHERE orgId = {orgId:String} AND batch <= {movedBatch:UInt64} AND idempotencyKey = {idempotencyKey:String})`,
    { orgId, movedBatch, droppedBeforeEpochMs, idempotencyKey },
  );
  const staged = (await listStagedBatches(tx, orgId)).flatMap(({ events }) => events);
  const versions = [...rows.map(storedEvent), ...staged.filter((event) => event.idempotencyKey === idempotencyKey)];
  return versions
    .toSorted((a, b) => a.version - b.version)
    .slice(0, -1)
    .map(withoutPlace);
}

/** Of the moved events; staged ones are rows of the books, and as they were written. */
async function listFaults({ ask }: ClickhouseServer, tx: Transaction, orgId: string): Promise<readonly EventFault[]> {
  const { movedBatch, droppedBeforeEpochMs, lastPlace } = await readEventHead(tx, orgId);
  const parameters = { orgId, movedBatch, droppedBeforeEpochMs };
  const recorded = 'orgId = {orgId:String} AND batch <= {movedBatch:UInt64}';
  const own = `${recorded} AND timestampEpochMs >= {droppedBeforeEpochMs:Int64}`;
  const limit = `ORDER BY place LIMIT ${limits.findingsPerCheck}`;
  const limitOfGroups = `ORDER BY min(place) LIMIT ${limits.findingsPerCheck}`;
  const faultsOf = async (fault: EventFault['fault'], text: string, more: object = {}): Promise<EventFault[]> => {
    const rows = await ask(text, { ...parameters, ...more });
    return rows.map((row) => ({ idempotencyKey: row['key'] as string, fault }));
  };
  const versions = await faultsOf(
    'versions',
    // Keys of dropped versions stay, so that theirs is the whole history.
    `SELECT idempotencyKey AS key FROM tallybookEventKeys FINAL WHERE ${recorded} GROUP BY idempotencyKey
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
  const staged = (await listStagedBatches(tx, orgId)).flatMap(({ events }) => events);
  const gone = await faultsOf(
    'gone',
    // Every event has the number behind the one before it, and its key keeps that number when it is dropped.
    `SELECT toString(number + 1) AS key FROM numbers({lastPlace:UInt64})
     WHERE number + 1 NOT IN (
         SELECT place FROM tallybookEventKeys WHERE ${recorded} UNION ALL SELECT place FROM tallybookEvents WHERE ${recorded})
       AND NOT has({staged:Array(UInt64)}, number + 1)
     ORDER BY number LIMIT ${limits.findingsPerCheck}`,
    { lastPlace, staged: staged.filter(({ version }) => version === 1).map(({ place }) => place) },
  );
  return [...versions, ...(versions.length === 0 ? keys : []), ...owner, ...properties, ...gone];
}
