/** What a check of the books found, as data: what `doctor` and `credits verify` answer. */

import * as z from 'zod';

import { timestamp } from './fields.ts';

/** One thing that a check found, and what to do about it. */
export const finding = z.strictObject({
  /** Name of the check: `burn-order`. */
  check: z.string(),
  /** The books are wrong, or something is worth a look. */
  severity: z.enum(['error', 'warning']),
  /** What breaks the rule: an entry, an invoice, a contract, an event's key, an organization or a file. */
  objectId: z.string(),
  problem: z.string(),
  /** What to do next. */
  fix: z.string(),
});
export type Finding = z.output<typeof finding>;

/** The books of one contract. */
export const verification = z.strictObject({
  contractId: z.string(),
  checkedAt: timestamp,
  entryCount: z.int(),
  invoiceCount: z.int(),
  /** Seal of the newest ledger entry: the same as long as nothing is written. Empty where no entries are or can be read. */
  ledgerHead: z.string(),
  findings: z.array(finding),
});
export type Verification = z.output<typeof verification>;

/** A whole database. */
export interface Examination {
  readonly database: string;
  readonly schemaVersion: number;
  readonly checkedAt: string;
  readonly isFull: boolean;
  readonly organizations: readonly ExaminedOrganization[];
  /** At most `limits.findingsPerCheck` of each check. */
  readonly findings: readonly Finding[];
  /** How many there are in all. */
  readonly findingCount: number;
}

/** How much there was to look at in an organization; the counts are of all it has. */
export interface ExaminedOrganization {
  readonly id: string;
  readonly name: string;
  readonly contractCount: number;
  readonly invoiceCount: number;
  readonly entryCount: number;
  /** One seal over all ledgers, as a backup's manifest keeps it. */
  readonly ledgerHead: string;
  /** Where events were dropped: invoices for usage from before are compared with what was frozen of it, not with a recount. */
  readonly eventsDroppedBefore?: string;
}
