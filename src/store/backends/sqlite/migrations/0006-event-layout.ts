/**
 * Events in rows of short integers, without an index over random keys. Derived from them: the keys by hash, and columns and
 * totals of each customer's day. All derived data can be rebuilt from the events.
 */

import { createKeyHashes } from '../events/key-hash.ts';
import { appendOnly, column } from './columns.ts';
import type { Migration, MigrationConnection } from './migration.ts';

const { sequence, id, text, flag, epochMilliseconds } = column;

/** The seq of a row of `table`. */
const seqOf = (name: string, table: string, isOptional = false): string =>
  `"${name}" INTEGER${isOptional ? '' : ' NOT NULL'} REFERENCES "${table}" ("seq")`;

const shared = [
  text('idempotencyKey'),
  id('id'),
  seqOf('customerSeq', 'customers'),
  seqOf('contractSeq', 'contracts', true),
  `"nameId" INTEGER NOT NULL REFERENCES "eventNames" ("id")`,
  epochMilliseconds('timestampEpochMs'),
  text('propertiesJson'),
  epochMilliseconds('receivedAtEpochMs'),
  flag('isLate'),
  '"version" INTEGER NOT NULL CHECK ("version" >= 1)',
];

const names = [
  'idempotencyKey',
  'id',
  'customerSeq',
  'contractSeq',
  'nameId',
  'timestampEpochMs',
  'propertiesJson',
  'receivedAtEpochMs',
  'isLate',
  'version',
];
const columnNames = names.map((name) => `"${name}"`).join(', ');

const tables = [
  `CREATE TABLE "eventNames" ("id" INTEGER PRIMARY KEY, "name" TEXT NOT NULL UNIQUE) STRICT`,
  `CREATE TABLE "events" (${[sequence, ...shared].join(', ')}) STRICT`,
  `CREATE TABLE "eventVersions" (${[seqOf('eventSeq', 'events'), ...shared, 'PRIMARY KEY ("eventSeq", "version")'].join(', ')}) STRICT, WITHOUT ROWID`,
  // Events in no segment, and keys in no run yet. Small, so that its pages stay in memory whatever the order of keys; without
  // references, because SQLite would empty a table with references row by row.
  `CREATE TABLE "eventTail" ("customerSeq" INTEGER NOT NULL, "timestampEpochMs" INTEGER NOT NULL,
    "eventSeq" INTEGER NOT NULL, PRIMARY KEY ("customerSeq", "timestampEpochMs", "eventSeq")) STRICT, WITHOUT ROWID`,
  `CREATE TABLE "eventKeyTail" ("hash" INTEGER NOT NULL, "eventSeq" INTEGER NOT NULL,
    PRIMARY KEY ("hash", "eventSeq")) STRICT, WITHOUT ROWID`,
  `CREATE TABLE "eventKeyRuns" ("id" INTEGER PRIMARY KEY, "level" INTEGER NOT NULL) STRICT`,
  // The hashes of a piece are sorted, and so are the pieces of a run.
  `CREATE TABLE "eventKeyPieces" ("id" INTEGER PRIMARY KEY, "runId" INTEGER NOT NULL REFERENCES "eventKeyRuns" ("id"),
    "firstHash" INTEGER NOT NULL, "data" BLOB NOT NULL, UNIQUE ("runId", "firstHash", "id")) STRICT`,
  `CREATE TABLE "eventSegments" ("id" INTEGER PRIMARY KEY, "customerSeq" INTEGER NOT NULL, "day" INTEGER NOT NULL,
    "part" INTEGER NOT NULL, "revision" INTEGER NOT NULL, "rowCount" INTEGER NOT NULL, "data" BLOB NOT NULL,
    UNIQUE ("customerSeq", "day", "part")) STRICT`,
  `CREATE TABLE "eventRules" ("id" INTEGER PRIMARY KEY, "rules" TEXT NOT NULL UNIQUE) STRICT`,
  // A row is obsolete once the segment has another revision.
  `CREATE TABLE "eventTotals" ("segmentId" INTEGER NOT NULL, "ruleId" INTEGER NOT NULL REFERENCES "eventRules" ("id"),
    "revision" INTEGER NOT NULL, "cells" TEXT NOT NULL, PRIMARY KEY ("segmentId", "ruleId")) STRICT`,
  `CREATE TABLE "eventUpkeep" ("id" INTEGER PRIMARY KEY CHECK ("id" = 1), "tailCount" INTEGER NOT NULL,
    "revision" INTEGER NOT NULL) STRICT`,
];

