/**
 * Copies a whole book from one database to another, of whichever engines. The source is one snapshot and is never written. The
 * target is empty, or the unfinished copy of the same source. Everything but events is copied in one transaction. Events follow
 * page by page, each page together with the place that it reaches, so that an interrupted copy goes on. The copy can be used
 * once both books were found equal.
 */

import { counted } from '../../counted.ts';
import { sha256Of } from '../../digest.ts';
import { BillingError, ConflictError, UnavailableError, reasonOfStop, reworded } from '../../errors.ts';
import type { CopyPlace, CopyReport } from '../../operations/maintenance.ts';
import { analyze, goOnCounting } from '../backends/postgres/whole-tables.ts';
import { mirrorFileError } from '../backends/sqlite/errors.ts';
import { ConstraintViolation } from '../constraint-violation.ts';
import type { Transaction } from '../database.ts';
import { isMirrorFile } from '../mirror-file.ts';
import { isPostgresUrl, pathOf } from '../open.ts';
import { rowsOfText } from '../raw-query.ts';
import { readBookFacts, removeBookFact, writeBookFact } from '../records/book-facts.ts';
import { listOrganizations } from '../records/organizations.ts';
import { readLedgerHead } from '../records/seals.ts';
import { readEventHead } from '../records/staged-events.ts';
import type { Store } from '../store.ts';
import { differences } from './book-differences.ts';
import { bookTables, copyTables, digestTables } from './book-tables.ts';
import { type Content, type End, openEnd, takeTime, usualPage } from './copy-end.ts';

export interface CopyOptions {
  readonly from: CopyPlace;
  readonly to: CopyPlace;
  readonly onProgress: (progress: { readonly done: number; readonly total: number }) => void;
  /** Events per transaction of the target. */
  readonly eventsAtOnce?: number | undefined;
}

/**
 * Throws a usage error if both are one database; ConflictError if the target has something that is not of this copy, or if the
 * source has changed since the copy began; a failed check if the source has rows that no database takes, or lacks events that it
 * had, or if the two are not equal in the end. The target then stays unfinished and cannot be used.
 */
export async function copyBook({ from, to, onProgress, eventsAtOnce = usualPage }: CopyOptions): Promise<CopyReport> {
  const source = await openEnd(from, { readOnly: true });
  try {
    return await source.store.read(async (tx) => {
      await takeTime(tx, source);
      const organizations = await organizationsOf(tx, source);
      // Opening the target may make it, and a source that is refused should leave nothing behind.
      const target = await openEnd(to, { isCopying: true });
      try {
        const tables = await digestTables(tx, source.readRows);
        const fingerprint = sha256Of(JSON.stringify(tables));
        const content = { organizations, tables };
        return await copySnapshot(tx, { source, target, content, fingerprint, onProgress, eventsAtOnce });
      } catch (error) {
        throw error instanceof ConstraintViolation ? forbiddenRows(source, error) : error;
      } finally {
        await target.close();
      }
    });
  } finally {
    await source.close();
  }
}

/** A new database refuses any row that somebody put into the old one past its rules. */
function forbiddenRows({ store }: End, cause: ConstraintViolation): BillingError {
  return new BillingError('checkFailed', `${store.location} has a row that its own rules forbid: ${cause.message}`, {
    cause,
    hint: 'check the source with doctor, and remove what there is of the copy',
  });
}

/** Throws BillingError `notOffered` for a place that can never take a book, as copying into it does. */
export function refuseMirror({ database }: CopyPlace): void {
  if (isMirrorFile(database)) throw mirrorFileError(pathOf(database));
}

/** What a copy would take, read from the source; writes nothing. */
export async function measureBook(from: CopyPlace): Promise<CopyReport> {
  const source = await openEnd(from, { readOnly: true });
  try {
    return await source.store.read(async (tx) => {
      await takeTime(tx, source);
      const organizations = await organizationsOf(tx, source);
      return reportOf({ organizations, tables: await digestTables(tx, source.readRows) });
    });
  } finally {
    await source.close();
  }
}

