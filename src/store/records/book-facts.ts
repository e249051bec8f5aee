/** Facts about a book as a whole that must be known before anything in it is used. */

import { ConflictError } from '../../errors.ts';
import type { BackedUp } from '../../operations/backup-manifest.ts';
import type { Transaction } from '../database.ts';
import { prepared } from '../prepared.ts';

/** An ordinary book has no facts. */
export interface BookFacts {
  /** Events of this book live in another database, which knows it by this id. */
  readonly eventsElsewhere?: { readonly bookId: string };
  /** The book is being copied here and is not whole yet: its source, and the place reached in the events of each organization. */
  readonly unfinishedCopy?: { readonly source: string; readonly places: Readonly<Record<string, number>> };
  /** Written and removed to find out whether the book can be written; nobody else ever sees it. */
  readonly probe?: true;
}

/** Empty for an ordinary book. */
export async function readBookFacts(tx: Transaction): Promise<BookFacts> {
  const rows = await bookFacts(tx, {});
  return Object.fromEntries(rows.map(({ name, content }) => [name, JSON.parse(content) as unknown]));
}

const bookFacts = prepared((tx) => tx.selectFrom('bookFacts').selectAll(), {
  name: 'facts of the book',
  isOfEveryCall: true,
  of: () => [{}],
});

/** Writes a fact, in place of an earlier one of its name. */
export async function writeBookFact<Name extends keyof BookFacts>(
  tx: Transaction,
  name: Name,
  content: Required<BookFacts>[Name],
): Promise<void> {
  const text = JSON.stringify(content);
  await tx
    .insertInto('bookFacts')
    .values({ name, content: text })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ content: text }))
    .execute();
}

/** Does nothing if there is no such fact. */
export async function removeBookFact(tx: Transaction, name: keyof BookFacts): Promise<void> {
  await tx.deleteFrom('bookFacts').where('name', '=', name).execute();
}

/** Changes nothing, yet has to be committed: a full or failing disk shows itself then. */
export async function writeProbe(tx: Transaction): Promise<void> {
  await writeBookFact(tx, 'probe', true);
  await removeBookFact(tx, 'probe');
}

/** Throws ConflictError for a copy that is not whole yet. */
export function refuseUnfinished({ unfinishedCopy }: BookFacts, location: string): void {
  if (unfinishedCopy === undefined) return;
  throw new ConflictError(`${location} is a copy that is not finished`, {
    hint: 'repeat the command that began it to go on, or remove it',
  });
}

/** The fact as a backup manifest states it. */
export function eventsElsewhereOf({ eventsElsewhere }: BookFacts): Pick<BackedUp, 'hasEventsElsewhere'> {
  return eventsElsewhere === undefined ? {} : { hasEventsElsewhere: true };
}
