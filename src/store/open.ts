/** From a database URL to a store: the one place that knows which backends there are. */

import { statSync } from 'node:fs';
import { resolve } from 'node:path';

import { pathOfFileUrl, refuseUnmeant } from '../database-url.ts';
import { BillingError, ConflictError, type DamagedError } from '../errors.ts';
import type { Inspection } from './inspection.ts';
import { readBookFacts, refuseUnfinished } from './records/book-facts.ts';
import type { Store, StoreOptions } from './store.ts';

/**
 * The store at `url`: a path, `file:…`, `sqlite:…`, `:memory:`, or `postgres://…` (`postgresql://…`). Makes the file, and its
 * directory, where there is none, or the tables in a database of a server. `events` is a `clickhouse://…` URL; it is given on
 * every opening of a book that has its events there. Throws a usage error for a URL of another kind, NotFoundError where a
 * file is only to be read and there is none, ConflictError where the events are not where it was said and for a copy that is
 * not whole, UnavailableError for what cannot be opened now, and an internal error for what is damaged, of another
 * application or of a newer version; that is left as it is.
 */
export async function openStore(url: string, options: StoreOptions = {}): Promise<Store> {
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

/** Throws ConflictError where the events of `store` are not in it and not named, and where it is a copy that is not whole. */
async function refuseUnusable(
  store: Store,
  { events, isCopying }: Pick<StoreOptions, 'events' | 'isCopying'>,
): Promise<void> {
  const facts = await store.read(readBookFacts);
  if (isCopying !== true) refuseUnfinished(facts, store.location);
  const { eventsElsewhere } = facts;
  if (eventsElsewhere === undefined || events !== undefined) return;
  throw new ConflictError(`the events of ${store.location} are in a database of their own, which was not named`, {
    hint: 'name it: --events clickhouse://USER@HOST:8123/DATABASE, TALLY_EVENTS, or in the profile',
  });
}

/** Of a database that was refused as damaged: what can be said of it all the same. */
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

/** Whether opening `url` would make a database of a file that is not there. */
export function isToBeMade(url: string): boolean {
  if (isPostgresUrl(url)) return false;
  try {
    return statSync(pathOf(url), { throwIfNoEntry: false }) === undefined;
  } catch {
    // What cannot be looked for is for the opening to explain.
    return false;
  }
}

const schemeOfUrl = /^([a-z][a-z0-9+.-]+):/i;

/** The path that a database URL names. */
export function pathOf(url: string): string {
  if (url === '') throw usageError('the database URL is empty');
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
  throw usageError(`databases at ${name}: are not known here`);
}

function usageError(message: string): BillingError {
  return new BillingError('usage', message, {
    hint: 'give the path of a file, such as ./billing.db, or postgres://USER@HOST/DATABASE',
  });
}