/** Throws for a source that cannot be copied. */
async function organizationsOf(tx: Transaction, { place, store }: End): Promise<Content['organizations']> {
  const known = await listOrganizations(tx);
  const dropped = known.find((each) => each.eventsDroppedBeforeEpochMs > 0);
  // Pages of events hold neither the keys of dropped events nor what an event was before it was replaced.
  if (dropped !== undefined) throw droppedError(store, dropped.name);
  return await Promise.all(
    known.map(async ({ id, name }) => {
      const eventCount = await eventCountOf(store, tx, id);
      // The copy numbers its events anew, so that nobody could tell any more that some are gone.
      const { lastPlace } = await readEventHead(tx, id);
      if (place.events !== undefined && eventCount !== lastPlace) throw missingEvents(name, { eventCount, lastPlace });
      return { id, name, eventCount, ledgerHead: await readLedgerHead(tx, id) };
    }),
  );
}

async function eventCountOf({ events }: Store, tx: Transaction, orgId: string): Promise<number> {
  return (await events.list(tx, { orgId, limit: 1, offset: 0 })).total;
}

function missingEvents(
  organization: string,
  { eventCount, lastPlace }: { readonly eventCount: number; readonly lastPlace: number },
): BillingError {
  return new BillingError(
    'checkFailed',
    `organization ${organization} has recorded ${counted(lastPlace, 'event')}, and ${eventCount} of them can be read`,
    { hint: 'check the source with doctor --full, and restore the database of its events from a backup' },
  );
}

function droppedError({ location }: Store, organization: string): ConflictError {
  return new ConflictError(`events of organization ${organization} in ${location} were dropped: it cannot be copied`, {
    hint: 'copy the book and the database of its events with their own tools, both as of the same time',
  });
}

function reportOf({ tables, organizations }: Content): CopyReport {
  return {
    tables: tables.map(({ table, rowCount }) => ({ table, rowCount })),
    organizations: organizations.map(({ name, eventCount, ledgerHead }) => ({ name, eventCount, ledgerHead })),
  };
}

interface Copying extends Pick<CopyOptions, 'onProgress'> {
  readonly eventsAtOnce: number;
  readonly source: End;
  readonly target: End;
  readonly content: Content;
  /** Tells a copy of this content from one of another book. */
  readonly fingerprint: string;
}

async function copySnapshot(tx: Transaction, copying: Copying): Promise<CopyReport> {
  const { source, target, content } = copying;
  const isFilled = await begin(tx, copying);
  if (isFilled) {
    if (await isOneDatabase(tx, source, target)) {
      throw new BillingError('usage', `${source.store.location} and ${target.store.location} are the same database`);
    }
    // A copy that was finished earlier, and interrupted while it was compared, is the same book.
    if (await isSameBook(tx, copying)) return reportOf(content);
    throw new ConflictError(`${target.store.location} already holds a book, which is never overwritten`, {
      hint: `give an empty database, or first remove ${target.store.location} if nothing in it is needed`,
    });
  }
  try {
    return await goOn(tx, copying);
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    throw reworded(error, `${reasonOfStop(error)}; what was copied to ${target.store.location} is kept`);
  }
}

/** Copies what is left, compares, and finishes the copy. */
async function goOn(tx: Transaction, copying: Copying): Promise<CopyReport> {
  const { target, content, onProgress } = copying;
  const total = content.organizations.reduce((sum, { eventCount }) => sum + eventCount, 0);
  let done = await target.store.read(async (to) => {
    const counts = await Promise.all(content.organizations.map(({ id }) => eventCountOf(target.store, to, id)));
    return counts.reduce((sum, count) => sum + count, 0);
  });
  for (const { id } of content.organizations) {
    await copyEvents(tx, id, copying, (copied) => {
      done += copied;
      onProgress({ done: Math.min(done, total), total });
    });
  }
  const problems = await differences(tx, copying);
  if (problems.length > 0) {
    throw new BillingError('checkFailed', `the copy at ${target.store.location} differs: ${problems.join('; ')}`, {
      hint: 'it cannot be used: remove it, make sure that nobody writes to either, and copy again',
    });
  }
  await target.store.write(async (to) => {
    await takeTime(to, target);
    await removeBookFact(to, 'unfinishedCopy');
    if (isPostgresUrl(target.place.database)) await analyze(to);
  });
  return reportOf(content);
}

