/**
 * The schema, step by step: forward only, in order, each step one transaction that also sets the version.
 * A released step is never edited; a change of the schema is a new file, a new line here, and `schemaVersion`.
 * A new database skips the steps: `npm run generate` writes their result to newest.json.
 */

import { billing } from './0001-billing.ts';
import { usageEvents } from './0002-events.ts';
import { webhooks } from './0003-webhooks.ts';
import { seals } from './0004-seals.ts';
import { dueWork } from './0005-due-work.ts';
import { eventLayout } from './0006-event-layout.ts';
import { eventsElsewhere } from './0007-events-elsewhere.ts';
import { retention } from './0008-retention.ts';
import { ledgerIndexes } from './0009-ledger-indexes.ts';
import { eventTail } from './0010-event-tail-runs.ts';
import { eventDays } from './0011-event-days.ts';
import { webhookQueue } from './0012-webhook-queue.ts';
import { invoiceStatus } from './0013-invoice-status.ts';
import { eventTailInPieces } from './0014-event-tail-pieces.ts';
import { ledgerByContract } from './0015-ledger-by-contract.ts';
import { ledgerKeys } from './0016-ledger-keys.ts';
import { nextExpiry } from './0017-next-expiry.ts';
import type { Migration } from './migration.ts';

export const migrations: readonly Migration[] = [
  billing,
  usageEvents,
  webhooks,
  seals,
  dueWork,
  eventLayout,
  eventsElsewhere,
  retention,
  ledgerIndexes,
  eventTail,
  eventDays,
  webhookQueue,
  invoiceStatus,
  eventTailInPieces,
  ledgerByContract,
  ledgerKeys,
  nextExpiry,
];
