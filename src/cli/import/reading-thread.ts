/** The thread's side of `read-in-thread.ts`: reads batches of a file, a few ahead of the reader. */

import { on } from 'node:events';
import type { MessagePort } from 'node:worker_threads';

import { BillingError } from '../../errors.ts';
import type { ErrorKind } from '../../errors.ts';
import { requestHash } from '../wire/request-hash.ts';
import { readFileBatches } from './batches.ts';
import type { Batch, OnStart, ReadingOptions } from './batches.ts';

export interface ReadingTask extends ReadingOptions {
  readonly path: string;
}

/** Each batch is acknowledged once taken, with any message. */
export type Reply =
  | { readonly kind: 'started'; readonly mapping: Parameters<OnStart>[0] }
  | { readonly kind: 'batch'; readonly batch: PackedBatch }
  | { readonly kind: 'done'; readonly failure: Failure | undefined };

/** A text costs far less to pass to another thread than objects. */
export interface PackedBatch extends Omit<Batch, 'events'> {
  /** The events, an array. */
  readonly json: string;
  /** Whether JSON.parse, which knows no exact numbers, loses nothing of it. */
  readonly isPlain: boolean;
}

export interface Failure {
  /** The kind of a BillingError; undefined for any other error. */
  readonly kind: ErrorKind | undefined;
  readonly message: string;
  readonly hint: string | undefined;
  readonly code: unknown;
}

const batchesAhead = 3;

/** Ends with the reply `done`. */
export async function serveReading(port: MessagePort, { path, ...task }: ReadingTask): Promise<void> {
  const reply = (message: Reply) => port.postMessage(message);
  const taken = on(port, 'message');
  const onStart: OnStart = ({ timestampColumn, properties }) =>
    reply({ kind: 'started', mapping: { timestampColumn, properties } });
  try {
    let ahead = 0;
    for await (const batch of readFileBatches(path, task, onStart)) {
      if (ahead === batchesAhead) await taken.next();
      else ahead += 1;
      reply({ kind: 'batch', batch: packed(batch) });
    }
    reply({ kind: 'done', failure: undefined });
  } catch (error) {
    reply({ kind: 'done', failure: failureOf(error) });
  } finally {
    port.close();
  }
}

function packed({ events, lines, ...rest }: Batch): PackedBatch {
  const json = JSON.stringify(events);
  const isPlain = JSON.stringify(JSON.parse(json)) === json;
  const hash = requestHash('usage.ingestBatch', { body: { events } });
  return { ...rest, json, isPlain, lines: Uint32Array.from(lines), requestHash: hash };
}

function failureOf(error: unknown): Failure {
  const { kind, hint } = error instanceof BillingError ? error : { kind: undefined, hint: undefined };
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return { kind, hint, code, message: error instanceof Error ? error.message : String(error) };
}
