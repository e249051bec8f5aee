/**
 * When a file was last written, noted beside it: what was acknowledged lies in its log at first, and where somebody removes that,
 * what is left looks whole (reliability 7, C3). The note follows the commit that it tells of, so that no sound file is behind it,
 * and names the file by its inode: another one that has its name now is not held to it. Where time stands it tells no two writes
 * apart.
 */

import {
  appendFileSync,
  closeSync,
  constants,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';

import type { LostSpan } from '../../inspection.ts';

/** What stands beside a file of it. */
export interface NewestNote {
  /** The newest instant that was acknowledged; empty where none was. */
  readonly newest: string;
  /** What was found to be lost before this. */
  readonly lost: readonly LostSpan[];
}

const nothingNoted: NewestNote = { newest: '', lost: [] };
const instant = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;
const firstLine = new RegExp(`^(${instant}) +(\\d+)$`);
const lostLine = new RegExp(`^(-|${instant}) (${instant}) (\\d+)$`);
/** Written over each other, so all of one length. */
const inodeDigits = 20;

/** Beside the file itself, as its log is, by whatever name it was opened. */
function pathOfNote(path: string): string {
  return `${realPathOf(path)}-newest`;
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Empty where there is no file. */
function inodeOf(path: string): string {
  return statSync(path, { throwIfNoEntry: false, bigint: true })?.ino.toString() ?? '';
}

/** The note of the database at `path`, to be read before the transaction whose rows are held against it. */
export function readNewestNote(path: string): NewestNote {
  let text: string;
  try {
    text = readFileSync(pathOfNote(path), 'utf8');
  } catch {
    // It helps to find a loss, and stops nobody who has none.
    return nothingNoted;
  }
  const inode = inodeOf(path);
  const [first = '', ...rest] = text.split('\n');
  const [, newest = '', of] = firstLine.exec(first) ?? [];
  const lost = rest.flatMap((line) => {
    const [, after = '', until = '', ofLost] = lostLine.exec(line) ?? [];
    return ofLost === inode ? [{ after: after === '-' ? '' : after, until }] : [];
  });
  return { newest: of === inode ? newest : '', lost };
}

/** What was acknowledged that a database does not have whose newest instant is `found`, noted before or seen now. */
export function lossesOf({ newest, lost }: NewestNote, found: string): readonly LostSpan[] {
  const isKnown = newest <= found || lost.some(({ until }) => until === newest);
  return isKnown ? lost : [...lost, { after: found, until: newest }];
}

/** For the file of a new database, or one that was restored, or whose time begins anew: what was noted does not hold of it. */
export function removeNewestNote(path: string): void {
  rmSync(pathOfNote(path), { force: true });
}

export interface NewestNoter {
  /** Keeps what is found to be lost, which the next instant would hide: to be told before anything is noted. */
  compare(note: NewestNote, found: string): void;
  /** Notes an instant that was committed; not one before another that is noted. */
  note(instant: string): void;
  /** Where time begins anew, what was noted would be a loss. */
  forget(): void;
  close(): void;
}

/** Notes for the database at `path` what this process writes. */
export function createNewestNoter(path: string): NewestNoter {
  let newest: string | undefined;
  let inode = '';
  let file: number | undefined;

  function write(noted: string): void {
    if (file === undefined) {
      inode = inodeOf(path);
      file = openSync(pathOfNote(path), constants.O_WRONLY | constants.O_CREAT, 0o600);
    }
    writeSync(file, `${noted} ${inode.padStart(inodeDigits)}\n`, 0);
  }

  function close(): void {
    if (file !== undefined) closeSync(file);
    file = undefined;
  }

  return {
    compare(note, found) {
      newest = note.newest;
      const [last] = lossesOf(note, found).slice(note.lost.length);
      if (last === undefined) return;
      const line = `${last.after === '' ? '-' : last.after} ${last.until} ${inodeOf(path)}\n`;
      orNot(() => appendFileSync(pathOfNote(path), line));
    },
    note(noted) {
      if (newest === undefined || noted <= newest) return;
      newest = noted;
      orNot(() => write(noted));
    },
    forget() {
      close();
      newest = '';
      orNot(() => removeNewestNote(path));
    },
    close,
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
