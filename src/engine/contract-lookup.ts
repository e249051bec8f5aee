/** The contract that a path names, or only its wallet. */

import { findContract } from '../store/records/contracts.ts';
import type { Contract } from '../store/records/contracts.ts';
import { findWallet } from '../store/records/wallets.ts';
import type { Wallet } from '../store/records/wallets.ts';
import type { CallContext } from './handler.ts';
import { existing } from './refuse.ts';

const contracts = ['contract', 'contracts list'] as const;

/** The contract with this id; NotFoundError, in the same words for an unknown id and for another tenant's. */
export async function getContract({ tx, orgId }: Pick<CallContext, 'tx' | 'orgId'>, id: string): Promise<Contract> {
  return existing(await findContract(tx, orgId, id), ...contracts);
}

/** The wallet of the contract with this id; the same error. */
export async function getWallet({ tx, orgId }: Pick<CallContext, 'tx' | 'orgId'>, id: string): Promise<Wallet> {
  return existing(await findWallet(tx, orgId, id), ...contracts);
}
