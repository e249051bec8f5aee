/**
 * When a file was last written, noted beside it: what was acknowledged lies in its log at first, and where somebody removes that,
 * what is left looks whole (reliability 7, C3). The note follows the commit that it tells of, so that no sound file is behind it.
 */

import { appendFileSync, closeSync, constants, openSync, readFileSync, rmSync, writeSync } from 'node:fs';

import type { LostSpan } from '../../inspection.ts';

/** What stands beside a file. */
export interface NewestNote {
  /** The newest instant that was acknowledged; empty where none was. */
  readonly newest: string;
  /** What was found to be lost before this. */
  readonly lost: readonly LostSpan[];
}

const nothingNoted: NewestNote = { newest: '', lost: [] };

const pathOfNote = (path: string): string => `${path}-newest`;

/** The note of the database at `path`, to be read before the transaction whose rows are held against it. */
export function readNewestNote(path: string): NewestNote {
  let text: string;
  try {
    text = readFileSync(pathOfNote(path), 'utf8');
  } catch {
    // It helps to find a loss, and stops nobody who has none.
    return nothingNoted;
  }
  const [newest = '', ...lines] = text.trimEnd().split('\n');
  const lost = lines.map((line) => line.split(' ')).map(([after = '', until = '']) => ({ after, until }));
  return { newest, lost };
}

/** What was acknowledged that a database does not have whose newest instant is `found`, noted before or seen now. */
export function lossesOf({ newest, lost }: NewestNote, found: string): readonly LostSpan[] {
  const isKnown = newest <= found || lost.some(({ until }) => until === newest);
  return isKnown ? lost : [...lost, { after: found, until: newest }];
}

/** For the file of a new database, or one that was restored: what was noted is of another. */
export function removeNewestNote(path: string): void {
  rmSync(pathOfNote(path), { force: true });
}

export interface NewestNoter {
  /** Whether it was held against the rows; until then nothing must be written. */
  readonly isCompared: boolean;
  /** Keeps what is found to be lost, which the next instant would hide. */
  compare(note: NewestNote, found: string): void;
  /** Notes an instant that was committed; not one before another that is noted. */
  note(instant: string): void;
  close(): void;
}

/** Notes for the database at `path` what this process writes. */
export function createNewestNoter(path: string): NewestNoter {
  let newest: string | undefined;
  let file: number | undefined;

  function write(instant: string): void {
    file ??= openSync(pathOfNote(path), constants.O_WRONLY | constants.O_CREAT, 0o600);
    writeSync(file, `${instant}\n`, 0);
  }

  return {
    get isCompared() {
      return newest !== undefined;
    },
    compare(note, found) {
      const [last] = lossesOf(note, found).slice(note.lost.length);
      newest = note.newest;
      if (last !== undefined) orNot(() => appendFileSync(pathOfNote(path), `${last.after} ${last.until}\n`));
    },
    note(instant) {
      if (newest === undefined || instant <= newest) return;
      newest = instant;
      orNot(() => write(instant));
    },
    close() {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}

/** Where a note cannot be written, the database can, and more is lost by refusing. */
function orNot(write: () => void): void {
  try {
    write();
  } catch {
    // As said above.
  }
}
