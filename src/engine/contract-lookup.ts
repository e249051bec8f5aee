/** The contract that a path names, or no more than its wallet. */

import { NotFoundError } from '../errors.ts';
import { findContract } from '../store/records/contracts.ts';
import type { Contract } from '../store/records/contracts.ts';
import { findWallet } from '../store/records/wallets.ts';
import type { Wallet } from '../store/records/wallets.ts';
import type { CallContext } from './handler.ts';

/** The contract of an id; NotFoundError in the same words for an unknown id and for another tenant's. */
export async function getContract({ tx, orgId }: Pick<CallContext, 'tx' | 'orgId'>, id: string): Promise<Contract> {
  return found(await findContract(tx, orgId, id));
}

/** The wallet of the contract of an id; the same error. */
export async function getWallet({ tx, orgId }: Pick<CallContext, 'tx' | 'orgId'>, id: string): Promise<Wallet> {
  return found(await findWallet(tx, orgId, id));
}

function found<T>(result: T | undefined): T {
  if (result !== undefined) return result;
  throw new NotFoundError('no contract has this id', { hint: 'see them with: tally contracts list' });
}
