/**
 * Checks the books of one contract, or of a whole database, against every rule. Reads contract by contract, each in a
 * transaction of its own, so that memory stays small and writers can go on meanwhile.
 */

import { BillingError } from '../../errors.ts';
import type { Examination, ExaminedOrganization } from '../../operations/findings.ts';
import { createMeterSql } from '../../store/open-meter-sql.ts';
import type { Transaction } from '../../store/database.ts';
import type { Inspection } from '../../store/inspection.ts';
import { listOwnedContracts, type OwnedContract, readCensus, readLegalNumbers } from '../../store/records/census.ts';
import { findClock } from '../../store/records/clock.ts';
import { findContract } from '../../store/records/contracts.ts';
import { findOrganization, listOrganizations } from '../../store/records/organizations.ts';
import type { Organization } from '../../store/records/organizations.ts';
import { readLedgerHead } from '../../store/records/seals.ts';
import { countDueDeliveries } from '../../store/records/webhook-queue.ts';
import { limits } from '../../limits.ts';
import type { EngineParts } from '../dependencies.ts';
import { isOfDatabase, withSqlReadings } from '../usage-sql.ts';
import { droppedBefore } from '../usage-frozen.ts';
import { wireTimestamp } from '../wire.ts';
import type { OrganizationFacts } from './check.ts';
import { contractChecks, databaseChecks, organizationChecks } from './checks.ts';
import { readBooks } from './contract-books.ts';
import type { BooksContext } from './contract-books.ts';
import { type KnownOfOrganization, nothingKnown } from './customer-books.ts';
import { createFindings, unexpectedProblem } from './findings.ts';
import type { Findings } from './findings.ts';
import { readLateEvents } from './late-events.ts';

export type ExaminationParts = Pick<EngineParts, 'store' | 'now' | 'meterSql'>;

const contractsAtOnce = 500;

/** Checks everything that can be checked of a database. A damaged one is reported as damaged and read no further. */
export async function examine(
  dependencies: Omit<ExaminationParts, 'meterSql'>,
  { isFull }: { readonly isFull: boolean },
): Promise<Examination> {
  const meterSql = createMeterSql();
  try {
    return await examineWith({ ...dependencies, meterSql }, isFull);
  } finally {
    meterSql.close();
  }
}

async function examineWith(parts: ExaminationParts, isFull: boolean): Promise<Examination> {
  const { store, now } = parts;
  const findings = createFindings();
  const inspection = await store.inspect({ isFull });
  findings.run(databaseChecks, inspection, inspection.location);
  const organizations: ExaminedOrganization[] = [];
  if (inspection.damages.length === 0) {
    for (const organization of await store.read(listOrganizations)) {
      organizations.push(await examineOrganization(parts, organization, { findings, isFull }));
    }
  }
  return examinationOf(inspection, { now, isFull, organizations, findings });
}

/** The examination of a database that is too damaged to be opened. */
export function examineDamaged(
  inspection: Inspection,
  options: { readonly now: () => Temporal.Instant; readonly isFull: boolean },
): Examination {
  const findings = createFindings();
  findings.run(databaseChecks, inspection, inspection.location);
  return examinationOf(inspection, { ...options, organizations: [], findings });
}

function examinationOf(
  { location, schemaVersion }: Inspection,
  {
    now,
    isFull,
    organizations,
    findings,
  }: Pick<Examination, 'isFull' | 'organizations'> & {
    readonly now: () => Temporal.Instant;
    readonly findings: Findings;
  },
): Examination {
  return {
    database: location,
    schemaVersion,
    checkedAt: wireTimestamp(now()),
    isFull,
    organizations,
    findings: findings.list(),
    findingCount: findings.count(),
  };
}

/** What breaks a rule in the books of one contract. */
export async function examineContract(context: BooksContext, contractId: string) {
  const findings = createFindings();
  const books = await checkContract(context, contractId, { findings, known: nothingKnown() });
  return { books, findings: findings.list() };
}

