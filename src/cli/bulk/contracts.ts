/** The customers of many contracts, with few requests. */

import { NotFoundError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { Billing, ResponseBody } from '../../operations/index.ts';
import { everyRow } from '../every-row.ts';
import { createContractLookup } from '../operator/granting.ts';
import { ifTold } from '../session/if-told.ts';

/** Up to this number, the contracts are asked for one by one without a look at how many there are. */
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
  const all = (await isListShorter(billing, wanted.length)) ? await everyRow(billing, 'contracts.list') : undefined;
  const found = all ?? (await eachOf(billing, wanted));
  const customers = new Map(found.map(({ id, customerId }) => [id, customerId]));
  const lookUp = createContractLookup(billing);
  const byCustomer = Map.groupBy(found, ({ customerId }) => customerId);
  return {
    customerOf: (contractId) => customers.get(contractId),
    async siblingsOf(contractId) {
      if (all === undefined) return await lookUp(contractId);
      return (byCustomer.get(customers.get(contractId) ?? '') ?? []).map(({ id }) => id);
    },
  };
}

/** Whether the list of all contracts takes no more requests than one for each of so many. */
async function isListShorter(billing: Billing, count: number): Promise<boolean> {
  if (count <= askedOneByOne) return false;
  const { total } = (await billing.call('contracts.list', { query: { limit: '1' } })).body;
  return total <= count * limits.pageSize;
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
