/**
 * Whether a file in use, with the log and its index beside it, is still the one that was opened. SQLite keeps using the open
 * files, whatever has taken their names since. Two processes that use different files each lose what the other wrote.
 */

import type { Stats } from 'node:fs';

import { factsOf, realPathOf } from '../../file-facts.ts';

/**
 * `lost`: the file has no name any more, or another file has it. `several`: it has two names, each with a log of its own.
 * `logLost`: the log or its index was removed, which SQLite itself does once nobody uses the file any more.
 */
export type NameFault = 'lost' | 'several' | 'logLost';

export interface Names {
  /** Throws UnavailableError if the system does not let the names be looked up. */
  readonly fault: () => NameFault | undefined;
  /** Called in a transaction that writes: the files with the log's names are then the ones that SQLite writes to. */
  readonly noteLog: () => void;
  /** Closing writes the log into the file and removes it. If others have another index, that would lose what they wrote. */
  readonly isSafeToClose: () => boolean;
}

/** Undefined if there is no file. */
type Place = Pick<Stats, 'dev' | 'ino' | 'nlink'> | undefined;

/**
 * Starts from the files that have the names of `path` now. Notes the log only if SQLite holds it: the log that another process
 * has for a new file may go with that process.
 */
export function watchNames(path: string, holdsLog: boolean): Names {
  const file = factsOf(path);
  let opened: LogPlaces | undefined;

  const real = realPathOf(path);
  const logNow = (): LogPlaces => ({ log: factsOf(`${real}-wal`), index: factsOf(`${real}-shm`) });

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
      const found = factsOf(path);
      if (!isSame(found, file)) return 'lost';
      return (found?.nlink ?? 0) > 1 ? 'several' : logFault();
    },
    noteLog,
    isSafeToClose() {
      if (opened === undefined) return true;
      try {
        const { log, index } = logNow();
        return !isSame(log, opened.log) || isSame(index, opened.index);
      } catch {
        // Nobody can say.
        return false;
      }
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
