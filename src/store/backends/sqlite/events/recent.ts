/**
 * Rows of events that this process has just written, until they are absorbed into segments. Otherwise a process that sends many
 * events would wait while each is read again.
 */

import type { SqliteConnection } from '../connection.ts';

/** Customer, time, seq, contract, name, lateness and properties, as in a row of `events`. */
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
  /** Called before events are added, the first of which gets the seq `next`. Belongs in a transaction for writing. */
  readonly prepare: (next: number) => void;
  /** Adds the row of the next seq. */
  readonly add: (row: TailRow) => void;
  /** Forgets a replaced event. */
  readonly forget: (eventSeq: number) => void;
  /** Undefined if the table has to be read. */
  readonly find: (eventSeq: number) => TailRow | undefined;
  readonly clear: () => void;
}

/** For all properties together, because events can be large. */
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
      // Remembered rows beyond the table were rolled back, and their seqs go to other events.
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
