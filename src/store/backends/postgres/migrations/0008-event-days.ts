/**
 * A mark for each day of a customer that has events, new whenever one of its events is: who read the day need not read it again.
 * Triggers on events write to the schema of the table that fires them, though it was renamed under the session that writes.
 */

import { names as columnsOfEvents } from './0001-events.ts';
import { column } from './columns.ts';
import type { PostgresMigration } from './migration.ts';

/** It refers to nothing: it follows the events, which do, and an upgrade has to come through whatever they are. */
const eventDays = `CREATE TABLE "eventDays" (${[
  column.id('orgId'),
  column.id('customerId'),
  column.count('day'),
  '"mark" uuid NOT NULL',
  'PRIMARY KEY ("orgId", "customerId", "day")',
].join(', ')})`;

/** By random marks, so that none comes again: not after a rollback, and not in a database that is restored in the same place. */
const markDaysOf = (events: string): string => `INSERT INTO "eventDays" ("orgId", "customerId", "day", "mark")
  SELECT "orgId", "customerId", "day", gen_random_uuid() FROM (
    SELECT DISTINCT "orgId", "customerId", "timestampEpochMs" / 86400000 AS "day" FROM "${events}"
  ) AS "changedDay" ORDER BY "orgId", "customerId", "day"
  ON CONFLICT ("orgId", "customerId", "day") DO UPDATE SET "mark" = excluded."mark"`;

const keepVersion = `INSERT INTO "eventVersions" (${columnsOfEvents.map((name) => `"${name}"`).join(', ')})
  VALUES (${columnsOfEvents.map((name) => `OLD."${name}"`).join(', ')})`;

/** The path is undone where the function ends, because it has one of its own. */
const writer = (name: string, statement: string): string =>
  `CREATE OR REPLACE FUNCTION "${name}"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
   BEGIN
     PERFORM set_config('search_path', quote_ident(TG_TABLE_SCHEMA) || ', pg_temp', true);
     ${statement};
     RETURN NULL;
   END $$`;

const trigger = (name: string, action: string, rows: string): string =>
  `CREATE TRIGGER "events_${name}" AFTER ${action} ON "events" REFERENCING ${rows} TABLE AS "changed"
   FOR EACH STATEMENT EXECUTE FUNCTION "tallybookMarkDays"()`;

export const eventDayMarks: PostgresMigration = {
  version: 8,
  statements: [
    eventDays,
    markDaysOf('events'),
    writer('tallybookKeepVersion', keepVersion),
    writer('tallybookMarkDays', markDaysOf('changed')),
    trigger('markNew', 'INSERT', 'NEW'),
    trigger('markReplacing', 'UPDATE', 'NEW'),
    trigger('markReplaced', 'UPDATE', 'OLD'),
  ],
};
