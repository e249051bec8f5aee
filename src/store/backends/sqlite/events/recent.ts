/**
 * Rows of events as this process has just written them, until they are absorbed into segments: who sends many would wait for
 * each to be read again.
 */

import type { SqliteConnection } from '../connection.ts';

/** Customer, time, seq, contract, name, lateness and properties, as a row of `events` has them. */
export type TailRow = readonly [
  customerSeq: number,
  timestampEpochMs: number,
  eventSeq: number,
  contractSeq: number | null,
  nameId: number,
  isLate: number,
  propertiesJson: string,
];

export interface RecentRows {
  /** Before events are added, the first of which gets the seq `next`. Belongs into a transaction for writing. */
  readonly prepare: (next: number) => void;
  /** The row of the next seq. */
  readonly add: (row: TailRow) => void;
  /** It has been replaced. */
  readonly forget: (eventSeq: number) => void;
  /** Undefined where the table has to be asked. */
  readonly find: (eventSeq: number) => TailRow | undefined;
  readonly clear: () => void;
}

/** Of properties together: events can be large. */
const mostCharacters = 2 ** 24;

export function createRecentRows(connection: SqliteConnection): RecentRows {
  let first = 0;
  let rows: (TailRow | undefined)[] = [];
  let characters = 0;
  let seen = { handle: -1, dataVersion: -1n };

  function clear(): void {
    first += rows.length;
    rows = [];
    characters = 0;
  }

  return {
    prepare(next) {
      const dataVersion = connection.prepare('PRAGMA data_version').get()?.['data_version'] as bigint;
      const isAlone = seen.handle === connection.handleCount && seen.dataVersion === dataVersion;
      seen = { handle: connection.handleCount, dataVersion };
      // What is beyond the table was rolled back, and others get its seqs.
      if (isAlone && next >= first && next <= first + rows.length) rows.length = next - first;
      else {
        clear();
        first = next;
      }
    },
    add(row) {
      characters += row[6].length;
      rows.push(characters > mostCharacters ? undefined : row);
    },
    forget(eventSeq) {
      if (eventSeq >= first && eventSeq < first + rows.length) rows[eventSeq - first] = undefined;
    },
    find: (eventSeq) => rows[eventSeq - first],
    clear,
  };
}