/** An update of an event is either a new version or refused; the database itself keeps the version before. */
const versionsKept = [
  `CREATE TRIGGER "events_update" BEFORE UPDATE ON "events"
   WHEN NEW."version" <> OLD."version" + 1 OR NEW."idempotencyKey" <> OLD."idempotencyKey" OR NEW."seq" <> OLD."seq"
   BEGIN SELECT RAISE(ABORT, 'append-only: an event changes by a new version alone'); END`,
  `CREATE TRIGGER "events_keepVersion" AFTER UPDATE ON "events"
   BEGIN INSERT INTO "eventVersions" ("eventSeq", ${columnNames})
     VALUES (OLD."seq", ${names.map((name) => `OLD."${name}"`).join(', ')}); END`,
  `CREATE TRIGGER "events_delete" BEFORE DELETE ON "events"
   BEGIN SELECT RAISE(ABORT, 'append-only: an event cannot be removed'); END`,
];

/** The new columns, from a row `old` of the old tables. */
const moved = `"old"."idempotencyKey", "old"."id", "customer"."seq", "contract"."seq", "name"."id",
  "old"."timestampEpochMs", "old"."propertiesJson", "old"."receivedAtEpochMs", "old"."isLate", "old"."version"`;
const movedFrom = (table: string): string => `"${table}" AS "old"
  JOIN "customers" AS "customer" ON "customer"."orgId" = "old"."orgId" AND "customer"."id" = "old"."customerId"
  LEFT JOIN "contracts" AS "contract" ON "contract"."orgId" = "old"."orgId" AND "contract"."id" = "old"."contractId"
  JOIN "eventNames" AS "name" ON "name"."name" = "old"."eventName"`;

export const eventLayout: Migration = {
  version: 6,
  statements: [
    ...['events_update', 'events_keepVersion', 'events_delete', 'eventVersions_update', 'eventVersions_delete'].map(
      (trigger) => `DROP TRIGGER "${trigger}"`,
    ),
    'DROP INDEX "events_customer"',
    'DROP INDEX "events_late"',
    'ALTER TABLE "eventVersions" RENAME TO "oldEventVersions"',
    'ALTER TABLE "events" RENAME TO "oldEvents"',
    ...tables,
    `INSERT INTO "eventNames" ("name")
     SELECT "eventName" FROM "oldEvents" UNION SELECT "eventName" FROM "oldEventVersions" ORDER BY 1`,
    `INSERT INTO "events" ("seq", ${columnNames}) SELECT "old"."seq", ${moved} FROM ${movedFrom('oldEvents')} ORDER BY "old"."seq"`,
    `INSERT INTO "eventVersions" ("eventSeq", ${columnNames}) SELECT "event"."seq", ${moved}
     FROM ${movedFrom('oldEventVersions')} JOIN "oldEvents" AS "event"
       ON "event"."orgId" = "old"."orgId" AND "event"."idempotencyKey" = "old"."idempotencyKey"`,
    `INSERT INTO "eventTail" SELECT "customerSeq", "timestampEpochMs", "seq" FROM "events"`,
    `INSERT INTO "eventUpkeep" SELECT 1, count(*), 0 FROM "events"`,
    'DROP TABLE "oldEventVersions"',
    'DROP TABLE "oldEvents"',
    `CREATE INDEX "events_late" ON "events" ("customerSeq") WHERE "isLate" = 1`,
    ...versionsKept,
    ...appendOnly('eventVersions', 'a version of an event'),
  ],
  fill: hashKeys,
};

function hashKeys(connection: MigrationConnection): void {
  const insert = connection.prepare('INSERT INTO "eventKeyTail" VALUES (?, ?)');
  const next = connection.prepare(
    `SELECT "event"."seq", "event"."idempotencyKey", "customer"."orgId" FROM "events" AS "event"
     JOIN "customers" AS "customer" ON "customer"."seq" = "event"."customerSeq"
     WHERE "event"."seq" > ? ORDER BY "event"."seq" LIMIT 1000`,
  );
  const keyHash = createKeyHashes();
  for (let rows = next.all(0n); rows.length > 0; rows = next.all(rows.at(-1)?.['seq'] ?? 0n)) {
    for (const { seq = 0n, idempotencyKey, orgId } of rows) {
      insert.run(keyHash(String(orgId), String(idempotencyKey)), seq);
    }
  }
}
