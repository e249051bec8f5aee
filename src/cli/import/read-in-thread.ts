/**
 * Reads events in a thread of its own, while this one stores those before: parsing and checking a row takes a quarter of what
 * storing it does. What comes out is what `readEvents` gives.
 */

import { on } from 'node:events';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';

import { BillingError } from '../../errors.ts';
import { reviveExactJson } from '../../exact-json.ts';
import type { Bytes } from './input.ts';
import type { ImportedEvent } from './mapping.ts';
import type { ReadRow, ReadRows } from './readers.ts';
import type { Failure, PackedRows, Piece, ReadingTask, Reply } from './reading-thread.ts';

/** So much of a file is in the thread or read by it and not taken yet. */
const piecesAhead = 3;

/** The module is named when the thread starts, since in a bundle it is a file beside others. */
const threadSource = `const { parentPort, workerData: { module, task } } = require('node:worker_threads');
  import(module).then(({ serveReading }) => serveReading(parentPort, task));`;

export interface ReadingOptions extends ReadingTask {
  /** Path of the module of `serveReading`. */
  readonly module: string;
  readonly onStart: ((mapping: Extract<Reply, { kind: 'started' }>['mapping']) => void) | undefined;
  /** How much has been read, told of each piece as it goes to the thread. */
  readonly bytesRead?: () => number;
  /** Told how much of that the rows make up that have been taken: the thread is some pieces ahead. */
  readonly onTaken?: (bytes: number) => void;
}

export async function* readInThread(
  bytes: Bytes,
  { module, onStart, bytesRead, onTaken, ...task }: ReadingOptions,
): ReadRows {
  const worker = new Worker(threadSource, {
    eval: true,
    env: {},
    workerData: { module: pathToFileURL(module).href, task },
  });
  const source = bytes[Symbol.asyncIterator]();
  let inputError: Error | undefined;
  const send = (piece: Piece) => worker.postMessage(piece, []);
  const ends: number[] = [];
  let taken = 0;
  async function sendNext(): Promise<void> {
    try {
      const { done, value } = await source.next();
      ends.push(bytesRead?.() ?? 0);
      send(done === true ? 'end' : value);
    } catch (error) {
      inputError = error instanceof Error ? error : new Error(String(error));
      send('failed');
    }
  }
  let sending = Promise.resolve();
  const sendOneMore = () => {
    sending = sending.then(sendNext);
  };
  const replies = on(worker, 'message', { close: ['exit'] }) as AsyncIterable<readonly [Reply]>;
  try {
    for (let piece = 0; piece < piecesAhead; piece += 1) sendOneMore();
    for await (const [reply] of replies) {
      if (reply.kind === 'started') onStart?.(reply.mapping);
      else if (reply.kind === 'rows') {
        sendOneMore();
        const [begin, end] = [taken, ends.shift() ?? taken];
        yield rowsOf(reply, (part) => onTaken?.(Math.round(begin + (end - begin) * part)));
        taken = end;
      } else if (reply.failure === undefined) return;
      else throw inputError ?? errorOf(reply.failure);
    }
    throw new BillingError('internal', 'the thread that reads the file broke off');
  } finally {
    await worker.terminate();
  }
}

const rowsBetweenTelling = 512;

function* rowsOf(
  { json, isPlain, lines, lastLines, reasons }: PackedRows,
  onTaken: (part: number) => void,
): Generator<ReadRow> {
  const events = (isPlain ? JSON.parse(json) : reviveExactJson(json)) as ImportedEvent[];
  let next = 0;
  for (const [index, line] of lines.entries()) {
    if (index % rowsBetweenTelling === 0) onTaken(index / lines.length);
    const reason = reasons.get(index);
    const lastLine = lastLines[index] ?? line;
    if (reason !== undefined) yield { line, lastLine, mapped: { reason } };
    else yield { line, lastLine, mapped: { event: events[next++] as ImportedEvent } };
  }
}

function errorOf({ kind, message, hint, code }: Failure): Error {
  if (kind !== undefined) return new BillingError(kind, message, hint === undefined ? {} : { hint });
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}
