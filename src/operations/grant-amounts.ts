/** What a grant comes to, for whoever judges a request before it is sent and for the engine. */

import { counted } from '../counted.ts';
import { InvalidInputError } from '../errors.ts';
import { limits } from '../limits.ts';
import { centsOfCredits, creditsText, microsOfText } from '../whole-amounts.ts';

/** As a parsed body has them. */
interface GivenAmounts {
  readonly amountCents?: bigint | undefined;
  readonly creditRateCents?: number | undefined;
  /** Decimal text. */
  readonly creditAmount?: string | undefined;
}

export interface GrantAmounts {
  readonly amountCents: bigint;
  readonly creditMicros: bigint;
  readonly creditRateCents: bigint;
}

/**
 * Dollar-only, or rated; with both modes given the amounts have to agree (semantics 9, Grant validation). Throws
 * InvalidInputError where they do not, or where the credits come to more than `limits.centsMaximum`.
 */
export function grantAmountsOf({ amountCents, creditRateCents, creditAmount }: GivenAmounts): GrantAmounts {
  if (creditAmount === undefined || creditRateCents === undefined) {
    return { amountCents: amountCents ?? 0n, creditMicros: 0n, creditRateCents: 0n };
  }
  const creditMicros = microsOfText(creditAmount);
  const rateCents = BigInt(creditRateCents);
  const derivedCents = centsOfCredits(creditMicros, rateCents);
  if (derivedCents > limits.centsMaximum) {
    throw refusal('creditAmount', `comes to ${derivedCents} cents, more than ${limits.centsMaximum}`);
  }
  if (amountCents !== undefined && amountCents !== derivedCents) {
    const product = `${creditsText(creditMicros)} at a rate of ${rateCents} come to ${counted(Number(derivedCents), 'cent')}`;
    throw refusal('amountCents', `contradicts the credits: ${product}`);
  }
  return { amountCents: derivedCents, creditMicros, creditRateCents: rateCents };
}

function refusal(path: string, message: string): InvalidInputError {
  return new InvalidInputError([{ path, message }]);
}
