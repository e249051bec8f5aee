/**
 * The schema on PostgreSQL, step by step: forward only, in order, each step one transaction that also sets the version. The
 * versions are separate from another engine's, because other engines need other steps to the same tables.
 * A released step is never edited; a change of the schema is a new file, a new line here, and `postgresSchemaVersion`.
 */

import { billing } from './0001-billing.ts';
import { eventsElsewhere } from './0002-events-elsewhere.ts';
import { retention } from './0003-retention.ts';
import { ledgerIndexes } from './0004-ledger-indexes.ts';
import { webhookQueue } from './0005-webhook-queue.ts';
import { invoiceStatus } from './0006-invoice-status.ts';
import { nextExpiry } from './0007-next-expiry.ts';
import { eventDayMarks } from './0008-event-days.ts';
import type { PostgresMigration } from './migration.ts';

export const migrations: readonly PostgresMigration[] = [
  billing,
  eventsElsewhere,
  retention,
  ledgerIndexes,
  webhookQueue,
  invoiceStatus,
  nextExpiry,
  eventDayMarks,
];
