/** What every backend offers to the engine. `openStore` makes one. */

import type { Transaction } from './database.ts';
import type { EventStore } from './event-store.ts';
import type { Inspection, InspectionOptions } from './inspection.ts';

/** One open database, with the events wherever they live. */
export interface Store {
  /** Where the data is, for messages: the path of the file, `:memory:`, or the URL of a server without its password. */
  readonly location: string;
  readonly isReadOnly: boolean;
  /** Path of a copy of what the database was, where this opening has upgraded it and the backend can make one. */
  readonly copyBefore?: string | undefined;
  readonly events: EventStore;
  /** Transactions of this store that run or wait for their turn. */
  readonly pendingTransactions: number;
  /**
   * Runs `query` on one snapshot; on a server perhaps more than once, from its beginning. Cannot be called inside another
   * `read` or `write` of the same store.
   */
  read<T>(query: (tx: Transaction) => Promise<T>): Promise<T>;
  /**
   * Runs `change` as one transaction: committed when it resolves, rolled back when it throws. Waits for other writers, at
   * most the busy timeout, then throws UnavailableError; readers go on meanwhile. Where a server finds that others changed
   * what it read, `change` runs again from its beginning, and what it did before is undone; where a server never said whether
   * it committed, or the disk failed under a commit, throws UnknownOutcomeError. Cannot be called inside another `read` or
   * `write`.
   */
  write<T>(change: (tx: Transaction) => Promise<T>, options?: WriteOptions): Promise<T>;
  /**
   * Told of the instant of rows that were committed, where the backend can lose them without a trace: it keeps that beside them,
   * for `inspect`.
   */
  readonly noteNewest?: ((instant: string) => void) | undefined;
  /** Told where time was set back behind what was noted. */
  readonly forgetNewest?: (() => void) | undefined;
  /**
   * Does `work` unless another process on the same server is at work of this name; then gives undefined. Processes on one
   * file are kept apart by their transactions alone.
   */
  exclusively<T>(name: string, work: () => Promise<T>): Promise<T | undefined>;
  /** Looks over pages, references and schema, and changes nothing. Cannot be called inside `read` or `write`. */
  inspect(options: InspectionOptions): Promise<Inspection>;
  /** Waits for what is running, then closes. Nothing can be done with the store afterwards. */
  close(): Promise<void>;
}

/** Which other writes one waits for, and how long. */
export interface WriteOptions {
  /**
   * Whose rows alone it changes: the id of an organization, or another name that all such writes give. Writes of different
   * turns may go on side by side where the backend can; without a turn a write is alone.
   */
  readonly turn?: string | undefined;
  /** How long to wait for another writer, where it is not the store's busy timeout. */
  readonly busyTimeoutMilliseconds?: number | undefined;
}

/** How a store is opened. */
export interface StoreOptions {
  /** How long to wait for another writer. Default: `limits.busyTimeoutMilliseconds`. */
  readonly busyTimeoutMilliseconds?: number | undefined;
  /** The URL of the database in which the events live, where that is not this one. */
  readonly events?: string | undefined;
  /** Open a copy that is not whole yet, to go on with it. */
  readonly isCopying?: boolean | undefined;
  /** Open for reading alone; a file that does not exist is then a NotFoundError. */
  readonly readOnly?: boolean | undefined;
  /**
   * When a store that derives data from events does so: at so many new ones, and where a day has so many. Small numbers show
   * in a test what else takes a million events.
   */
  readonly eventUpkeep?: { readonly longestTail: number; readonly leastKept: number } | undefined;
}
