/** Sends the requests of a bulk job: some at a time, slower where the service asks for it, and to the end of the file. */

import { setTimeout as pause } from 'node:timers/promises';

import { BillingError } from '../../errors.ts';
import type { ErrorKind } from '../../errors.ts';

/**
 * `repeated`: an earlier run had done it. `unknown`: no answer says whether it was done. `pending`: not sent, because the
 * job was stopped.
 */
export type RowStatus = 'done' | 'repeated' | 'failed' | 'unknown' | 'pending';

export interface RowOutcome {
  /** Line of the file. */
  readonly line: number;
  readonly status: RowStatus;
  readonly id: string;
  readonly error: string;
}

/** What is sent in one request. */
export interface Unit {
  readonly lines: readonly number[];
  /** How each row ended; throws where the request did. */
  readonly send: () => Promise<readonly RowOutcome[]>;
}

export interface Applied {
  /** One for each row, in the order of the file. */
  readonly outcomes: readonly RowOutcome[];
  /** What stopped the job before its end; undefined when nothing did. */
  readonly stoppedBy: BillingError | undefined;
}

/** After these every further row would fail in the same way. */
const hopeless: ReadonlySet<ErrorKind> = new Set<ErrorKind>(['unauthorized', 'forbidden', 'notOffered', 'interrupted']);
const unsure: ReadonlySet<ErrorKind> = new Set<ErrorKind>(['network', 'internal', 'unavailable', 'rateLimited']);
const waitsPerUnit = 100;
const failuresInARow = 5;

/** A request that is refused for its rate even after the client's own patience waits here, and fewer go on beside it. */
export async function applyUnits(
  units: readonly Unit[],
  options: {
    readonly concurrency: number;
    readonly signal: AbortSignal;
    readonly onDone: (rows: number) => void;
  },
): Promise<Applied> {
  const { signal, onDone } = options;
  const outcomes = new Map<number, RowOutcome>();
  let workers = options.concurrency;
  let next = 0;
  let outages = 0;
  let stoppedBy: BillingError | undefined;

  const isOver = () => next >= units.length || stoppedBy !== undefined || signal.aborted;

  async function work(index: number): Promise<void> {
    while (index < workers && !isOver()) {
      const unit = units[next];
      next += 1;
      if (unit !== undefined) keep(await sendPatiently(unit));
    }
  }

  async function sendPatiently(unit: Unit): Promise<readonly RowOutcome[]> {
    for (let wait = 0; ; wait += 1) {
      try {
        const sent = await unit.send();
        outages = 0;
        return sent;
      } catch (thrown) {
        const error = thrown instanceof BillingError ? thrown : unexpected(thrown);
        const isLast = wait >= waitsPerUnit || signal.aborted;
        if (error.kind !== 'rateLimited' || isLast) return failed(unit, error);
        workers = Math.max(1, Math.floor(workers / 2));
        await pause((error.retryAfterSeconds ?? 1) * 1000, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  /** A mistake of ours: it is told once the others have ended. */
  function unexpected(cause: unknown): BillingError {
    stoppedBy ??= new BillingError('internal', `unexpected: ${String(cause)}`, { cause });
    return stoppedBy;
  }

  function failed({ lines }: Unit, error: BillingError): RowOutcome[] {
    outages = unsure.has(error.kind) ? outages + 1 : 0;
    if (hopeless.has(error.kind) || outages >= failuresInARow) stoppedBy ??= error;
    const status = unsure.has(error.kind) ? 'unknown' : 'failed';
    return lines.map((line) => ({ line, status, id: '', error: error.message }));
  }

  function keep(rows: readonly RowOutcome[]): void {
    for (const row of rows) outcomes.set(row.line, row);
    onDone(outcomes.size);
  }

  await Promise.all(Array.from({ length: options.concurrency }, (_, index) => work(index)));
  if (signal.aborted) stoppedBy ??= new BillingError('interrupted', 'interrupted');
  const all = units.flatMap(({ lines }) => lines);
  const pending = (line: number): RowOutcome => ({ line, status: 'pending', id: '', error: '' });
  return { outcomes: all.map((line) => outcomes.get(line) ?? pending(line)), stoppedBy };
}