async function examineOrganization(
  parts: ExaminationParts,
  organization: Organization,
  { findings, isFull }: { readonly findings: Findings; readonly isFull: boolean },
): Promise<ExaminedOrganization> {
  const { store } = parts;
  const { id, name } = organization;
  const facts = await store.read((tx) => readFacts(parts, tx, { organization, isFull }));
  findings.run(organizationChecks, facts, id);
  const known = nothingKnown();
  let after: OwnedContract | undefined;
  do {
    const page = { after, limit: contractsAtOnce };
    const contracts = await store.read((tx) => listOwnedContracts(tx, id, page));
    for (const { id: contractId } of contracts) await examineOne(parts, organization, { contractId, known, findings });
    after = contracts.at(-1);
  } while (after !== undefined);
  const counts = await store.read((tx) => readCensus(tx, id));
  const mark = droppedBefore({ organization });
  return {
    id,
    name,
    ...counts,
    ledgerHead: await store.read((tx) => readLedgerHead(tx, id)),
    ...(mark === undefined ? {} : { eventsDroppedBefore: wireTimestamp(mark) }),
  };
}

interface OneContract {
  readonly contractId: string;
  readonly known: KnownOfOrganization;
  readonly findings: Findings;
}

async function examineOne(
  { store, meterSql, now }: ExaminationParts,
  organization: Organization,
  { contractId, known, findings }: OneContract,
): Promise<void> {
  const options = { meterSql, deadlineMilliseconds: limits.meterSqlBillRunMilliseconds };
  try {
    await withSqlReadings(options, async (sqlReadings) => {
      await store.read(async (tx) => {
        const at = (await findClock(tx)) ?? now();
        const current = (await findOrganization(tx, organization.id)) ?? organization;
        const context = {
          tx,
          events: store.events,
          orgId: organization.id,
          organization: current,
          sqlReadings,
          now: at,
        };
        await checkContract(context, contractId, { findings, known });
      });
    });
  } catch (error) {
    // One meter that gives no number must not keep other contracts from being examined. An unreachable database does.
    if (isOfDatabase(error) || !(error instanceof BillingError)) throw error;
    const problem = `contract ${contractId} could not be read: ${error.message}`;
    findings.add('readable', contractChecks.readable, [{ objectId: contractId, problem }]);
  }
}

async function checkContract(
  context: BooksContext,
  contractId: string,
  { findings, known }: Omit<OneContract, 'contractId'>,
) {
  try {
    const contract = await findContract(context.tx, context.orgId, contractId);
    if (contract === undefined) return undefined;
    const books = await readBooks(context, contract, known);
    findings.run(contractChecks, books, contractId);
    return books;
  } catch (error) {
    findings.add('readable', contractChecks.readable, [unexpectedProblem(error, contractId)]);
    return undefined;
  }
}

async function readFacts(
  { store, now }: ExaminationParts,
  tx: Transaction,
  { organization, isFull }: { readonly organization: Organization; readonly isFull: boolean },
): Promise<OrganizationFacts> {
  const { id, lastCreatedAt } = organization;
  const simulated = await findClock(tx);
  const due = simulated === undefined ? await countDueDeliveries(tx, wireTimestamp(now()), id) : undefined;
  return {
    organizationId: id,
    lastCreatedAt: Temporal.Instant.from(lastCreatedAt),
    clock: simulated ?? now(),
    numbers: await readLegalNumbers(tx, id),
    eventFaults: isFull ? await store.events.listFaults(tx, id) : [],
    upkeepFaults: isFull ? ((await store.events.upkeep?.listFaults(tx, id)) ?? []) : [],
    droppedRowsLeft: (await store.events.retention?.countLeft(tx, id)) ?? 0,
    lateEvents: await readLateEvents({ tx, orgId: id, events: store.events }, isFull),
    oldestDueDelivery: due?.oldestDueAt ? Temporal.Instant.from(due.oldestDueAt) : undefined,
  };
}
