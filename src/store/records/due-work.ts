/**
 * Work that falls due with time, found by index: drafts to make and to finalize, grants that expire, contracts and pauses that
 * end. Calendar dates stand for 00:00 UTC.
 */

import { sql } from 'kysely';

import type { Transaction } from '../database.ts';
import { type OfOrganization, prepared } from '../prepared.ts';
import { type Contract, toContract } from './contracts.ts';
import { askedInParts, ofFew, type OfList } from './padded.ts';
import { drafted, instantText, optionalDate, optionalInstant, optionalInstantText } from './row-values.ts';

/** Written exactly as the index has it. */
const endsOn = () => sql<string | null>`coalesce("effectiveEndDate", "endDate")`;

/** An instant, and the dates that follow from it. */
export interface DueBy {
  /** Inclusive, like the dates. */
  readonly instant: Temporal.Instant;
  /** The date of `instant`. */
  readonly date: Temporal.PlainDate;
  /** Drafts with this invoice date or an earlier one are finalized. */
  readonly invoiceDate: Temporal.PlainDate;
}

/** The ids of all contracts with anything due, in order of creation. Searching for only a few would take as long. */
export async function listDueContracts(
  tx: Transaction,
  orgId: string,
  { instant, date, invoiceDate }: DueBy,
): Promise<readonly string[]> {
  const contracts = tx.selectFrom('contracts').select('id').where('orgId', '=', orgId);
  const withDueDrafts = tx
    .selectFrom('invoices')
    .select('contractId as id')
    .where('orgId', '=', orgId)
    .where('status', '=', drafted())
    .where('invoiceDate', '<=', invoiceDate.toString());
  const due = contracts
    .where('draftsDueOn', '<=', date.toString())
    .union(contracts.where('terminatedAt', 'is', null).where(endsOn(), '<=', date.toString()))
    .union(withDueDrafts)
    .union(contracts.where('nextExpiryAt', '<=', instantText(instant)));
  const rows = await contracts.where('id', 'in', due).orderBy('seq').execute();
  return rows.map(({ id }) => id);
}

/** The ids of customers whose pause is over, in order of creation. */
export async function listEndedPauses(
  tx: Transaction,
  orgId: string,
  { date }: Pick<DueBy, 'date'>,
): Promise<readonly string[]> {
  const rows = await tx
    .selectFrom('customers')
    .select('id')
    .where('orgId', '=', orgId)
    .where('pausedUntil', '<=', date.toString())
    .orderBy('seq')
    .execute();
  return rows.map(({ id }) => id);
}

/** When a contract next has work of each kind due; undefined if it has none. */
export interface ContractDue {
  readonly draftsDueOn: Temporal.PlainDate | undefined;
  /** The invoice date of the earliest draft. */
  readonly invoiceDate: Temporal.PlainDate | undefined;
  /** The earliest expiry of a grant that is not settled yet. */
  readonly expiresAt: Temporal.Instant | undefined;
  /** Undefined once the end has been announced. */
  readonly endsOn: Temporal.PlainDate | undefined;
}

/** A contract with the due dates in its row. */
export interface DatedContract extends Omit<ContractDue, 'invoiceDate'> {
  readonly contract: Contract;
}

/**
 * These contracts and all others of their customers, by customer, oldest first. That is the order in which contracts take
 * events (semantics 8).
 */
export async function listContractsOfSameCustomers(
  tx: Transaction,
  orgId: string,
  contractIds: readonly string[],
): Promise<readonly DatedContract[]> {
  const rows = await askedInParts(contractIds, (part) => contractsAround(tx, { orgId, contractIds: part }));
  return rows.map((row) => ({
    contract: toContract(row),
    draftsDueOn: optionalDate(row.draftsDueOn),
    expiresAt: optionalInstant(row.nextExpiryAt),
    endsOn: row.terminatedAt === null ? optionalDate(row.effectiveEndDate ?? row.endDate) : undefined,
  }));
}

const contractsAround = prepared(
  (tx, { orgId, contractIds }: OfList<'contractIds'>) =>
    tx
      .selectFrom('contracts')
      .selectAll()
      .where('orgId', '=', orgId)
      .where('customerId', 'in', (row) =>
        row
          .selectFrom('contracts as asked')
          .select('asked.customerId')
          .where('asked.orgId', '=', orgId)
          .where('asked.id', 'in', contractIds),
      )
      // Ordered by time alone, SQLite walks through all contracts there are in order to avoid sorting these.
      .orderBy('customerId')
      .orderBy('createdAt')
      .orderBy('seq'),
  { name: 'contracts of the same customers', of: () => ofFew('contractIds') },
);

/** The notes by which a contract's due work is found, besides its drafts. */
export type NotedDue = Pick<ContractDue, 'draftsDueOn' | 'expiresAt'>;

