/**
 * Whether a file that is in use, and the log and its index beside it, are still those that were opened. SQLite goes on with
 * what it has open whoever has taken its name since, and of two that believe different ones each loses what the other wrote.
 */

import { statSync } from 'node:fs';
import type { Stats } from 'node:fs';

/**
 * `lost`: the file has no name any more, or another one has it. `several`: it has two, each with a log of its own. `logLost`: the
 * log or its index was removed, which SQLite itself does when nobody uses the file any more.
 */
export type NameFault = 'lost' | 'several' | 'logLost';

export interface Names {
  readonly fault: () => NameFault | undefined;
  /** Closing writes what is in the log into the file, and removes the log: with an index that others do not have, also what they wrote. */
  readonly isSafeToClose: () => boolean;
}

/** Undefined where there is no file. */
type Place = Pick<Stats, 'dev' | 'ino' | 'nlink'> | undefined;

/**
 * Begins with what has the names of `path` now; of the log only where SQLite holds it, since what another process has of a new
 * file may go with that process.
 */
export function watchNames(path: string, holdsLog: boolean): Names {
  const file = placeOf(path);
  let opened: LogPlaces | undefined;

  /** Of a new file they come together, before the first transaction that writes. */
  function logNow(): LogPlaces {
    const now = { log: placeOf(`${path}-wal`), index: placeOf(`${path}-shm`) };
    if (opened === undefined && now.log !== undefined && now.index !== undefined) opened = now;
    return now;
  }

  function logFault(): 'logLost' | undefined {
    const { log, index } = logNow();
    if (opened === undefined || (isSame(log, opened.log) && isSame(index, opened.index))) return undefined;
    return 'logLost';
  }

  if (holdsLog) logNow();
  return {
    fault() {
      const found = placeOf(path);
      if (!isSame(found, file)) return 'lost';
      return (found?.nlink ?? 0) > 1 ? 'several' : logFault();
    },
    isSafeToClose() {
      const { log, index } = logNow();
      return opened === undefined || !isSame(log, opened.log) || isSame(index, opened.index);
    },
  };
}

interface LogPlaces {
  readonly log: Place;
  readonly index: Place;
}

function isSame(one: Place, other: Place): boolean {
  return one?.ino === other?.ino && one?.dev === other?.dev;
}

function placeOf(path: string): Place {
  return statSync(path, { throwIfNoEntry: false });
}
