/** What a grant request asks for, in the terms in which policy, plan and journal speak. */

import type { CallInput } from '../../operations/operation.ts';
import { parseCall } from '../../operations/parse.ts';

export interface GrantRequest {
  readonly contractId: string;
  readonly amountCents: bigint;
  /** Credits in millionths. */
  readonly creditMicros: bigint;
  readonly expiresAt: string;
  readonly description: string | undefined;
  readonly externalId: string | undefined;
}

/** Throws what the service would say of the request. */
export async function readGrant(input: CallInput): Promise<GrantRequest> {
  const { params, body } = await parseCall('credits.grant', input);
  const creditMicros = microsOf(body.creditAmount ?? '0');
  return {
    contractId: params.contractId,
    amountCents:
      body.creditRateCents === undefined ? (body.amountCents ?? 0n) : worth(creditMicros, body.creditRateCents),
    creditMicros,
    expiresAt: body.expiresAt,
    description: body.description,
    externalId: body.externalId,
  };
}

/**
 * Millionths of a decimal text with at most six decimals. Not by wire/amounts.ts, which brings a library for what services
 * answer: every write loads this file.
 */
export function microsOf(credits: string): bigint {
  const [whole = '', fraction = ''] = credits.split('.');
  return BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0'));
}

/** The text of millionths without superfluous zeros: 1500000 is 1.5. */
export function creditsOf(micros: bigint): string {
  const fraction = (micros % 1_000_000n).toString().padStart(6, '0').replace(/0+$/, '');
  return `${micros / 1_000_000n}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Cents of credits at a rate, rounded half-up (semantics 9, Precision). */
function worth(creditMicros: bigint, rateCents: number): bigint {
  return (creditMicros * BigInt(rateCents) + 500_000n) / 1_000_000n;
}
