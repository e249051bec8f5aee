/** What a grant request asks for, in the terms in which policy, plan and journal speak. */

import type { CallInput } from '../../operations/operation.ts';
import { grantAmountsOf } from '../../operations/grant-amounts.ts';
import { parseCall } from '../../operations/parse.ts';
import { grantOperation, purchaseOperation } from './grant-history.ts';

export interface GrantValue {
  readonly contractId: string;
  readonly amountCents: bigint;
  /** Credits in millionths. */
  readonly creditMicros: bigint;
}

export interface GrantRequest extends GrantValue {
  readonly expiresAt: string;
  readonly description: string | undefined;
  readonly externalId: string | undefined;
  /** Whether this program made the external id, which then says nothing that a person wrote. */
  readonly isGeneratedId?: boolean;
}

/** Throws what the service would throw for the request. */
export async function readGrant(input: CallInput): Promise<GrantRequest> {
  const { params, body } = await parseCall(grantOperation, input);
  return {
    contractId: params.contractId,
    ...grantAmountsOf(body),
    expiresAt: body.expiresAt,
    description: body.description,
    externalId: body.externalId,
  };
}

/** Throws what the service would throw for the request. */
export async function readPurchase(input: CallInput): Promise<GrantValue> {
  const { params, body } = await parseCall(purchaseOperation, input);
  return { contractId: params.contractId, ...grantAmountsOf(body) };
}
