/** The customers of many contracts, with few requests. */

import { NotFoundError } from '../../errors.ts';
import type { Billing, ResponseBody } from '../../operations/index.ts';
import { everyRow } from '../every-row.ts';
import { createContractLookup } from '../operator/granting.ts';
import { ifTold } from '../session/if-told.ts';

/** Up to this number, one request for each contract is cheaper than the list of all. */
const askedOneByOne = 20;
const namedCustomers = 20;

type Contract = ResponseBody<'contracts.list'>['data'][number];

export interface Contracts {
  customerOf(contractId: string): string | undefined;
  /** Ids of all contracts of the same customer. */
  siblingsOf(contractId: string): Promise<readonly string[]>;
}

export async function loadContracts(billing: Billing, contractIds: readonly string[]): Promise<Contracts> {
  const wanted = [...new Set(contractIds)];
  const isFew = wanted.length <= askedOneByOne;
  const found = isFew ? await eachOf(billing, wanted) : await everyRow(billing, 'contracts.list');
  const customers = new Map(found.map(({ id, customerId }) => [id, customerId]));
  const lookUp = createContractLookup(billing);
  const byCustomer = Map.groupBy(found, ({ customerId }) => customerId);
  return {
    customerOf: (contractId) => customers.get(contractId),
    async siblingsOf(contractId) {
      if (isFew) return await lookUp(contractId);
      return (byCustomer.get(customers.get(contractId) ?? '') ?? []).map(({ id }) => id);
    },
  };
}

async function eachOf(billing: Billing, ids: readonly string[]): Promise<Contract[]> {
  const found: Contract[] = [];
  for (const contractId of ids) {
    try {
      found.push((await billing.call('contracts.get', { params: { contractId } })).body.data);
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
    }
  }
  return found;
}

/** Names of the first customers; those that cannot be read have none. */
export async function namesOf(billing: Billing, customerIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  await ifTold(async () => {
    for (const customerId of customerIds.slice(0, namedCustomers)) {
      names.set(customerId, (await billing.call('customers.get', { params: { customerId } })).body.data.name);
    }
  });
  return names;
}
