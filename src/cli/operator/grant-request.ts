/** What a grant request asks for, in the terms in which policy, plan and journal speak. */

import type { CallInput } from '../../operations/operation.ts';
import { parseCall } from '../../operations/parse.ts';
import { centsOfCredits, microsOfText } from '../../whole-amounts.ts';

export interface GrantRequest {
  readonly contractId: string;
  readonly amountCents: bigint;
  /** Credits in millionths. */
  readonly creditMicros: bigint;
  readonly expiresAt: string;
  readonly description: string | undefined;
  readonly externalId: string | undefined;
  /** Whether this program made the external id, which then says nothing that a person wrote. */
  readonly hasMadeId?: boolean;
}

/** Throws what the service would throw for the request. */
export async function readGrant(input: CallInput): Promise<GrantRequest> {
  const { params, body } = await parseCall('credits.grant', input);
  const creditMicros = microsOfText(body.creditAmount ?? '0');
  return {
    contractId: params.contractId,
    amountCents:
      body.creditRateCents === undefined
        ? (body.amountCents ?? 0n)
        : centsOfCredits(creditMicros, BigInt(body.creditRateCents)),
    creditMicros,
    expiresAt: body.expiresAt,
    description: body.description,
    externalId: body.externalId,
  };
}
