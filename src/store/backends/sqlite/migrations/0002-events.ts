/** Usage events: the effective version of each, and every superseded version. */

import { appendOnly, column, optional } from './columns.ts';
import type { Migration } from './migration.ts';

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
  '"version" INTEGER NOT NULL CHECK ("version" >= 1)',
];

const columnNames = [
  'orgId',
  'idempotencyKey',
  'id',
  'customerId',
  'contractId',
  'eventName',
  'timestampEpochMs',
  'propertiesJson',
  'receivedAtEpochMs',
  'isLate',
  'version',
];

const events = `CREATE TABLE "events" (${[
  sequence,
  ...shared,
  'UNIQUE ("orgId", "idempotencyKey")',
  'FOREIGN KEY ("orgId", "customerId") REFERENCES "customers" ("orgId", "id")',
  'FOREIGN KEY ("orgId", "contractId") REFERENCES "contracts" ("orgId", "id")',
].join(', ')}) STRICT`;

const eventVersions = `CREATE TABLE "eventVersions" (${[
  ...shared,
  'PRIMARY KEY ("orgId", "idempotencyKey", "version")',
  'FOREIGN KEY ("orgId", "idempotencyKey") REFERENCES "events" ("orgId", "idempotencyKey")',
].join(', ')}) STRICT, WITHOUT ROWID`;

/** An update of an event is either a new version or refused; the database itself keeps the version before. */
const versionsKept = [
  `CREATE TRIGGER "events_update" BEFORE UPDATE ON "events"
   WHEN NEW."version" <> OLD."version" + 1 OR NEW."orgId" <> OLD."orgId"
     OR NEW."idempotencyKey" <> OLD."idempotencyKey" OR NEW."seq" <> OLD."seq"
   BEGIN SELECT RAISE(ABORT, 'append-only: an event changes by a new version alone'); END`,
  `CREATE TRIGGER "events_keepVersion" AFTER UPDATE ON "events"
   BEGIN INSERT INTO "eventVersions" (${columnNames.map((name) => `"${name}"`).join(', ')})
     VALUES (${columnNames.map((name) => `OLD."${name}"`).join(', ')}); END`,
  `CREATE TRIGGER "events_delete" BEFORE DELETE ON "events"
   BEGIN SELECT RAISE(ABORT, 'append-only: an event cannot be removed'); END`,
];

export const usageEvents: Migration = {
  version: 2,
  statements: [
    events,
    eventVersions,
    'CREATE INDEX "events_customer" ON "events" ("orgId", "customerId", "timestampEpochMs")',
    'CREATE INDEX "events_late" ON "events" ("orgId") WHERE "isLate" = 1',
    ...versionsKept,
    ...appendOnly('eventVersions', 'a version of an event'),
  ],
};
