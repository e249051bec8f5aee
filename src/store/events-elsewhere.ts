/**
 * A book whose events live in a database of their own. The book knows that database by an id, so that it is never billed
 * without its events or with those of another book.
 */

import { BillingError, ConflictError, UnavailableError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { ClickhouseServer } from './backends/clickhouse/connection.ts';
import type { EventTable } from './backends/clickhouse/tables.ts';
import type { Transaction } from './database.ts';
import { type BookFacts, readBookFacts, writeBookFact } from './records/book-facts.ts';
import { listStagedBatches, listStagedOrganizations, readEventHead } from './records/staged-events.ts';
import type { Store } from './store.ts';

/**
 * `store`, with its events at `url`. Makes the tables there, and claims an empty database for the book. If the book has events
 * there and the server is away for now, opening still succeeds; the database is then checked before events are first needed.
 */
export async function withEventsElsewhere(
  store: Store,
  url: string,
  mostStaged: number = limits.stagedEvents,
): Promise<Store> {
  const { connectClickhouse } = await import('./backends/clickhouse/connection.ts');
  const { createClickhouseEventStore } = await import('./backends/clickhouse/events.ts');
  const connected = connectClickhouse(url);
  let server = connected;
  try {
    const check = await attach(store, connected);
    if (check !== undefined) server = checkedFirst(connected, check);
  } catch (error) {
    await connected.close();
    throw error;
  }
  let closing: Promise<void> | undefined;
  let hasRecorded = false;
  const events = createClickhouseEventStore(server, mostStaged);
  const close = async (): Promise<void> => {
    try {
      if (hasRecorded) await moveStaged(store, server).catch(leaveStaged);
    } finally {
      await Promise.allSettled([store.close(), server.close()]);
    }
  };
  return {
    location: store.location,
    copyBefore: store.copyBefore,
    get isReadOnly() {
      return store.isReadOnly;
    },
    events: {
      ...events,
      append: async (...given) => {
        hasRecorded = true;
        return await events.append(...given);
      },
    },
    get pendingTransactions() {
      return store.pendingTransactions;
    },
    read: async (query) => await store.read(query),
    write: async (change, options) => await store.write(change, options),
    noteNewest: store.noteNewest,
    forgetNewest: store.forgetNewest,
    exclusively: async (name, work) => await store.exclusively(name, work),
    inspect: async (options) => await store.inspect(options),
    close: async () => await (closing ??= close()),
  };
}

type Check = () => Promise<void>;

/** The check that has to pass before the server is used, if the server is away for now; otherwise checks at once. */
async function attach(store: Store, server: ClickhouseServer): Promise<Check | undefined> {
  const { facts, hasMoved } = await store.read(stateOf);
  const check: Check = async () => await refuseOtherBook(server, facts, store.location);
  if (facts.eventsElsewhere !== undefined) {
    if (await isAway(server)) return check;
    if (store.isReadOnly || hasMoved || (await isKnownTo(server, facts))) {
      await check();
      return undefined;
    }
  }
  if (store.isReadOnly) {
    throw new ConflictError(`the events of ${store.location} are in it, and not at ${server.location}`, {
      hint: 'leave out --events, or open the book once where it is writable',
    });
  }
  const { prepareTables } = await import('./backends/clickhouse/tables.ts');
  await store.read(async (tx) => await refuseOwnEvents(store, tx, server));
  await prepareTables(server);
  // The book's lock also keeps other processes from giving that database another id meanwhile.
  await store.write(async (tx) => {
    const now = await stateOf(tx);
    if (now.facts.eventsElsewhere !== undefined && (now.hasMoved || (await isKnownTo(server, now.facts)))) return;
    await refuseOwnEvents(store, tx, server);
    await writeBookFact(tx, 'eventsElsewhere', { bookId: await takeEmpty(server) });
  });
  await refuseOtherBook(server, await store.read(readBookFacts), store.location);
  return undefined;
}

/** Whether the server does not answer, for a reason that may pass by itself. */
async function isAway(server: ClickhouseServer): Promise<boolean> {
  try {
    await server.checkAnswers();
    return false;
  } catch (error) {
    if (error instanceof UnavailableError && error.retryAfterSeconds !== undefined) return true;
    throw error;
  }
}

/** The server, used for nothing before `check` has passed once. */
function checkedFirst(server: ClickhouseServer, check: Check): ClickhouseServer {
  let hasPassed = false;
  const pass = async (): Promise<void> => {
    if (!hasPassed) await check().catch(refuseFromNowOn);
    hasPassed = true;
  };
  const checked =
    <Given extends readonly unknown[], T>(work: (...given: Given) => Promise<T>) =>
    async (...given: Given): Promise<T> => {
      await pass();
      return await work(...given);
    };
  return {
    ...server,
    ask: checked(server.ask),
    insert: checked(server.insert),
    run: checked(server.run),
    async checkAnswers() {
      await server.checkAnswers();
      await pass();
    },
  };
}

/** The call that first meets the events of another book is not at fault: it gets an UnavailableError. */
function refuseFromNowOn(error: unknown): never {
  if (!(error instanceof ConflictError)) throw error;
  const hint = error.hint === undefined ? {} : { hint: error.hint };
  throw new UnavailableError(error.message, { cause: error, ...hint });
}

/**
 * A book that has moved no events yet may take another empty database. Another book may have taken its first one, which looked
 * empty as well.
 */
async function stateOf(tx: Transaction): Promise<{ readonly facts: BookFacts; readonly hasMoved: boolean }> {
  const moved = await tx.selectFrom('eventHeads').select('orgId').where('movedBatch', '>', 0n).limit(1).execute();
  return { facts: await readBookFacts(tx), hasMoved: moved.length > 0 };
}

/** Gives a database of events an id, unless it holds events. */
async function takeEmpty(server: ClickhouseServer): Promise<string> {
  const { tablesOfBook } = await import('./backends/clickhouse/tables.ts');
  const counts = tablesOfBook.map((name) => `(SELECT count() FROM ${name})`);
  const [taken] = await server.ask(`SELECT ${counts.join(' + ')} AS total`);
  if (Number(taken?.['total']) > 0) {
    throw new ConflictError(`${server.location} has the events of another book`, {
      hint: 'give an empty database; to take a book with its events elsewhere: tally copy',
    });
  }
  await server.run('TRUNCATE TABLE tallybookBook');
  await server.run('INSERT INTO tallybookBook SELECT toString(generateUUIDv4())');
  const [book] = await server.ask('SELECT bookId FROM tallybookBook');
  return String(book?.['bookId']);
}

/** Whether the database of events carries the id of this book. */
async function isKnownTo(server: ClickhouseServer, { eventsElsewhere }: BookFacts): Promise<boolean> {
  const books = (await hasTable(server, 'tallybookBook')) ? await server.ask('SELECT bookId FROM tallybookBook') : [];
  return books.some((book) => book['bookId'] === eventsElsewhere?.bookId);
}

async function hasTable(server: ClickhouseServer, name: EventTable): Promise<boolean> {
  const question = 'SELECT name FROM system.tables WHERE database = currentDatabase() AND name = {name:String}';
  return (await server.ask(question, { name })).length > 0;
}

async function refuseOtherBook(server: ClickhouseServer, facts: BookFacts, location: string): Promise<void> {
  if (!(await isKnownTo(server, facts))) {
    throw new ConflictError(`${server.location} does not have the events of ${location}`, {
      hint: 'name the database that this book was opened with before',
    });
  }
  if (await hasTable(server, 'tallybookDropped')) return;
  // The database was made before events could be dropped.
  await (await import('./backends/clickhouse/tables.ts')).prepareTables(server);
}

/** Events in the book itself would no longer be in any cost. */
async function refuseOwnEvents(store: Store, tx: Transaction, server: ClickhouseServer): Promise<void> {
  const { listOrganizations } = await import('./records/organizations.ts');
  for (const { id } of await listOrganizations(tx)) {
    if ((await store.events.list(tx, { orgId: id, limit: 1, offset: 0 })).total === 0) continue;
    throw new ConflictError(`${store.location} has events in it, which would not count at ${server.location}`, {
      hint: 'move the book with its events: tally copy --to DATABASE --to-events URL',
    });
  }
}

/** Moves the staged events of every organization. */
export async function moveStaged(store: Pick<Store, 'read' | 'write'>, server: ClickhouseServer): Promise<void> {
  const { moveBatches } = await import('./backends/clickhouse/append.ts');
  for (const orgId of await store.read(listStagedOrganizations)) {
    await store.write(
      async (tx) => {
        const head = await readEventHead(tx, orgId);
        await moveBatches(server, tx, { orgId, head, batches: await listStagedBatches(tx, orgId) });
      },
      { turn: orgId },
    );
  }
}

/** Events that cannot move now count where they are staged, and move with the next events. */
function leaveStaged(error: unknown): void {
  if (error instanceof BillingError) return;
  throw error;
}
