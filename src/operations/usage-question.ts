/** Whose usage a question of cost is about, when, and which events; the same for a sum and for its parts (interface 4.18). */

import * as z from 'zod';

import { limits } from '../limits.ts';
import { comparedText, referenceTo, text, timestampInput } from './fields.ts';

/** The fields alone; what must be given together is the cross-rule `costQuestion`. */
export const costFields = {
  startDate: timestampInput.optional().describe('From this instant, included.'),
  endDate: timestampInput.optional().describe('Up to this instant, excluded.'),
  customerId: referenceTo('customers').optional().describe('Customer by id.'),
  externalCustomerId: referenceTo('externalCustomers').optional().describe('Customer by your own id.'),
  contractId: referenceTo('contracts').optional().describe('Contract: its prices, its dates.'),
  eventNames: z
    .array(text())
    .max(limits.usageEventNames)
    .meta({ flag: 'event-name' })
    .optional()
    .describe('Only meters of these events.'),
  propertyFilters: z
    .array(
      z.strictObject({
        key: text(limits.eventPropertyKeyCharacters),
        value: comparedText,
      }),
    )
    .max(limits.usagePropertyFilters)
    .meta({ flag: 'property-filter' })
    .optional()
    .describe('Only events with these properties.'),
};
