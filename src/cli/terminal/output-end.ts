/**
 * Where standard output and error are written. Opening Node's stream for one takes a sixth of Node's start-up time, and only
 * a terminal needs it: files and pipes are written directly. Either way nothing is left to write afterwards.
 */

import { fstatSync, statSync, writeSync } from 'node:fs';
import type { Writable } from 'node:stream';

import { limits } from '../../limits.ts';
import { UnprintedError } from './unprinted.ts';

export interface OutputEnd {
  readonly isTTY: boolean;
  /** Width in columns; undefined where there is no terminal. */
  readonly columns: number | undefined;
  write(text: string): void;
  /** Writes lines of a log, or drops them while too much of it waits: whoever reads a pipe may never read again. */
  log(text: string): void;
  /** Whether anything was written as a log. */
  readonly hasLog: boolean;
  /** The stream itself, for what draws on it. */
  stream(): Writable;
  /** Whether a stream is open; it may hold text not written yet. */
  readonly isStream: boolean;
  /** False once a write has found that whoever read a pipe has gone away. */
  readonly hasReader: boolean;
}

export type ProcessStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** What to do when something cannot be written. A reader that went away (`| head`) is not a failure: the rest is dropped. */
type OnFailure = (error: NodeJS.ErrnoException) => void;

const refuseUnwritten: OnFailure = (error) => {
  if (!isOfReader(error)) throw unwritable(error);
};

const isOfReader = ({ code }: NodeJS.ErrnoException): boolean => code === 'EPIPE';

/** For standard error: there is nowhere to report the failure, and a service whose log is full has to go on. */
export const dropUnwritten: OnFailure = () => undefined;

/** The end that writes to a stream. */
export function streamEnd(stream: ProcessStream, onFailure: OnFailure = refuseUnwritten): OutputEnd {
  let hasLog = false;
  let hasReader = true;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    hasReader &&= !isOfReader(error);
    onFailure(error);
  });
  return {
    isTTY: stream.isTTY === true,
    get columns() {
      return stream.columns;
    },
    write: (text) => void stream.write(text),
    log(text) {
      hasLog = true;
      if (stream.writableLength < limits.unreadLogBytes) stream.write(text);
    },
    get hasLog() {
      return hasLog;
    },
    stream: () => stream,
    isStream: true,
    get hasReader() {
      return hasReader;
    },
  };
}

/** The end at an open file descriptor; `open` gives its stream, and is called only when the stream is needed. */
export function descriptorEnd(
  descriptor: number,
  open: () => ProcessStream,
  onFailure: OnFailure = refuseUnwritten,
): OutputEnd {
  let opened: OutputEnd | undefined;
  const end = (): OutputEnd => (opened ??= streamEnd(open(), fail));
  const mayBeTerminal = isDevice(descriptor);
  let hasLog = false;
  let hasReader = true;

  function fail(error: NodeJS.ErrnoException): void {
    hasReader &&= !isOfReader(error);
    onFailure(error);
  }

  function write(text: string): void {
    if (mayBeTerminal || opened !== undefined) return end().write(text);
    const rest = writeNow(descriptor, Buffer.from(text), fail);
    if (rest.length > 0) end().stream().write(rest);
  }

  return {
    get isTTY() {
      return mayBeTerminal && end().isTTY;
    },
    get columns() {
      return mayBeTerminal ? end().columns : undefined;
    },
    write,
    log(text) {
      hasLog = true;
      if (opened === undefined) write(text);
      else opened.log(text);
    },
    get hasLog() {
      return hasLog;
    },
    stream: () => end().stream(),
    get isStream() {
      return opened !== undefined;
    },
    get hasReader() {
      return hasReader;
    },
  };
}

/** Writes as much as possible without waiting for a stream; returns the rest. */
function writeNow(descriptor: number, bytes: Buffer, onFailure: OnFailure): Buffer {
  let written = 0;
  try {
    while (written < bytes.length) written += writeSync(descriptor, bytes, written);
  } catch (error) {
    // Another program made the pipe non-blocking, and it is full. A stream knows when to continue.
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') {
      onFailure(error as NodeJS.ErrnoException);
      return Buffer.alloc(0);
    }
  }
  return bytes.subarray(written);
}

function unwritable(cause: NodeJS.ErrnoException): UnprintedError {
  const why = cause.code === 'ENOSPC' ? 'the disk is full' : cause.message;
  return new UnprintedError('internal', `the output cannot be written: ${why}`, { cause });
}

/** Whether the descriptor may be a terminal: a device, but not the one that discards output, which scripts use. */
function isDevice(descriptor: number): boolean {
  try {
    const facts = fstatSync(descriptor);
    return facts.isCharacterDevice() && facts.rdev !== nowhere();
  } catch {
    return true;
  }
}

/** The device that discards output; undefined on Windows, where every device may be a terminal. */
function nowhere(): number | undefined {
  return statSync('/dev/null', { throwIfNoEntry: false })?.rdev;
}
