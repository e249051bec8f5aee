/**
 * The thread's side of `read-in-thread.ts`: what it is sent are pieces of a file, each of which it answers with the rows that it
 * has read since.
 */

import { on } from 'node:events';
import type { MessagePort } from 'node:worker_threads';

import { BillingError } from '../../errors.ts';
import type { ErrorKind } from '../../errors.ts';
import type { ImportFormat } from './input.ts';
import type { Mapping, MappingOptions } from './mapping.ts';
import { readEvents } from './readers.ts';

export interface ReadingTask {
  readonly format: ImportFormat;
  readonly delimiter: string;
  readonly mapping: MappingOptions;
}

/** A piece of the file, its end, or that the rest of it cannot be read. */
export type Piece = Uint8Array | 'end' | 'failed';

export type Reply =
  | { readonly kind: 'started'; readonly mapping: Pick<Mapping, 'timestampColumn' | 'properties'> }
  | ({ readonly kind: 'rows' } & PackedRows)
  | { readonly kind: 'done'; readonly failure: Failure | undefined };

/** Texts cost far less to hand over than objects. */
export interface PackedRows {
  /** The events of all rows that are one, an array in their order. */
  readonly json: string;
  /** Nothing in it is lost to a parser of JSON that knows numbers alone. */
  readonly isPlain: boolean;
  readonly lines: Uint32Array;
  readonly lastLines: Uint32Array;
  /** Why rows are no events, by their place among all. */
  readonly reasons: ReadonlyMap<number, string>;
}

export interface Failure {
  /** Of a BillingError. */
  readonly kind: ErrorKind | undefined;
  readonly message: string;
  readonly hint: string | undefined;
  readonly code: unknown;
}

/** Ends with the reply `done`. */
export async function serveReading(port: MessagePort, { format, delimiter, mapping }: ReadingTask): Promise<void> {
  const reply = (message: Reply) => port.postMessage(message);
  const pieces = on(port, 'message') as AsyncIterable<readonly [Piece]>;
  let rows = emptyRows();
  const answer = () => {
    reply({ kind: 'rows', ...packed(rows) });
    rows = emptyRows();
  };

  async function* bytes(): AsyncGenerator<Uint8Array> {
    for await (const [piece] of pieces) {
      if (piece === 'end') return;
      if (piece === 'failed') throw new Error('the rest of the file cannot be read');
      yield piece;
      answer();
    }
  }

  try {
    const onStart = ({ timestampColumn, properties }: Mapping) =>
      reply({ kind: 'started', mapping: { timestampColumn, properties } });
    for await (const found of readEvents(format, bytes(), { delimiter, mapping, onStart })) {
      for (const { line, lastLine, mapped } of found) {
        if ('event' in mapped) rows.events.push(mapped.event);
        else rows.reasons.set(rows.lines.length, mapped.reason);
        rows.lines.push(line);
        rows.lastLines.push(lastLine);
      }
    }
    answer();
    reply({ kind: 'done', failure: undefined });
  } catch (error) {
    answer();
    reply({ kind: 'done', failure: failureOf(error) });
  } finally {
    port.close();
  }
}

function emptyRows() {
  return {
    events: [] as unknown[],
    lines: [] as number[],
    lastLines: [] as number[],
    reasons: new Map<number, string>(),
  };
}

function packed({ events, lines, lastLines, reasons }: ReturnType<typeof emptyRows>): PackedRows {
  const json = JSON.stringify(events);
  const isPlain = JSON.stringify(JSON.parse(json)) === json;
  return { json, isPlain, lines: Uint32Array.from(lines), lastLines: Uint32Array.from(lastLines), reasons };
}

function failureOf(error: unknown): Failure {
  const { kind, hint } = error instanceof BillingError ? error : { kind: undefined, hint: undefined };
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return { kind, hint, code, message: error instanceof Error ? error.message : String(error) };
}
