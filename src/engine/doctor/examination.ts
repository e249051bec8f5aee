/**
 * Checks the books of one contract, or of a whole database, against every rule. Reads contract by contract, a few of them in one
 * transaction, so that memory stays small and no snapshot is old.
 */

import { BillingError } from '../../errors.ts';
import { instantAt, type Moment } from '../../operations/field-rules.ts';
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
import type { BillingContext } from '../open-billing.ts';
import { isOfDatabase, SqlReadingNeeded, type SqlReadings, withSqlReadings } from '../usage-sql.ts';
import { droppedBefore } from '../usage-frozen.ts';
import { wireTimestamp } from '../wire.ts';
import type { OrganizationFacts } from './check.ts';
import { contractChecks, databaseChecks, organizationChecks } from './checks.ts';
import { readBooks } from './contract-books.ts';
import { type KnownOfOrganization, nothingKnown } from './customer-books.ts';
import { createFindings, unexpectedProblem } from './findings.ts';
import type { Findings } from './findings.ts';
import { readLateEvents } from './late-events.ts';

export type ExaminationParts = Pick<EngineParts, 'store' | 'now' | 'meterSql'>;

const contractsAtOnce = 500;
/** While others write, what the contracts of a customer have in common is read anew for each snapshot. */
const contractsOfSnapshot = 50;

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
  options: { readonly now: () => Moment; readonly isFull: boolean },
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
    readonly now: () => Moment;
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
export async function examineContract(context: BillingContext, contractId: string) {
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
    const contractIds = contracts.map((contract) => contract.id);
    for (let first = 0; first < contractIds.length; first += contractsOfSnapshot) {
      const together = contractIds.slice(first, first + contractsOfSnapshot);
      await examineTogether(parts, organization, { contractIds: together, known, findings });
    }
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

interface Examining {
  readonly known: KnownOfOrganization;
  readonly findings: Findings;
}

/** In one transaction. A contract that needs a query, which no transaction may wait for, or cannot be read is examined alone. */
async function examineTogether(
  parts: ExaminationParts,
  organization: Organization,
  { contractIds, ...examining }: Examining & { readonly contractIds: readonly string[] },
): Promise<void> {
  const left = contractIds.values();
  for (let contractId = left.next().value; contractId !== undefined; contractId = left.next().value) {
    try {
      await parts.store.read(async (tx) => {
        const context = await contextOf(parts, tx, { organization, sqlReadings: noReadings });
        while (contractId !== undefined && (await checkContract(context, contractId, examining)) !== undefined) {
          contractId = left.next().value;
        }
      });
    } catch (error) {
      const isOfContract = error instanceof BillingError || error instanceof SqlReadingNeeded;
      if (contractId === undefined || !isOfContract) throw error;
      await examineOne(parts, organization, { contractId, ...examining });
    }
  }
}

const noReadings: SqlReadings = {
  valuesOf: async () => {
    throw new SqlReadingNeeded(async () => {});
  },
};

async function contextOf(
  { store, now }: ExaminationParts,
  tx: Transaction,
  { organization, sqlReadings }: { readonly organization: Organization; readonly sqlReadings: SqlReadings },
): Promise<BillingContext> {
  const { id } = organization;
  const at = (await findClock(tx)) ?? instantAt(now());
  const current = (await findOrganization(tx, id)) ?? organization;
  return { tx, events: store.events, orgId: id, organization: current, sqlReadings, now: at };
}

async function examineOne(
  parts: ExaminationParts,
  organization: Organization,
  { contractId, ...examining }: Examining & { readonly contractId: string },
): Promise<void> {
  const options = { meterSql: parts.meterSql, deadlineMilliseconds: limits.meterSqlBillRunMilliseconds };
  try {
    await withSqlReadings(options, async (sqlReadings) => {
      await parts.store.read(async (tx) => {
        const context = await contextOf(parts, tx, { organization, sqlReadings });
        await checkContract(context, contractId, examining);
      });
    });
  } catch (error) {
    // One meter that gives no number must not keep other contracts from being examined. An unreachable database does.
    if (isOfDatabase(error) || !(error instanceof BillingError)) throw error;
    const problem = `contract ${contractId} could not be read: ${error.message}`;
    examining.findings.add('readable', contractChecks.readable, [{ objectId: contractId, problem }]);
  }
}

async function checkContract(context: BillingContext, contractId: string, { findings, known }: Examining) {
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
    clock: simulated ?? instantAt(now()),
    numbers: await readLegalNumbers(tx, id),
    eventFaults: isFull ? await store.events.listFaults(tx, id) : [],
    upkeepFaults: isFull ? ((await store.events.upkeep?.listFaults(tx, id)) ?? []) : [],
    droppedRowsLeft: (await store.events.retention?.countLeft(tx, id)) ?? 0,
    lateEvents: await readLateEvents({ tx, orgId: id, events: store.events }, isFull),
    oldestDueDelivery: due?.oldestDueAt ? Temporal.Instant.from(due.oldestDueAt) : undefined,
  };
}
