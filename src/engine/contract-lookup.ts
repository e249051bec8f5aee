/** The contract that a path names. */

import { NotFoundError } from '../errors.ts';
import { findContract } from '../store/records/contracts.ts';
import type { Contract } from '../store/records/contracts.ts';
import type { CallContext } from './handler.ts';

/** The contract of an id; NotFoundError in the same words for an unknown id and for another tenant's. */
export async function getContract({ tx, orgId }: Pick<CallContext, 'tx' | 'orgId'>, id: string): Promise<Contract> {
  const contract = await findContract(tx, orgId, id);
  if (contract === undefined) {
    throw new NotFoundError('no contract has this id', { hint: 'see them with: tally contracts list' });
  }
  return contract;
}
