/** What a grant is made of, promotional or paid (interface 4.15; semantics 9). */

import * as z from 'zod';

import { limits } from '../limits.ts';
import { isStorableThroughout } from './field-rules.ts';
import {
  centsInput,
  comparedText,
  creditsInput,
  integerInput,
  memberName,
  membersInput,
  namedInNfc,
  referenceTo,
  text,
  withinBytes,
} from './fields.ts';

const anyOf = <T extends z.ZodType>(value: T) => z.array(value).min(1).max(limits.grantSpecifierValues);

/** Which usage a grant pays for: OR inside a list, AND across members; `{}` is all usage (semantics 9). Within 16 KiB of JSON. */
const specifiersInput = z
  .strictObject({
    meterIds: anyOf(referenceTo('meters')).optional(),
    productIds: anyOf(referenceTo('products')).optional(),
    pricingIds: anyOf(referenceTo('pricing')).optional(),
    eventNames: anyOf(text()).optional(),
    properties: membersInput({
      keys: limits.meterGroupKeys,
      keyCharacters: limits.eventPropertyKeyCharacters,
      value: z.union([comparedText, anyOf(comparedText)], {
        error: `must be text or a list of 1 to ${limits.grantSpecifierValues} texts`,
      }),
    }).optional(),
  })
  .refine(...withinBytes(limits.grantSpecifiersBytes));

/** Any JSON within 16 KiB, with the two reserved names dropped (interface 4.15, semantics 9). */
const metadataInput = z
  .record(memberName(limits.nameCharacters), z.unknown())
  .transform((metadata, context) => {
    const { isPromotional: _promotional, deductionBatchId: _batch, ...kept } = namedInNfc(metadata, context);
    return kept;
  })
  .refine(
    (metadata) => Object.keys(metadata).length <= limits.grantMetadataKeys,
    `must have at most ${limits.grantMetadataKeys} keys`,
  )
  .refine(isStorableThroughout, 'must be well-formed Unicode without NUL throughout')
  .refine(...withinBytes(limits.grantMetadataBytes))
  .meta({ type: 'object', 'x-members': true });

/** All but its expiry. */
export const grantFields = {
  amountCents: centsInput().optional().describe('Dollar-only grant: its amount in cents.'),
  creditRateCents: integerInput(0, limits.creditRateCents)
    .optional()
    .describe('Cents per credit, 0 for free credits; goes with creditAmount.'),
  creditAmount: creditsInput('above 0').optional().describe('Credits to grant; goes with creditRateCents.'),
  description: text(limits.grantDescriptionCharacters).optional().describe('Why; kept in the ledger.'),
  externalId: text(limits.grantExternalIdCharacters)
    .optional()
    .describe('Idempotency key: the same key never grants twice.'),
  specifiers: specifiersInput.optional().describe('Which usage the grant pays for; all when not given.'),
  metadata: metadataInput.optional().describe('Anything of your own.'),
};
