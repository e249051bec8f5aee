/** A ledger entry as ledgers, reports and explanations show it (interface 2.8). */

import * as z from 'zod';

import { cents, exact, timestamp, uuid } from './fields.ts';
import type { Column } from './operation.ts';

/** What each means, and the sign of its `amountCents`: interface 4.16. */
export const ledgerEntryTypes = ['grant', 'usage', 'adjustment', 'reversal', 'expiration'] as const;
export type LedgerEntryType = (typeof ledgerEntryTypes)[number];

/** The fields that every entry has; the answer to a grant has more (interface 2.8). */
export const ledgerEntry = z.strictObject({
  id: uuid,
  type: z.enum(ledgerEntryTypes),
  amountCents: cents,
  creditAmount: exact,
  creditRateCents: cents,
  currency: z.string(),
  description: z.string(),
  sourceType: z.string(),
  invoiceId: z.string().nullable(),
  grantEntryId: z.string().nullable(),
  expiresAt: timestamp.nullable(),
  isPromotional: z.boolean(),
  createdAt: timestamp,
});

/** What a table shows of an entry. */
export const ledgerEntryColumns: readonly Column[] = [
  { header: 'ID', path: 'id' },
  { header: 'CREATED', path: 'createdAt', format: 'timestamp' },
  { header: 'TYPE', path: 'type' },
  { header: 'AMOUNT', path: 'amountCents', format: 'money' },
  { header: 'CREDITS', path: 'creditAmount', format: 'number' },
  { header: 'EXPIRES', path: 'expiresAt', format: 'timestamp' },
  { header: 'DESCRIPTION', path: 'description' },
];
