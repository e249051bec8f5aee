/**
 * Where standard output and error are written. Opening Node's stream for one takes a sixth of the time in which Node starts,
 * and only a terminal needs it: a file or a pipe is written to as it is. Either way nothing is left to write afterwards.
 */

import { fstatSync, writeSync } from 'node:fs';
import type { Writable } from 'node:stream';

import { BillingError } from '../errors.ts';

export interface OutputEnd {
  readonly isTTY: boolean;
  /** Width in columns; undefined where there is no terminal. */
  readonly columns: number | undefined;
  write(text: string): void;
  /** The stream itself, for what draws on it. */
  stream(): Writable;
  /** Whether a stream is open, which may hold something that it has not written yet. */
  readonly isStream: boolean;
}

export type ProcessStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** The end behind a stream. A reader that went away (`| head`) is no failure: what is left is dropped. */
export function streamEnd(stream: ProcessStream): OutputEnd {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (!isClosedPipe(error)) throw unwritable(error);
  });
  return {
    isTTY: stream.isTTY === true,
    get columns() {
      return stream.columns;
    },
    write: (text) => void stream.write(text),
    stream: () => stream,
    isStream: true,
  };
}

/** The end at an open file descriptor, whose stream `open` gives; it is opened where it has to be. */
export function descriptorEnd(descriptor: number, open: () => ProcessStream): OutputEnd {
  let opened: OutputEnd | undefined;
  const end = (): OutputEnd => (opened ??= streamEnd(open()));
  const mayBeTerminal = isDevice(descriptor);
  return {
    get isTTY() {
      return mayBeTerminal && end().isTTY;
    },
    get columns() {
      return mayBeTerminal ? end().columns : undefined;
    },
    write(text) {
      if (mayBeTerminal || opened !== undefined) return end().write(text);
      const rest = writeNow(descriptor, Buffer.from(text));
      if (rest.length > 0) end().stream().write(rest);
    },
    stream: () => end().stream(),
    get isStream() {
      return opened !== undefined;
    },
  };
}

/** Writes what can be written without waiting for a stream; gives what is left. */
function writeNow(descriptor: number, bytes: Buffer): Buffer {
  let written = 0;
  try {
    while (written < bytes.length) written += writeSync(descriptor, bytes, written);
  } catch (error) {
    if (isClosedPipe(error as NodeJS.ErrnoException)) return Buffer.alloc(0);
    // Another program made the pipe non-blocking, and it is full: a stream knows when to go on.
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw unwritable(error as NodeJS.ErrnoException);
  }
  return bytes.subarray(written);
}

function unwritable(cause: NodeJS.ErrnoException): BillingError {
  const why = cause.code === 'ENOSPC' ? 'the disk is full' : cause.message;
  return new BillingError('internal', `the output cannot be written: ${why}`, {
    cause,
    hint: 'what was to be done is done: look before the command is repeated',
  });
}

function isClosedPipe({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EPIPE';
}

/** Terminals are devices; so is /dev/null. */
function isDevice(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isCharacterDevice();
  } catch {
    return true;
  }
}
