/** Kept usage whose events are dropped, and the instant from which an organization still has its events. */

import { column, references } from './columns.ts';
import type { PostgresMigration } from './migration.ts';

const { id, json, epochMilliseconds } = column;

const droppedBefore = `ALTER TABLE "organizations" ADD COLUMN ${epochMilliseconds('eventsDroppedBeforeEpochMs')} DEFAULT 0`;

/** What a meter read in one usage window of a contract. */
const frozenUsage = `CREATE TABLE "frozenUsage" (${[
  id('orgId'),
  id('contractId'),
  id('itemId'),
  epochMilliseconds('startEpochMs'),
  json('content'),
  'PRIMARY KEY ("orgId", "contractId", "itemId", "startEpochMs")',
  references('contractId', 'contracts'),
].join(', ')})`;

export const retention: PostgresMigration = { version: 3, statements: [droppedBefore, frozenUsage] };
