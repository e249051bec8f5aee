/** Budgets of contracts: an array in the order of their positions, from 0 without gaps. */

import type { Selectable } from 'kysely';

import type { Database, Transaction } from '../database.ts';
import { type OfOrganization, prepared } from '../prepared.ts';
import { askedInParts, ofFew, type OfList } from './padded.ts';
import { instantText, oneRow } from './row-values.ts';

/** A cap on one usage dimension of a contract (interface 2.7). */
export interface Budget {
  readonly id: string;
  readonly contractId: string;
  readonly label: string;
  readonly eventPropertyKey: string;
  readonly eventPropertyValue: string;
  /** Null for every meter. */
  readonly meterId: string | null;
  /** Decimal text of credits. */
  readonly maxCredits: string | null;
  readonly maxCreditsCents: bigint | null;
  /** Its alert has fired, and no new cap has armed it again. */
  readonly isExhausted: boolean;
  readonly createdAt: Temporal.Instant;
}

/** The budgets of a contract; the position in the list is the index on the wire. */
export async function listBudgets(tx: Transaction, orgId: string, contractId: string): Promise<readonly Budget[]> {
  return (await listBudgetsOf(tx, orgId, [contractId])).get(contractId) ?? [];
}

/** As `listBudgets`, for many contracts, by contract id. */
export async function listBudgetsOf(
  tx: Transaction,
  orgId: string,
  contractIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Budget[]>> {
  const rows = await askedInParts(contractIds, (part) => budgetsOfContracts(tx, { orgId, contractIds: part }));
  return Map.groupBy(rows.map(toBudget), ({ contractId }) => contractId);
}

const inOrder = (tx: Transaction, { orgId, contractIds }: OfList<'contractIds'>) =>
  tx
    .selectFrom('budgets')
    .selectAll()
    .where('orgId', '=', orgId)
    .where('contractId', 'in', contractIds)
    .orderBy('contractId')
    .orderBy('position');

const budgetsOfContracts = prepared(inOrder, { name: 'budgets', of: () => ofFew('contractIds') });

/** The positions of a contract's budgets, ascending: 0, 1, 2 unless something is wrong. */
export async function listBudgetPositions(
  tx: Transaction,
  orgId: string,
  contractId: string,
): Promise<readonly number[]> {
  const rows = await tx
    .selectFrom('budgets')
    .select('position')
    .where('orgId', '=', orgId)
    .where('contractId', '=', contractId)
    .orderBy('position')
    .execute();
  return rows.map((row) => Number(row.position));
}

/** Budgets with a cap whose alert has not fired, on any of these contracts. */
export async function listArmedBudgets(
  tx: Transaction,
  orgId: string,
  contractIds: readonly string[],
): Promise<readonly Budget[]> {
  const rows = await askedInParts(contractIds, (part) => armedBudgets(tx, { orgId, contractIds: part }));
  return rows.map(toBudget);
}

const armedBudgets = prepared(
  (tx, of: OfList<'contractIds'>) =>
    inOrder(tx, of)
      .where('isExhausted', '=', 0n)
      .where((row) => row.or([row('maxCredits', 'is not', null), row('maxCreditsCents', 'is not', null)])),
  { name: 'armed budgets', of: () => ofFew('contractIds') },
);

/** Whether a contract was ever granted credits rather than only dollars. */
export async function hasCreditGrant(tx: Transaction, orgId: string, contractId: string): Promise<boolean> {
  return (await firstCreditGrant(tx, { orgId, contractId })).length > 0;
}

const firstCreditGrant = prepared(
  (tx, { orgId, contractId }: OfOrganization<'contractId'>) =>
    tx
      .selectFrom('ledgerEntries')
      .select('id')
      .where('orgId', '=', orgId)
      .where('contractId', '=', contractId)
      .where('type', '=', 'grant')
      .where('creditMicros', '>', 0n)
      .orderBy('seq')
      .limit(oneRow()),
  { name: 'first grant of credits', of: () => [{ orgId: '', contractId: '' }] },
);

/** Appends budgets to those that the contract has. */
export async function insertBudgets(
  tx: Transaction,
  orgId: string,
  { from, budgets }: { readonly from: number; readonly budgets: readonly Budget[] },
): Promise<void> {
  if (budgets.length === 0) return;
  const rows = budgets.map((budget, index) => ({
    ...budget,
    orgId,
    position: from + index,
    createdAt: instantText(budget.createdAt),
  }));
  await tx.insertInto('budgets').values(rows).execute();
}

/** Changes the given fields; the caller decides whether that arms the alert again (interface 4.14). */
export async function updateBudget(
  tx: Transaction,
  orgId: string,
  {
    id,
    ...changes
  }: Pick<Budget, 'id'> & Partial<Pick<Budget, 'label' | 'meterId' | 'maxCredits' | 'maxCreditsCents' | 'isExhausted'>>,
): Promise<void> {
  await tx.updateTable('budgets').set(changes).where('orgId', '=', orgId).where('id', '=', id).execute();
}

/** Removes the budget at a position; the ones behind it move up. */
export async function removeBudget(
  tx: Transaction,
  orgId: string,
  { contractId, position }: { readonly contractId: string; readonly position: number },
): Promise<void> {
  await tx
    .deleteFrom('budgets')
    .where('orgId', '=', orgId)
    .where('contractId', '=', contractId)
    .where('position', '=', BigInt(position))
    .execute();
  await tx
    .updateTable('budgets')
    .set((row) => ({ position: row('position', '-', 1n) }))
    .where('orgId', '=', orgId)
    .where('contractId', '=', contractId)
    .where('position', '>', BigInt(position))
    .execute();
}

function toBudget(row: Selectable<Database['budgets']>): Budget {
  const { id, contractId, label, eventPropertyKey, eventPropertyValue, meterId, maxCredits, maxCreditsCents } = row;
  return {
    id,
    contractId,
    label,
    eventPropertyKey,
    eventPropertyValue,
    meterId,
    maxCredits,
    maxCreditsCents,
    isExhausted: row.isExhausted === 1n,
    createdAt: Temporal.Instant.from(row.createdAt),
  };
}
