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
  /** Called in a transaction that writes: what has the names of the log then is what SQLite writes to. */
  readonly noteLog: () => void;
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

  const logNow = (): LogPlaces => ({ log: placeOf(`${path}-wal`), index: placeOf(`${path}-shm`) });

  function noteLog(): void {
    opened ??= logNow();
  }

  function logFault(): 'logLost' | undefined {
    if (opened === undefined) return undefined;
    const { log, index } = logNow();
    return isSame(log, opened.log) && isSame(index, opened.index) ? undefined : 'logLost';
  }

  if (holdsLog) noteLog();
  return {
    fault() {
      const found = placeOf(path);
      if (!isSame(found, file)) return 'lost';
      return (found?.nlink ?? 0) > 1 ? 'several' : logFault();
    },
    noteLog,
    isSafeToClose() {
      if (opened === undefined) return true;
      const { log, index } = logNow();
      return !isSame(log, opened.log) || isSame(index, opened.index);
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
