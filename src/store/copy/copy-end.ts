/** One of the two databases of a copy. */

import type { CopyPlace, CopyReport } from '../../operations/maintenance.ts';
import { type ClickhouseServer, connectClickhouse } from '../backends/clickhouse/connection.ts';
import { withoutLimit } from '../backends/postgres/without-limit.ts';
import type { Transaction } from '../database.ts';
import { isPostgresUrl, openStore } from '../open.ts';
import { rowsOfText } from '../raw-query.ts';
import type { Store } from '../store.ts';
import { type ReadRows, type TableDigest, rowsOfFile, rowsOfServer } from './book-tables.ts';
import { type ReadEventPage, readPageOf, readPageOfFile, readPageOfServer } from './event-pages.ts';

/** Events that are read together. */
export const usualPage = 5_000;

export interface End {
  readonly place: CopyPlace;
  readonly store: Store;
  readonly readRows: ReadRows;
  readonly readPage: ReadEventPage;
  readonly close: () => Promise<void>;
}

/** What is to be copied. */
export interface Content {
  readonly tables: readonly TableDigest[];
  readonly organizations: readonly (CopyReport['organizations'][number] & { readonly id: string })[];
}

export async function openEnd(
  place: CopyPlace,
  options: { readonly readOnly?: boolean; readonly isCopying?: boolean },
): Promise<End> {
  const { database, events } = place;
  const store = await openStore(database, { ...options, events });
  const server: ClickhouseServer | undefined = events === undefined ? undefined : connectClickhouse(events);
  return {
    place,
    store,
    readRows: isPostgresUrl(database) ? rowsOfServer : rowsOfFile,
    readPage: server !== undefined ? readPageOf(server) : isPostgresUrl(database) ? readPageOfServer : readPageOfFile,
    close: async () => {
      await store.close();
      await server?.close();
    },
  };
}

/** Lets this transaction last as long as it takes to read or write all of a book. */
export async function takeTime(tx: Transaction, { place }: End): Promise<void> {
  if (isPostgresUrl(place.database)) await rowsOfText(tx, withoutLimit);
}
