/** Kept usage whose events are dropped, and the instant from which an organization still has its events. */

import { column } from './columns.ts';
import type { Migration } from './migration.ts';

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
  'FOREIGN KEY ("orgId", "contractId") REFERENCES "contracts" ("orgId", "id")',
].join(', ')}) STRICT`;

export const retention: Migration = { version: 8, statements: [droppedBefore, frozenUsage] };
