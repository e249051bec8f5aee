/** Facts about a book as a whole, and what a book stores of events that live in another database. */

import { column } from './columns.ts';
import type { Migration } from './migration.ts';

const { id, text, json, count } = column;

const bookFacts = `CREATE TABLE "bookFacts" (${[text('name'), json('content'), 'PRIMARY KEY ("name")'].join(', ')}) STRICT,
  WITHOUT ROWID`;

/** How far the events of an organization are recorded, and how far they have moved to their database. */
const eventHeads = `CREATE TABLE "eventHeads" (${[
  id('orgId'),
  count('lastPlace'),
  count('lastBatch'),
  count('movedBatch'),
  'PRIMARY KEY ("orgId")',
  'CHECK ("movedBatch" <= "lastBatch")',
  'FOREIGN KEY ("orgId") REFERENCES "organizations" ("id")',
].join(', ')}) STRICT, WITHOUT ROWID`;

/** Events that are recorded and have yet to move. */
const stagedEvents = `CREATE TABLE "stagedEvents" (${[
  id('orgId'),
  count('batch'),
  json('events'),
  'PRIMARY KEY ("orgId", "batch")',
  'FOREIGN KEY ("orgId") REFERENCES "organizations" ("id")',
].join(', ')}) STRICT`;

export const eventsElsewhere: Migration = { version: 7, statements: [bookFacts, eventHeads, stagedEvents] };
