/** Usage events of the first release: the effective version of each, and every superseded version. */

import { appendOnly, column, neverEmptied, optional, references, refuseWhere } from './columns.ts';

const { sequence, id, text, flag, epochMilliseconds } = column;

const shared = [
  id('orgId'),
  text('idempotencyKey'),
  id('id'),
  id('customerId'),
  optional(id('contractId')),
  text('eventName'),
  epochMilliseconds('timestampEpochMs'),
  // Not checked to be JSON a second time: this is the hot path, and the engine wrote the text itself.
  text('propertiesJson'),
  epochMilliseconds('receivedAtEpochMs'),
  flag('isLate'),
  '"version" bigint NOT NULL CHECK ("version" >= 1)',
];

export const names =
  'orgId idempotencyKey id customerId contractId eventName timestampEpochMs propertiesJson receivedAtEpochMs isLate version'.split(
    ' ',
  );

const eventTable = `CREATE TABLE "events" (${[
  sequence,
  ...shared,
  'PRIMARY KEY ("orgId", "idempotencyKey")',
  references('customerId', 'customers'),
  references('contractId', 'contracts'),
].join(', ')})`;

const versionTable = `CREATE TABLE "eventVersions" (${[
  ...shared,
  'PRIMARY KEY ("orgId", "idempotencyKey", "version")',
  'FOREIGN KEY ("orgId", "idempotencyKey") REFERENCES "events" ("orgId", "idempotencyKey")',
].join(', ')})`;

/** An update of an event is a new version or it is refused; the database itself keeps the one before. */
const versionsKept = [
  refuseWhere('events_update', {
    table: 'events',
    action: 'UPDATE',
    condition: `NEW."version" <> OLD."version" + 1 OR NEW."orgId" <> OLD."orgId"
      OR NEW."idempotencyKey" <> OLD."idempotencyKey" OR NEW."seq" <> OLD."seq"`,
    words: 'an event changes by a new version alone',
  }),
  refuseWhere('events_delete', {
    table: 'events',
    action: 'DELETE',
    condition: 'true',
    words: 'an event cannot be removed',
  }),
  ...neverEmptied('events', 'events'),
  `CREATE FUNCTION "tallybookKeepVersion"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
   BEGIN
     INSERT INTO "eventVersions" (${names.map((name) => `"${name}"`).join(', ')})
     VALUES (${names.map((name) => `OLD."${name}"`).join(', ')});
     RETURN NULL;
   END $$`,
  `CREATE TRIGGER "events_keepVersion" AFTER UPDATE ON "events"
   FOR EACH ROW EXECUTE FUNCTION "tallybookKeepVersion"()`,
];

export const events: readonly string[] = [
  eventTable,
  versionTable,
  'CREATE INDEX "events_customer" ON "events" ("orgId", "customerId", "timestampEpochMs", "seq")',
  'CREATE INDEX "events_arrival" ON "events" ("orgId", "seq")',
  'CREATE INDEX "events_late" ON "events" ("orgId", "seq") WHERE "isLate" = 1',
  ...versionsKept,
  ...appendOnly('eventVersions', 'a version of an event'),
];