/** Whether two URLs lead to one database of a server: they may name its host, its user or its settings in different ways. */
async function isOneDatabase(tx: Transaction, source: End, target: End): Promise<boolean> {
  if (!isPostgresUrl(source.place.database) || !isPostgresUrl(target.place.database)) return false;
  const [held] = await rowsOfText(
    tx,
    `SELECT "key"::text AS "key", pg_advisory_xact_lock("key")::text FROM (SELECT (random() * 1e15)::bigint AS "key") AS "picked"`,
  );
  const isFree = 'SELECT pg_try_advisory_xact_lock($1::bigint)::int AS "isFree"';
  const [found] = await target.store.read(async (to) => await rowsOfText(to, isFree, [held?.['key']]));
  return Number(found?.['isFree']) === 0;
}

/** A target with other organizations is told apart at once, without comparing rows. */
async function isSameBook(tx: Transaction, copying: Copying): Promise<boolean> {
  const { target, content } = copying;
  const found = await target.store.read(async (to) => (await listOrganizations(to)).map(({ id }) => id));
  const own = content.organizations.map(({ id }) => id);
  if (found.toSorted().join() !== own.toSorted().join()) return false;
  return (await differences(tx, copying)).length === 0;
}

/** Gives whether the target has a book that is not an unfinished copy. Otherwise begins the copy, or lets it go on. */
async function begin(tx: Transaction, { source, target, fingerprint }: Copying): Promise<boolean> {
  const { store, place } = target;
  return await store.write(async (to) => {
    await takeTime(to, target);
    const { unfinishedCopy } = await readBookFacts(to);
    if (unfinishedCopy !== undefined) {
      if (unfinishedCopy.source === fingerprint) return false;
      throw new ConflictError(
        `${store.location} is the unfinished copy of another book, or the book has changed since`,
        {
          hint: 'remove it, and copy to an empty database; let nobody write to the book in the meantime',
        },
      );
    }
    for (const [table] of bookTables) {
      const row = await to
        .selectFrom(table as 'organizations')
        .selectAll()
        .limit(1)
        .executeTakeFirst();
      if (row !== undefined) return true;
    }
    await writeBookFact(to, 'unfinishedCopy', { source: fingerprint, places: {} });
    await copyTables(tx, source.readRows, to);
    if (isPostgresUrl(place.database)) await goOnCounting(to);
    return false;
  });
}

/** Each page and the place that it reaches are written in one transaction: a page is there whole or not at all. */
async function copyEvents(
  tx: Transaction,
  orgId: string,
  { source, target, fingerprint, eventsAtOnce }: Copying,
  onCopied: (count: number) => void,
): Promise<void> {
  const { store } = target;
  let after = (await store.read(readBookFacts)).unfinishedCopy?.places[orgId] ?? 0;
  for (;;) {
    const page = await source.readPage(tx, orgId, { after, limit: eventsAtOnce });
    const last = page.at(-1);
    if (last === undefined) return;
    const before = after;
    await store.write(
      async (to) => {
        const { unfinishedCopy } = await readBookFacts(to);
        if (unfinishedCopy?.source !== fingerprint || (unfinishedCopy.places[orgId] ?? 0) !== before) {
          throw new ConflictError(`another command is copying to ${store.location} right now`, {
            hint: 'let it finish',
          });
        }
        const most = Math.max(...page.map(({ versions }) => versions.length));
        // First versions first: an event keeps the place at which it arrived.
        for (let version = 0; version < most; version += 1) {
          const events = page.flatMap(({ versions }) => versions[version] ?? []);
          await store.events.append(to, orgId, events, () => true);
        }
        const places = { ...unfinishedCopy.places, [orgId]: last.place };
        await writeBookFact(to, 'unfinishedCopy', { source: fingerprint, places });
      },
      { turn: orgId },
    );
    after = last.place;
    onCopied(page.length);
  }
}
