/** The file of the operator journal: appended to under a lock, by one process at a time, and never rewritten. */

import { closeSync, constants, fdatasyncSync, fstatSync, readSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { namedHash } from './journal-line.ts';
import { whileLocked } from '../target/lock-file.ts';
import { makePrivateDirectory, openPrivateFile } from '../target/private-file.ts';
import type { Machine } from '../target/private-file.ts';

const lineEnd = 0x0a;
/** A few lines. */
const tailBytes = 4096;
/** A whole journal can be longer than any text: half a million grants are. */
const pieceBytes = 1024 * 1024;

export interface JournalFile {
  /** Every line, including a last one that was cut off. */
  read(): readonly string[];
  /**
   * Calls `write` with a function that appends, while no other process can. Lines are on the disk when it resolves. With
   * `onLine`, every line from other processes that was not shown yet comes first.
   */
  hold(write: (append: Append) => void, onLine?: (text: string) => void): Promise<void>;
}

/** Appends a line, made from the hash of the one before it. */
export type Append = (line: (previous: string | undefined) => string) => void;

export function createJournalFile(path: string, machine: Machine): JournalFile {
  let shown = 0;
  return {
    read() {
      const file = openPrivateFile(path, machine, constants.O_RDONLY);
      if (file === undefined) return [];
      try {
        return [...linesWithin(file, 0, fstatSync(file).size)];
      } finally {
        closeSync(file);
      }
    },
    async hold(write, onLine) {
      await makePrivateDirectory(dirname(path), machine, 'TALLY_DATA_DIR');
      await whileLocked(path, machine, () => {
        const { O_RDWR, O_CREAT, O_APPEND } = constants;
        const file = openPrivateFile(path, machine, O_RDWR | O_CREAT | O_APPEND);
        if (file === undefined) throw new Error(`${path} could not be created`);
        try {
          const { size } = fstatSync(file);
          if (onLine !== undefined) {
            for (const line of linesWithin(file, shown, size)) onLine(line);
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
          if (onLine !== undefined) shown = size + bytes.length;
        } finally {
          closeSync(file);
        }
      });
    },
  };
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
