/** Whose usage a request asks about: a customer, or one contract of one. */

import { assert } from '../assert.ts';
import { InvalidInputError, namesNoMessage } from '../errors.ts';
import { type Contract, findContract } from '../store/records/contracts.ts';
import { findCustomer, findCustomerByExternalId } from '../store/records/customers.ts';
import type { CallContext } from './handler.ts';

export interface UsageSubjectInput {
  readonly customerId?: string | undefined;
  readonly externalCustomerId?: string | undefined;
  readonly contractId?: string | undefined;
}

export interface UsageSubject {
  readonly customerId: string;
  /** Absent where the whole customer was asked about. */
  readonly contract: Contract | undefined;
}

/**
 * What the identifiers name; the declaration asks for at least one. Throws InvalidInputError for one that names nothing
 * and for two that name different customers (semantics 11).
 */
export async function resolveSubject(
  context: Pick<CallContext, 'tx' | 'orgId'>,
  input: UsageSubjectInput,
): Promise<UsageSubject> {
  const contract = await resolveContract(context, input.contractId);
  return { customerId: await resolveCustomer(context, input, contract), contract };
}

/** The contract of an id in a body or query, where one is given; InvalidInputError for an unknown id. */
export async function resolveContract(
  { tx, orgId }: Pick<CallContext, 'tx' | 'orgId'>,
  id: string | undefined,
): Promise<Contract | undefined> {
  if (id === undefined) return undefined;
  const contract = await findContract(tx, orgId, id);
  if (contract === undefined)
    throw new InvalidInputError([{ path: 'contractId', message: namesNoMessage('contract') }]);
  return contract;
}

/** Every identifier that is given must name the same customer. */
async function resolveCustomer(
  { tx, orgId }: Pick<CallContext, 'tx' | 'orgId'>,
  { customerId, externalCustomerId }: UsageSubjectInput,
  contract: Contract | undefined,
): Promise<string> {
  let owner = contract?.customerId;
  const named = [
    { path: 'customerId', id: customerId, find: findCustomer },
    { path: 'externalCustomerId', id: externalCustomerId, find: findCustomerByExternalId },
  ];
  for (const { path, id, find } of named) {
    if (id === undefined) continue;
    const customer = await find(tx, orgId, id);
    if (customer === undefined) throw new InvalidInputError([{ path, message: namesNoMessage('customer') }]);
    owner ??= customer.id;
    if (customer.id === owner) continue;
    const other = contract === undefined ? 'customerId' : 'contractId';
    throw new InvalidInputError([{ path, message: `names another customer than ${other}` }]);
  }
  assert(owner !== undefined, 'the declaration asks for an identifier');
  return owner;
}
