/** Inspects the copy of a SQLite file. */

import { DatabaseSync } from 'node:sqlite';

import { counted } from '../../../counted.ts';
import type { BackedUp, BackedUpOrganization } from '../../../operations/backup-manifest.ts';
import { eventsElsewhereOf, refuseUnfinished } from '../../records/book-facts.ts';
import type { BookFacts } from '../../records/book-facts.ts';
import { hashOfHeads } from '../../records/hash-chain.ts';
import { meaningOf } from './errors.ts';
import { damagesOf, danglingReferences } from './inspection.ts';
import { checkOwnSchema } from './schema.ts';

export interface CopiedDatabase extends BackedUp {
  /** Empty for a sound copy; otherwise the other fields are worthless. */
  readonly damages: readonly string[];
}

/** The schema versions from which each of these exists. */
const versionWith = { events: 2, seals: 4, shortIds: 6, facts: 7 } as const;

/**
 * Inspects a copy of the database or backup at `source`; nobody else may have the copy open. Throws, naming `source`, if the
 * file is not a database of ours or comes from a newer program.
 */
export function readCopy(path: string, source: string): CopiedDatabase {
  let copy: DatabaseSync | undefined;
  try {
    copy = new DatabaseSync(path, { readOnly: true, readBigInts: true });
    // What is sorted here is held in memory anyway, and there may be no place for a temporary file.
    copy.exec('PRAGMA temp_store = MEMORY');
    const schemaVersion = Number(checkOwnSchema(copy, source));
    const damages = [...damagesOf(copy, 'integrity_check'), ...danglingRows(copy)];
    if (damages.length > 0) return { schemaVersion, organizations: [], damages };
    const facts = schemaVersion < versionWith.facts ? {} : factsOfBook(copy);
    refuseUnfinished(facts, source);
    return { schemaVersion, organizations: organizationsOf(copy, schemaVersion), ...eventsElsewhereOf(facts), damages };
  } catch (error) {
    throw meaningOf(error, source);
  } finally {
    copy?.close();
  }
}

function factsOfBook(copy: DatabaseSync): BookFacts {
  const rows = copy.prepare('SELECT "name", "content" FROM "bookFacts"').all();
  return Object.fromEntries(rows.map(({ name, content }) => [name, JSON.parse(content as string) as unknown]));
}

function danglingRows(copy: DatabaseSync): string[] {
  const { length } = danglingReferences(copy);
  if (length === 0) return [];
  return [`${counted(length, 'row')} ${length === 1 ? 'names a row that is' : 'name rows that are'} not there`];
}

function organizationsOf(copy: DatabaseSync, schemaVersion: number): BackedUpOrganization[] {
  const organizations = copy.prepare('SELECT "id", "name" FROM "organizations" ORDER BY "seq"').all();
  return organizations.map((row) => {
    const id = row['id'] as string;
    const count = (table: string) =>
      Number(copy.prepare(`SELECT count(*) AS "total" FROM "${table}" WHERE "orgId" = ?`).get(id)?.['total']);
    return {
      id,
      name: row['name'] as string,
      customerCount: count('customers'),
      contractCount: count('contracts'),
      invoiceCount: count('invoices'),
      entryCount: count('ledgerEntries'),
      eventCount: countEvents(copy, id, schemaVersion),
      ledgerHead: schemaVersion >= versionWith.seals ? ledgerHeadOf(copy, id) : '',
    };
  });
}

function countEvents(copy: DatabaseSync, orgId: string, schemaVersion: number): number {
  if (schemaVersion < versionWith.events) return 0;
  const owned =
    schemaVersion < versionWith.shortIds
      ? '"orgId" = ?'
      : '"customerSeq" IN (SELECT "seq" FROM "customers" WHERE "orgId" = ?)';
  return Number(copy.prepare(`SELECT count(*) AS "total" FROM "events" WHERE ${owned}`).get(orgId)?.['total']);
}

function ledgerHeadOf(copy: DatabaseSync, orgId: string): string {
  const rows = copy
    .prepare(
      `SELECT "contractId", "hash" FROM "ledgerEntries" WHERE "seq" IN
         (SELECT max("seq") FROM "ledgerEntries" WHERE "orgId" = ? GROUP BY "contractId") ORDER BY "contractId"`,
    )
    .all(orgId);
  return hashOfHeads(rows.map((row) => [row['contractId'] as string, row['hash'] as string]));
}
