/** Text that is printed once it is complete, however long it is: what is too much for memory waits in a file without a name. */

import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { BillingError } from '../../errors.ts';
import { vouch } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';

export interface Spool {
  readonly write: (text: SafeText) => void;
  /** Everything written, in order. */
  readonly parts: () => Generator<SafeText>;
  readonly close: () => void;
}

const mostHeld = 4_000_000;

/** Holds in memory at most `most` characters and the last text written. */
export function createSpool(most: number = mostHeld): Spool {
  let held: SafeText[] = [];
  let length = 0;
  let file: File | undefined;
  const sizes: number[] = [];

  function setAside(): void {
    file ??= openFile();
    // Each by itself: buffers of megabytes wait long for V8 to free them, and a long list makes many.
    for (const text of held) {
      const bytes = Buffer.from(text);
      for (let written = 0; written < bytes.length;) written += writeSync(file.descriptor, bytes, written);
      sizes.push(bytes.length);
    }
    held = [];
    length = 0;
  }

  return {
    write(text) {
      held.push(text);
      length += text.length;
      if (length <= most) return;
      try {
        setAside();
      } catch (error) {
        throw refusal(error as NodeJS.ErrnoException);
      }
    },
    *parts() {
      let position = 0;
      for (const size of sizes) {
        const bytes = Buffer.allocUnsafe(size);
        for (let read = 0; read < size;) {
          read += readSync(file?.descriptor ?? 0, bytes, read, size - read, position + read);
        }
        position += size;
        yield vouch(bytes.toString());
      }
      yield* held;
    },
    close: () => file?.remove(),
  };
}

interface File {
  readonly descriptor: number;
  readonly remove: () => void;
}

/** Opens a file in a directory of its owner alone. Both are removed at once: nothing remains, however the process ends. */
function openFile(): File {
  const directory = mkdtempSync(join(tmpdir(), 'tallybook-list-'));
  const removeDirectory = (): void => rmSync(directory, { recursive: true, force: true });
  try {
    const descriptor = openSync(join(directory, 'rows'), 'wx+', 0o600);
    removeEarly(removeDirectory);
    return {
      descriptor,
      remove() {
        closeSync(descriptor);
        removeDirectory();
      },
    };
  } catch (error) {
    removeDirectory();
    throw error;
  }
}

function removeEarly(remove: () => void): void {
  try {
    remove();
  } catch {
    // Some systems keep the name of an open file: it is removed when the file is closed.
  }
}

function refusal(cause: NodeJS.ErrnoException): BillingError {
  const why = cause.code === 'ENOSPC' ? 'the disk is full' : cause.message;
  return new BillingError('unavailable', `the list cannot be stored in ${tmpdir()} until it is complete: ${why}`, {
    cause,
    hint: 'free some space there, set TMPDIR to another directory, or ask for less',
  });
}
