/**
 * Whether events in ClickHouse are as `append` leaves them. Checks the moved ones: staged events are rows of the books, and
 * still as they were written.
 */

import { limits } from '../../../limits.ts';
import type { Transaction } from '../../database.ts';
import type { EventFault } from '../../event-store.ts';
import { listStagedEvents, readEventHead } from '../../records/staged-events.ts';
import type { ClickhouseServer } from './connection.ts';

const recorded = 'orgId = {orgId:String} AND batch <= {movedBatch:UInt64}';
/** Without dropped events. */
const kept = `${recorded} AND timestampEpochMs >= {droppedBeforeEpochMs:Int64}`;
const inOrder = `ORDER BY place LIMIT ${limits.findingsPerCheck}`;
const keysInOrder = `ORDER BY min(place) LIMIT ${limits.findingsPerCheck}`;

/** The keys of dropped versions stay, so keys hold the whole history. */
const wrongHistories = `SELECT idempotencyKey AS key FROM tallybookEventKeys FINAL WHERE ${recorded} GROUP BY idempotencyKey
  HAVING count() <> max(version) OR count(DISTINCT place) <> 1 ${keysInOrder}`;

const unlikeTheirKeys = `SELECT idempotencyKey AS key FROM (
    SELECT idempotencyKey, place, version, customerId, timestampEpochMs, 1 AS side FROM tallybookEvents FINAL WHERE ${kept}
    UNION ALL
    SELECT idempotencyKey, place, version, customerId, timestampEpochMs, -1 AS side FROM tallybookEventKeys FINAL WHERE ${kept}
  ) GROUP BY idempotencyKey HAVING sum(side * toInt64(cityHash64(place, version, customerId, timestampEpochMs) % 1000000007)) <> 0
  ${keysInOrder}`;

const ownersOfContracts = `SELECT DISTINCT customerId, contractId FROM tallybookEvents WHERE ${kept} AND contractId IS NOT NULL`;
const ofForeignContracts = `SELECT idempotencyKey AS key, place FROM tallybookEvents FINAL WHERE ${kept}
  AND contractId IN {contracts:Array(String)}
  AND has(arrayZip({customers:Array(String)}, {contracts:Array(String)}), (customerId, assumeNotNull(contractId))) ${inOrder}`;

/** A server takes no number beyond 64 bits for JSON, so long runs of digits are cut; `\u` needs the first four of its run. */
const shortened = String.raw`replaceRegexpAll(propertiesJson, '([0-9]{15})[0-9]+', '\\1')`;
const withoutJson = `SELECT idempotencyKey AS key, place FROM tallybookEvents FINAL
  WHERE ${kept} AND NOT isValidJSON(propertiesJson) AND NOT isValidJSON(${shortened}) ${inOrder}`;

/** Moved events are numbered without gaps, and the key of a dropped event keeps its number. */
const missing = `SELECT toString(number + 1) AS key FROM numbers({lastMoved:UInt64})
  WHERE number + 1 NOT IN (
    SELECT place FROM tallybookEventKeys WHERE ${recorded} UNION ALL SELECT place FROM tallybookEvents WHERE ${recorded})
  ORDER BY number LIMIT ${limits.findingsPerCheck}`;

/** As `EventStore.listFaults`. */
export async function listEventFaults(
  { ask }: ClickhouseServer,
  tx: Transaction,
  orgId: string,
): Promise<readonly EventFault[]> {
  const { movedBatch, droppedBeforeEpochMs, lastPlace } = await readEventHead(tx, orgId);
  const parameters = { orgId, movedBatch, droppedBeforeEpochMs };
  const faultsOf = async (fault: EventFault['fault'], text: string, more: object = {}): Promise<EventFault[]> => {
    const rows = await ask(text, { ...parameters, ...more });
    return rows.map((row) => ({ idempotencyKey: row['key'] as string, fault }));
  };
  const histories = await faultsOf('versions', wrongHistories);
  const versions = histories.length > 0 ? histories : await faultsOf('versions', unlikeTheirKeys);
  const foreign = await foreignPairs(tx, orgId, await ask(ownersOfContracts, parameters));
  const owner = foreign.customers.length === 0 ? [] : await faultsOf('owner', ofForeignContracts, foreign);
  const properties = await faultsOf('properties', withoutJson);
  const staged = await stagedPlaces(tx, orgId);
  const lastMoved = (staged[0] ?? lastPlace + 1) - 1;
  const gone = await faultsOf('gone', missing, { lastMoved });
  return [...versions, ...owner, ...properties, ...gone, ...gapsIn(staged, { lastMoved, lastPlace })];
}

/** As many as a question takes, and more than doctor lists. */
const pairsAtOnce = 1_000;

/** Of these pairs of a customer and a contract that its events name, those whose contract is another customer's. */
async function foreignPairs(
  tx: Transaction,
  orgId: string,
  pairs: Awaited<ReturnType<ClickhouseServer['ask']>>,
): Promise<{ readonly customers: readonly unknown[]; readonly contracts: readonly unknown[] }> {
  const contracts = await tx.selectFrom('contracts').select(['id', 'customerId']).where('orgId', '=', orgId).execute();
  const owners = new Map(contracts.map(({ id, customerId }) => [id, customerId]));
  const foreign = pairs
    .filter((pair) => owners.get(pair['contractId'] as string) !== pair['customerId'])
    .slice(0, pairsAtOnce);
  return {
    customers: foreign.map((pair) => pair['customerId']),
    contracts: foreign.map((pair) => pair['contractId']),
  };
}

/** The numbers of events that are only staged, ascending; they follow the numbers of all moved events. */
async function stagedPlaces(tx: Transaction, orgId: string): Promise<number[]> {
  return (await listStagedEvents(tx, orgId)).filter(({ version }) => version === 1).map(({ place }) => place);
}

/** Numbers that should be staged and are not. */
function gapsIn(
  staged: readonly number[],
  { lastMoved, lastPlace }: { readonly lastMoved: number; readonly lastPlace: number },
): EventFault[] {
  const known = new Set(staged);
  const gaps: EventFault[] = [];
  for (let place = lastMoved + 1; place <= lastPlace && gaps.length < limits.findingsPerCheck; place += 1) {
    if (!known.has(place)) gaps.push({ idempotencyKey: String(place), fault: 'gone' });
  }
  return gaps;
}