/** Empty for a contract that the organization does not have. */
export async function readNotedDue(tx: Transaction, orgId: string, contractId: string): Promise<NotedDue> {
  const contract = await tx
    .selectFrom('contracts')
    .select(['draftsDueOn', 'nextExpiryAt'])
    .where('orgId', '=', orgId)
    .where('id', '=', contractId)
    .executeTakeFirst();
  return {
    draftsDueOn: optionalDate(contract?.draftsDueOn),
    expiresAt: optionalInstant(contract?.nextExpiryAt),
  };
}

/** The earliest of each kind in an organization after an instant; dates as in `DueBy`. */
export async function findNextDue(
  tx: Transaction,
  orgId: string,
  after: DueBy,
): Promise<ContractDue & { readonly pausedUntil: Temporal.PlainDate | undefined }> {
  const date = after.date.toString();
  const contracts = tx.selectFrom('contracts').where('orgId', '=', orgId);
  const draftsDueOn = await contracts
    .select((row) => row.fn.min('draftsDueOn').as('least'))
    .where('draftsDueOn', '>', date)
    .executeTakeFirst();
  const ending = await contracts
    .select(sql<string | null>`min(${endsOn()})`.as('least'))
    .where('terminatedAt', 'is', null)
    .where(endsOn(), '>', date)
    .executeTakeFirst();
  const draft = await tx
    .selectFrom('invoices')
    .select((row) => row.fn.min('invoiceDate').as('least'))
    .where('orgId', '=', orgId)
    .where('status', '=', drafted())
    .where('invoiceDate', '>', after.invoiceDate.toString())
    .executeTakeFirst();
  const expiry = await contracts
    .select((row) => row.fn.min('nextExpiryAt').as('least'))
    .where('nextExpiryAt', '>', instantText(after.instant))
    .executeTakeFirst();
  const pause = await tx
    .selectFrom('customers')
    .select((row) => row.fn.min('pausedUntil').as('least'))
    .where('orgId', '=', orgId)
    .where('pausedUntil', '>', date)
    .executeTakeFirst();
  return {
    draftsDueOn: optionalDate(draftsDueOn?.least),
    invoiceDate: optionalDate(draft?.least),
    expiresAt: optionalInstant(expiry?.least),
    endsOn: optionalDate(ending?.least),
    pausedUntil: optionalDate(pause?.least),
  };
}

/** Notes when the next drafts of a contract have to be made; undefined means never. */
export async function scheduleDrafts(
  tx: Transaction,
  orgId: string,
  { contractId, dueOn }: { readonly contractId: string; readonly dueOn: Temporal.PlainDate | undefined },
): Promise<void> {
  await tx
    .updateTable('contracts')
    .set({ draftsDueOn: dueOn?.toString() ?? null })
    .where('orgId', '=', orgId)
    .where('id', '=', contractId)
    .execute();
}

/** Notes that the end of a contract was announced. */
export async function closeContract(
  tx: Transaction,
  orgId: string,
  { id, terminatedAt }: { readonly id: string; readonly terminatedAt: Temporal.Instant },
): Promise<void> {
  await closing(tx, { orgId, id, terminatedAt: instantText(terminatedAt) });
}

const closing = prepared((tx, { orgId, id, terminatedAt }: OfOrganization<'id' | 'terminatedAt'>) =>
  tx.updateTable('contracts').set({ terminatedAt }).where('orgId', '=', orgId).where('id', '=', id),
);

/** Notes that a grant of a contract will expire, unless another one expires before it. */
export async function scheduleExpiry(
  tx: Transaction,
  orgId: string,
  { contractId, expiresAt }: { readonly contractId: string; readonly expiresAt: Temporal.Instant },
): Promise<void> {
  await earlierExpiry(tx, { orgId, contractId, expiresAt: instantText(expiresAt) });
}

const earlierExpiry = prepared(
  (tx, { orgId, contractId, expiresAt }: OfOrganization<'contractId' | 'expiresAt'>) =>
    tx
      .updateTable('contracts')
      .set({ nextExpiryAt: expiresAt })
      .where('orgId', '=', orgId)
      .where('id', '=', contractId)
      .where((row) => row.or([row('nextExpiryAt', 'is', null), row('nextExpiryAt', '>', expiresAt)])),
  { name: 'earlier expiry', of: () => [{ orgId: '', contractId: '', expiresAt: '' }] },
);

/** Notes the `next` expiry of a contract, undefined for none, where all up to and including `until` are settled or undone. */
export async function closeExpiries(
  tx: Transaction,
  orgId: string,
  {
    contractId,
    until,
    next,
  }: { readonly contractId: string; readonly until: Temporal.Instant; readonly next: Temporal.Instant | undefined },
): Promise<void> {
  await laterExpiry(tx, { orgId, contractId, until: instantText(until), next: optionalInstantText(next) });
}

/** Prepared, because every settlement of a wallet in which a grant has expired runs it. */
const laterExpiry = prepared(
  (tx, { orgId, contractId, until, next }: OfOrganization<'contractId' | 'until'> & { readonly next: string | null }) =>
    tx
      .updateTable('contracts')
      .set({ nextExpiryAt: next })
      .where('orgId', '=', orgId)
      .where('id', '=', contractId)
      .where('nextExpiryAt', '<=', until),
);
