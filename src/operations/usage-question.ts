/** Whose usage a cost is asked of, of when, and of which events; the same for a sum and for its parts (interface 4.18). */

import * as z from 'zod';

import { limits } from '../limits.ts';
import { referenceTo, text, timestampInput } from './fields.ts';
import { ruleIssue } from './parse.ts';

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
        value: z.string().max(limits.eventPropertyValueCharacters),
      }),
    )
    .max(limits.usagePropertyFilters)
    .meta({ flag: 'property-filter' })
    .optional()
    .describe('Only events with these properties.'),
};

interface CostQuestion {
  readonly customerId?: string | undefined;
  readonly externalCustomerId?: string | undefined;
  readonly contractId?: string | undefined;
  readonly startDate?: string | undefined;
  readonly endDate?: string | undefined;
}

/** Someone is named, and a time unless a contract has one. */
export function checkQuestion(input: CostQuestion, context: z.core.$RefinementCtx): void {
  if (input.customerId === undefined && input.externalCustomerId === undefined && input.contractId === undefined) {
    context.addIssue(ruleIssue(['customerId'], 'one of customerId, externalCustomerId and contractId is required'));
  }
  if (input.contractId === undefined && input.startDate === undefined) {
    context.addIssue(ruleIssue(['startDate'], 'is required unless contractId is given'));
  }
  if (input.contractId === undefined && input.endDate === undefined) {
    context.addIssue(ruleIssue(['endDate'], 'is required unless contractId is given'));
  }
  if (input.startDate !== undefined && input.endDate !== undefined && input.startDate >= input.endDate) {
    context.addIssue(ruleIssue(['endDate'], 'must be after startDate'));
  }
}
