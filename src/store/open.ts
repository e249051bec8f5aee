/** Opens the store at a database URL: the one place that knows which backends there are. */

import { statSync } from 'node:fs';
import { resolve } from 'node:path';

import { databaseForms, pathOfFileUrl, refuseUnmeant } from '../database-url.ts';
import { BillingError, ConflictError, type DamagedError } from '../errors.ts';
import type { Inspection } from './inspection.ts';
import { readBookFacts, refuseUnfinished } from './records/book-facts.ts';
import type { Store, StoreOptions } from './store.ts';

/**
 * The store at `url`: a path, `file:…`, `sqlite:…`, `:memory:`, or `postgres://…` (`postgresql://…`). Makes a missing file with
 * its directory, or the tables in a server's database. `events` is a `clickhouse://…` URL; a book with events there needs it on
 * every opening. Throws a usage error for any other URL; NotFoundError for a missing file that is only to be read;
 * ConflictError if the events are elsewhere than stated, and for a copy that is not whole; UnavailableError if it cannot be
 * opened now; and an internal error if the database is damaged, of another application or of a newer version. That database
 * is left as it is.
 */
export async function openStore(url: string, options: StoreOptions = {}): Promise<Store> {
  if (options.events !== undefined) await refuseUnfit(options.events, options.readOnly !== true && isToBeMade(url));
  const store = await openBook(url, options);
  try {
    await refuseUnusable(store, options);
    if (options.events === undefined) return store;
    const { withEventsElsewhere } = await import('./events-elsewhere.ts');
    return await withEventsElsewhere(store, options.events, options.eventUpkeep?.longestTail);
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Before a database is made that would then be refused its events: a new book needs the server of its events at once. */
async function refuseUnfit(events: string, isNew: boolean): Promise<void> {
  const { clickhouseConnectionOf } = await import('./backends/clickhouse/url.ts');
  clickhouseConnectionOf(events);
  if (!isNew) return;
  const { connectClickhouse } = await import('./backends/clickhouse/connection.ts');
  const server = connectClickhouse(events);
  try {
    // As patient as what follows: a server that is far away, or wakes up, is slow to answer.
    await server.ask('SELECT 1');
  } finally {
    await server.close();
  }
}

/** Throws ConflictError if `store` has its events elsewhere and `events` is missing, or if it is a copy that is not whole. */
async function refuseUnusable(
  store: Store,
  { events, isCopying }: Pick<StoreOptions, 'events' | 'isCopying'>,
): Promise<void> {
  const facts = await store.read(readBookFacts);
  if (isCopying !== true) refuseUnfinished(facts, store.location);
  const { eventsElsewhere } = facts;
  if (eventsElsewhere === undefined || events !== undefined) return;
  throw new ConflictError(`the events of ${store.location} are in a separate database, which was not named`, {
    hint: 'name it with --events clickhouse://USER@HOST:8123/DATABASE, with TALLY_EVENTS, or in the profile',
  });
}

/** What can still be said of a database that was refused as damaged. */
export async function inspectDamagedStore(url: string, refusal: DamagedError): Promise<Inspection> {
  const { inspectDamaged } = await import('./backends/sqlite/inspection.ts');
  return inspectDamaged(resolve(pathOf(url)), refusal);
}

async function openBook(url: string, options: StoreOptions): Promise<Store> {
  if (isPostgresUrl(url)) {
    const { openPostgresStore } = await import('./backends/postgres/postgres.ts');
    return await openPostgresStore(url, options);
  }
  const path = pathOf(url);
  const { openSqliteStore } = await import('./backends/sqlite/sqlite.ts');
  return openSqliteStore(path, options);
}

/** Whether `url` names a database on a PostgreSQL server. */
export function isPostgresUrl(url: string): boolean {
  return url.includes('://') && /^postgres(?:ql)?:\/\//i.test(url);
}

/** Throws a usage error if TLS to the server at `url` would follow `mode`, the value of PGSSLMODE, and it is not a known mode. */
export async function refuseUnknownSslMode(url: string, mode: string | undefined): Promise<void> {
  if (mode === undefined || mode === '' || !isPostgresUrl(url)) return;
  const { refuseUnknownMode } = await import('./backends/postgres/url.ts');
  refuseUnknownMode(url, mode);
}

/** Whether opening `url` would make a new database file. */
export function isToBeMade(url: string): boolean {
  if (isPostgresUrl(url)) return false;
  try {
    return statSync(pathOf(url), { throwIfNoEntry: false }) === undefined;
  } catch {
    // If the path cannot be looked up, opening it will say why.
    return false;
  }
}

const schemeOfUrl = /^([a-z][a-z0-9+.-]+):/i;

/** The path that a database URL names. */
export function pathOf(url: string): string {
  const ofFile = pathOfFileUrl(url);
  if (ofFile !== undefined) return ofFile;
  const name = url.includes(':') ? schemeOfUrl.exec(url)?.[1]?.toLowerCase() : undefined;
  if (name === undefined) {
    refuseUnmeant(url);
    return url;
  }
  if (name === 'clickhouse') {
    throw new BillingError('usage', 'a database at clickhouse: keeps usage events, and not the books', {
      hint: 'give it as --events, beside the --database of the books',
    });
  }
  throw new BillingError('usage', `${name}: databases are not supported`, { hint: databaseForms });
}
