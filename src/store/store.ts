/** What every backend offers to the engine. `openStore` makes one. */

import type { Transaction } from './database.ts';
import type { EventStore } from './event-store.ts';
import type { Inspection, InspectionOptions } from './inspection.ts';

/** One open database, with its events wherever they live. */
export interface Store {
  /** Where the data is, for messages: the path of the file, `:memory:`, or the URL of a server without its password. */
  readonly location: string;
  readonly isReadOnly: boolean;
  /** Path of a copy of the former database, if this opening upgraded it and the backend can make such copies. */
  readonly copyBefore?: string | undefined;
  readonly events: EventStore;
  /** Transactions of this store that are running or waiting for their turn. */
  readonly pendingTransactions: number;
  /**
   * Runs `query` on one snapshot; on a server perhaps more than once, from the beginning. Cannot be called inside another
   * `read` or `write` of the same store.
   */
  read<T>(query: (tx: Transaction) => Promise<T>): Promise<T>;
  /**
   * Runs `change` as one transaction: committed when it resolves, rolled back when it throws. Waits for other writers up to the
   * busy timeout, then throws UnavailableError; readers go on meanwhile. If a server finds that others changed what `change`
   * read, its writes are undone and it runs again from the beginning. Throws UnknownOutcomeError if a server never said whether
   * it committed, or the disk failed during a commit. Cannot be called inside another `read` or `write`.
   */
  write<T>(change: (tx: Transaction) => Promise<T>, options?: WriteOptions): Promise<T>;
  /**
   * Takes the instant of committed rows, where the backend can lose such rows without a trace. The instant is kept beside them
   * for `inspect`.
   */
  readonly noteNewest?: ((instant: string) => void) | undefined;
  /** Called when time was set back behind the noted instant. */
  readonly forgetNewest?: (() => void) | undefined;
  /**
   * Does `work`, unless another process on the same server is doing work of this name; then gives undefined. Processes on one
   * file are kept apart by their transactions alone.
   */
  exclusively<T>(name: string, work: () => Promise<T>): Promise<T | undefined>;
  /** Inspects pages, references and schema, and changes nothing. Cannot be called inside `read` or `write`. */
  inspect(options: InspectionOptions): Promise<Inspection>;
  /** Waits for running work, then closes. The store cannot be used afterwards. */
  close(): Promise<void>;
}

/** Which other writes a write waits for, and how long. */
export interface WriteOptions {
  /**
   * Whose rows alone it changes: the id of an organization, or another name that all such writes share. Writes of different
   * turns may run side by side if the backend can; a write without a turn runs alone.
   */
  readonly turn?: string | undefined;
  /** How long to wait for another writer, if not for the store's busy timeout. */
  readonly busyTimeoutMilliseconds?: number | undefined;
}

/** How a store is opened. */
export interface StoreOptions {
  /** How long to wait for another writer. Default: `limits.busyTimeoutMilliseconds`. */
  readonly busyTimeoutMilliseconds?: number | undefined;
  /** The URL of the database in which the events live, if not in this one. */
  readonly events?: string | undefined;
  /** Open a copy that is not whole yet, in order to continue it. */
  readonly isCopying?: boolean | undefined;
  /** Open for reading alone; a missing file is then a NotFoundError. */
  readonly readOnly?: boolean | undefined;
  /**
   * When a store that derives data from events does so: at so many new events, and for days with so many. Small numbers make
   * visible in tests what otherwise takes a million events.
   */
  readonly eventUpkeep?: { readonly longestTail: number; readonly leastKept: number } | undefined;
}
