/**
 * A note beside a file that says when the file was last written. Acknowledged writes lie in the log at first, and if somebody
 * removes the log, the rest looks whole (reliability 7, C3). The note is written after the commit, so a sound file is never
 * behind it. It names the file by inode, so it does not apply to another file that has taken the name. While a simulated clock
 * stands still, it cannot tell two writes apart.
 */

import {
  appendFileSync,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';

import { realPathOf } from '../../file-facts.ts';
import type { LostSpan } from '../../inspection.ts';

/** The content of a note. */
export interface NewestNote {
  /** The newest acknowledged instant; empty if there is none. */
  readonly newest: string;
  /** Losses found earlier. */
  readonly lost: readonly LostSpan[];
}

const nothingNoted: NewestNote = { newest: '', lost: [] };
const instant = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;
const firstLine = new RegExp(`^(${instant}) +(\\d+)$`);
const lostLine = new RegExp(`^(-|${instant}) (${instant}) (\\d+)$`);
/** Lines are overwritten in place, so all have the same length. */
const inodeDigits = 20;

/** Beside the real file, like its log, by whatever name the file was opened. */
function pathOfNote(path: string): string {
  return `${realPathOf(path)}-newest`;
}

/** Empty if there is no file. */
function inodeOf(path: string): string {
  return statSync(path, { throwIfNoEntry: false, bigint: true })?.ino.toString() ?? '';
}

/** The note of the database at `path`; read it before the transaction whose rows are compared with it. */
export function readNewestNote(path: string): NewestNote {
  let text: string;
  try {
    text = readFileSync(pathOfNote(path), 'utf8');
  } catch {
    // The note only helps to find losses; without it nobody is stopped.
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

/** Acknowledged writes that a database with `found` as its newest instant lacks: noted losses, and one found now. */
export function lossesOf({ newest, lost }: NewestNote, found: string): readonly LostSpan[] {
  const isKnown = newest <= found || lost.some(({ until }) => until === newest);
  return isKnown ? lost : [...lost, { after: found, until: newest }];
}

/** For a new or restored database, and when time begins anew: the old note does not apply any more. */
export function removeNewestNote(path: string): void {
  rmSync(pathOfNote(path), { force: true });
}

export interface NewestNoter {
  /** Records a loss that the next noted instant would hide; call it before anything is noted. */
  compare(note: NewestNote, found: string): void;
  /** Notes a committed instant, unless a later one is noted. */
  note(instant: string): void;
  /** When time begins anew, the noted instant would look like a loss. */
  forget(): void;
  close(): void;
}

/** Notes what this process writes to the database at `path`. */
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

  /** Another process may have removed the note that this one knows, because time began anew. */
  function readAgain(): void {
    if (file !== undefined && fstatSync(file).nlink > 0) return;
    close();
    newest = readNewestNote(path).newest;
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
      // Many writes share an instant, and looking at the file for each would take as long as the note.
      if (newest === undefined || noted === newest) return;
      orNot(readAgain);
      if (noted <= newest) return;
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

/** If the note cannot be written, the database still can, and refusing would lose more. */
function orNot(write: () => void): void {
  try {
    write();
  } catch {
    // As said above.
  }
}
