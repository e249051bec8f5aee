/** What writing a contract's ledger needs, in one reading: calls for credits are frequent, and most need no more. */

import type { Transaction } from '../database.ts';
import { type OfOrganization, prepared } from '../prepared.ts';
import { toCreditSettings } from './contracts.ts';
import type { Contract } from './contracts.ts';
import { oneRow, optionalInstant } from './row-values.ts';

/** Whose ledger it is. */
export type WalletHolder = Pick<Contract, 'id' | 'customerId' | 'creditSettings'>;

/** What is known of a contract's credits before its entries are read. */
export interface Wallet extends WalletHolder {
  /** Whether the contract has an end, its own or one that a cancellation set. */
  readonly hasEnd: boolean;
  /** The seal of the newest entry; undefined if there is none. */
  readonly head: string | undefined;
  /** The earliest expiry of a grant that is not settled yet. */
  readonly nextExpiryAt: Temporal.Instant | undefined;
}

/** The wallet of a contract; undefined for an id that the organization does not have. */
export async function findWallet(tx: Transaction, orgId: string, contractId: string): Promise<Wallet | undefined> {
  const [row] = await walletOfContract(tx, { orgId, contractId });
  if (row === undefined) return undefined;
  return {
    id: row.id,
    customerId: row.customerId,
    creditSettings: toCreditSettings(row.creditSettings),
    hasEnd: row.endDate !== null || row.effectiveEndDate !== null,
    head: row.head ?? undefined,
    nextExpiryAt: optionalInstant(row.nextExpiryAt),
  };
}

const walletOfContract = prepared(
  (tx, { orgId, contractId }: OfOrganization<'contractId'>) =>
    tx
      .selectFrom('contracts')
      .select((row) => [
        'id',
        'customerId',
        'creditSettings',
        'endDate',
        'effectiveEndDate',
        'nextExpiryAt',
        row
          .selectFrom('ledgerEntries')
          .select('hash')
          .where('ledgerEntries.orgId', '=', orgId)
          .where('ledgerEntries.contractId', '=', contractId)
          .orderBy('seq', 'desc')
          .limit(oneRow())
          .as('head'),
      ])
      .where('orgId', '=', orgId)
      .where('id', '=', contractId),
  { name: 'wallet', of: () => [{ orgId: '', contractId: '' }] },
);
