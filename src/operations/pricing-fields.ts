/** The fields of a price: as it is given, with what its model demands and refuses (semantics 3 and 5), and as it is shown. */

import * as z from 'zod';

import { limits } from '../limits.ts';
import { ruleIssue } from './cross-rules.ts';
import { decimalInput, integerInput, referenceTo, text, timestamp, uuid } from './fields.ts';
import { isMoreThanZero } from './field-rules.ts';
import { underRule } from './plain.ts';
import { billingModes, priceIntervals, pricingModels, tierings } from './wire-values.ts';

/** Tiers as they are given: an empty or absent maxQty means no end. */
export const tierInput = underRule(
  'tier',
  z.strictObject({
    minQty: decimalInput
      .optional()
      .describe('First quantity of the tier; follows from the previous tier when not given.'),
    maxQty: z
      .union([z.literal(''), decimalInput], { error: 'must be a decimal such as "12.50", or empty in the last tier' })
      .optional()
      .describe('Last quantity of the tier, included; empty in the last one.'),
    unitAmount: decimalInput.optional().describe('Price of one unit in USD.'),
    flatAmount: decimalInput.optional().describe('Amount owed once when the tier is used, in USD.'),
  }),
);

/** The body of `pricing.create`. */
export const pricingInput = z
  .strictObject({
    productId: referenceTo('products').optional().describe('Product that the price is for; or give productName.'),
    productName: text().optional().describe('Product by name; it is created when there is none.'),
    productDescription: text(limits.descriptionCharacters)
      .optional()
      .describe('Description of a product created by this call.'),
    name: text().describe('Name of the price.'),
    description: text(limits.descriptionCharacters).optional().describe('What the price is for.'),
    model: z.enum(pricingModels).describe('FLAT: quantity x unit; TIER: tiers on the plan quantity; USAGE: a meter.'),
    billingMode: z.enum(billingModes).default('RECURRING').describe('How often it is billed.'),
    tiering: z.enum(tierings).optional().describe('When not given: GRADUATED with tiers, NONE without.'),
    unitAmount: decimalInput
      .optional()
      .describe('Price of one unit in USD; required for FLAT. USAGE may leave it to the rate card of its meter.'),
    flatAmount: decimalInput.optional().describe('Amount owed each period, in USD.'),
    priceInterval: z.enum(priceIntervals).optional().describe('Required when RECURRING.'),
    priceIntervalCount: integerInput(1, limits.priceIntervalCount)
      .optional()
      .describe('Intervals in a period; 1 when not given.'),
    meterId: referenceTo('meters').optional().describe('Meter whose quantity is priced; required for USAGE.'),
    pricingTiers: z
      .array(tierInput)
      .min(1)
      .max(limits.pricingTiers)
      .meta({ flag: 'tier' })
      .optional()
      .describe('Tiers, ascending; the upper bound is included.'),
  })
  .superRefine((input, context) => {
    const { model, tiering, pricingTiers, unitAmount, meterId, productName, priceInterval } = input;
    const isTiered = model === 'TIER' || (tiering !== undefined && tiering !== 'NONE');
    const isOnce = input.billingMode === 'ONE_TIME';
    const hasInterval = priceInterval !== undefined || input.priceIntervalCount !== undefined;
    const rules: readonly (readonly [isBroken: boolean, field: keyof typeof input, message: string])[] = [
      [
        (input.productId === undefined) === (productName === undefined),
        'productId',
        'exactly one of productId and productName is required',
      ],
      [
        input.productDescription !== undefined && productName === undefined,
        'productDescription',
        'goes with productName only',
      ],
      [model === 'FLAT' && unitAmount === undefined, 'unitAmount', 'is required for FLAT'],
      [model === 'FLAT' && isTiered, 'tiering', 'must be NONE for FLAT'],
      [model === 'USAGE' && meterId === undefined, 'meterId', 'is required for USAGE'],
      [model !== 'USAGE' && meterId !== undefined, 'meterId', 'goes with USAGE only'],
      [isTiered && pricingTiers === undefined, 'pricingTiers', 'is required for a tiered price'],
      [model === 'TIER' && tiering === 'NONE', 'tiering', 'must be GRADUATED or VOLUME for TIER'],
      [
        pricingTiers !== undefined && (model === 'FLAT' || tiering === 'NONE'),
        'pricingTiers',
        'goes with a tiered price only',
      ],
      [pricingTiers !== undefined && unitAmount !== undefined, 'unitAmount', 'goes into the tiers of a tiered price'],
      [model === 'TIER' && isMoreThanZero(input.flatAmount), 'flatAmount', 'goes into the tiers of a TIER price'],
      [!isOnce && priceInterval === undefined, 'priceInterval', 'is required when RECURRING'],
      [isOnce && hasInterval, 'priceInterval', 'goes with RECURRING only'],
      [isOnce && model === 'USAGE', 'billingMode', 'must be RECURRING for USAGE'],
    ];
    for (const [isBroken, field, message] of rules) if (isBroken) context.addIssue(ruleIssue([field], message));
  });

/** A price as it is shown (interface 4.8). */
export const pricing = z.strictObject({
  id: uuid,
  productId: uuid,
  productName: z.string(),
  name: z.string(),
  model: z.enum(pricingModels),
  billingMode: z.enum(billingModes),
  tiering: z.enum(tierings),
  createdAt: timestamp,
  description: z.string().optional(),
  unitAmount: z.string().optional(),
  flatAmount: z.string().optional(),
  priceInterval: z.enum(priceIntervals).optional(),
  priceIntervalCount: z.int().optional(),
  meterId: uuid.optional(),
  pricingTiers: z
    .array(z.strictObject({ unitAmount: z.string(), minQty: z.string(), maxQty: z.string(), flatAmount: z.string() }))
    .optional(),
});
