/** The file of the operator journal: appended to under a lock, by one process at a time, and never rewritten. */

import { closeSync, constants, fdatasyncSync, fstatSync, readSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { hashedLength, namedHash } from './journal-line.ts';
import { whileLocked } from '../target/lock-file.ts';
import { makePrivateDirectory, openPrivateFile, withPrivateFile } from '../target/private-file.ts';
import type { Machine } from '../target/private-file.ts';

const lineEnd = 0x0a;
/** A few lines. */
const tailBytes = 4096;
/** A whole journal can be longer than any text: half a million grants are. */
const pieceBytes = 1024 * 1024;

export interface JournalFile {
  /** Every line, including a last one that was cut off. */
  read(): readonly string[];
  /** Has lines up to a mark not shown to a follower; false, and all are shown, if the file does not have them. */
  startAfter(mark: Mark): boolean;
  /**
   * Calls `write` with a function that appends, while no other process can. Lines are on the disk when it resolves. With a
   * follower, every line from other processes that was not shown yet comes first.
   */
  hold(write: (append: Append) => void, follower?: Follower): Promise<void>;
}

export interface Follower {
  onLine(text: string): void;
  /** All lines were shown, so many bytes of them just now; the mark is missing if the last one was cut off. */
  onShown(bytes: number, mark: Mark | undefined): void;
}

/** The place behind a line. */
export interface Mark {
  /** Of the file up to there. */
  readonly bytes: number;
  /** The hash that this line names. */
  readonly head: string;
}

/** Appends a line, made from the hash of the one before it. */
export type Append = (line: (previous: string | undefined) => string) => void;

export function createJournalFile(path: string, machine: Machine): JournalFile {
  let shown = 0;
  return {
    read: () => withPrivateFile(path, machine, (file) => [...linesWithin(file, 0, fstatSync(file).size)]) ?? [],
    startAfter(mark) {
      const head = withPrivateFile(path, machine, (file) => headAt(file, mark.bytes));
      if (head !== mark.head) return false;
      shown = mark.bytes;
      return true;
    },
    async hold(write, follower) {
      await makePrivateDirectory(dirname(path), machine, 'TALLY_DATA_DIR');
      await whileLocked(path, machine, () => {
        const { O_RDWR, O_CREAT, O_APPEND } = constants;
        const file = openPrivateFile(path, machine, O_RDWR | O_CREAT | O_APPEND);
        if (file === undefined) throw new Error(`${path} could not be created`);
        try {
          const { size } = fstatSync(file);
          if (follower !== undefined) {
            for (const line of linesWithin(file, shown, size)) follower.onLine(line);
            follower.onShown(size - shown, markAt(file, size));
            shown = size;
          }
          let tail: Tail | undefined;
          let previous: string | undefined;
          const texts: string[] = [];
          write((line) => {
            if (tail === undefined) ({ previous } = tail = readTail(file, size));
            const text = line(previous);
            previous = namedHash(text);
            texts.push(`${text}\n`);
          });
          if (tail === undefined) return;
          // A line cut off by a crash stays as it is, on a line of its own.
          const bytes = Buffer.from(`${tail.isWhole ? '' : '\n'}${texts.join('')}`);
          writeFileSync(file, bytes);
          fdatasyncSync(file);
          if (follower !== undefined) shown = size + bytes.length;
        } finally {
          closeSync(file);
        }
      });
    },
  };
}

function markAt(file: number, bytes: number): Mark | undefined {
  const head = headAt(file, bytes);
  return head === undefined ? undefined : { bytes, head };
}

/** The hash that the line before a place names; undefined if no such line ends there. */
function headAt(file: number, bytes: number): string | undefined {
  const end = readRange(file, Math.max(0, bytes - hashedLength - 1), bytes).toString('utf8');
  return end.endsWith('\n') ? namedHash(end.slice(0, -1)) : undefined;
}

interface Tail {
  readonly previous: string | undefined;
  readonly isWhole: boolean;
}

/** The hash of the last line that has one, looking back as far as needed. */
function readTail(file: number, size: number): Tail {
  if (size === 0) return { previous: undefined, isWhole: true };
  for (let length = tailBytes; ; length *= 4) {
    const start = Math.max(0, size - length);
    const bytes = readRange(file, start, size);
    const isWhole = bytes.at(-1) === lineEnd;
    // The first line of a part may be the end of a longer line, so it is dropped; at the start of the file it is whole.
    const lines = linesOf(start === 0 ? bytes : bytes.subarray(bytes.indexOf(lineEnd) + 1));
    const named = lines.findLast((line) => namedHash(line) !== undefined);
    const previous = named === undefined ? undefined : namedHash(named);
    if (previous !== undefined || start === 0) return { previous, isWhole };
  }
}

/** Also the beginning of a line that was cut off. */
function* linesWithin(file: number, start: number, end: number): Generator<string> {
  let rest = Buffer.alloc(0);
  for (let from = start; from < end; from += pieceBytes) {
    const bytes = Buffer.concat([rest, readRange(file, from, Math.min(from + pieceBytes, end))]);
    const wholeBytes = bytes.lastIndexOf(lineEnd) + 1;
    yield* linesOf(bytes.subarray(0, wholeBytes));
    rest = bytes.subarray(wholeBytes);
  }
  yield* linesOf(rest);
}

function readRange(file: number, start: number, end: number): Buffer {
  const bytes = Buffer.alloc(Math.max(0, end - start));
  let length = 0;
  while (length < bytes.length) {
    const read = readSync(file, bytes, length, bytes.length - length, start + length);
    if (read === 0) break;
    length += read;
  }
  return bytes.subarray(0, length);
}

function linesOf(bytes: Buffer): string[] {
  return bytes
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '');
}
