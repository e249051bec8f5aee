/** What recording a batch of events needs to know about their customers, read once for the whole batch. */

import type { Transaction } from '../database.ts';
import { prepared } from '../prepared.ts';
import { type Contract, toContractItems } from './contracts.ts';
import { askedInParts, ofFew, type OfList } from './padded.ts';
import { optionalDate } from './row-values.ts';

/** A contract, as far as taking events depends on it. */
export type ContractSpan = Pick<Contract, 'id' | 'customerId' | 'startDate' | 'endDate' | 'effectiveEndDate' | 'items'>;

/** A period of a contract whose invoice is finalized. */
export interface FinalizedPeriod {
  readonly contractId: string;
  readonly periodIndex: number;
  /** The date at which it ends, exclusive, as it was invoiced: `2026-04-01`. */
  readonly periodEnd: string;
}

/** The ids among these that customers of the organization have. */
export async function findCustomerIds(
  tx: Transaction,
  orgId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await askedInParts(ids, (part) => idsAmong(tx, { orgId, ids: part }));
  return new Set(rows.map((row) => row.id));
}

const idsAmong = prepared(
  (tx, { orgId, ids }: OfList<'ids'>) =>
    tx.selectFrom('customers').select('id').where('orgId', '=', orgId).where('id', 'in', ids),
  { name: 'ids of customers', of: () => ofFew('ids') },
);

/** Customer ids by the callers' own ids of those customers. */
export async function findCustomerIdsByExternalId(
  tx: Transaction,
  orgId: string,
  externalIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await askedInParts(externalIds, (part) => idsByExternalId(tx, { orgId, externalIds: part }));
  return new Map(rows.map((row) => [row.externalCustomerId ?? '', row.id]));
}

const idsByExternalId = prepared(
  (tx, { orgId, externalIds }: OfList<'externalIds'>) =>
    tx
      .selectFrom('customers')
      .select(['id', 'externalCustomerId'])
      .where('orgId', '=', orgId)
      .where('externalCustomerId', 'in', externalIds),
  { name: 'customers of external ids', of: () => ofFew('externalIds') },
);

/** Every contract of these customers, by customer, oldest first. */
export async function listContractSpans(
  tx: Transaction,
  orgId: string,
  customerIds: readonly string[],
): Promise<readonly ContractSpan[]> {
  const rows = await askedInParts(customerIds, (part) => spansOfCustomers(tx, { orgId, customerIds: part }));
  return rows.map((row) => ({
    ...row,
    startDate: Temporal.PlainDate.from(row.startDate),
    endDate: optionalDate(row.endDate),
    effectiveEndDate: optionalDate(row.effectiveEndDate),
    items: toContractItems(row.items),
  }));
}

const spansOfCustomers = prepared(
  (tx, { orgId, customerIds }: OfList<'customerIds'>) =>
    tx
      .selectFrom('contracts')
      .select(['id', 'customerId', 'startDate', 'endDate', 'effectiveEndDate', 'items'])
      .where('orgId', '=', orgId)
      .where('customerId', 'in', customerIds)
      // Ordered by time alone, SQLite walks through all contracts there are in order to avoid sorting these.
      .orderBy('customerId')
      .orderBy('createdAt')
      .orderBy('seq'),
  { name: 'spans of contracts', of: () => ofFew('customerIds') },
);

/** Every finalized period of these contracts. */
export async function listFinalizedPeriods(
  tx: Transaction,
  orgId: string,
  contractIds: readonly string[],
): Promise<readonly FinalizedPeriod[]> {
  const rows = await askedInParts(contractIds, (part) => finalizedPeriods(tx, { orgId, contractIds: part }));
  return rows.map((row) => ({ ...row, periodIndex: Number(row.periodIndex) }));
}

const finalizedPeriods = prepared(
  (tx, { orgId, contractIds }: OfList<'contractIds'>) =>
    tx
      .selectFrom('invoices')
      .select(['contractId', 'periodIndex', 'periodEnd'])
      .where('orgId', '=', orgId)
      .where('contractId', 'in', contractIds)
      .where('finalizedAt', 'is not', null)
      .orderBy('contractId')
      .orderBy('periodIndex'),
  { name: 'finalized periods', of: () => ofFew('contractIds') },
);
