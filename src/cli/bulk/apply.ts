/** Sends the requests of a bulk job: several at a time, slower if the service asks for it, to the end of the file. */

import { setTimeout as pause } from 'node:timers/promises';

import { BillingError, UnsentError, reworded } from '../../errors.ts';
import type { ErrorKind } from '../../errors.ts';
import { isRefusal } from '../operator/journaled-billing.ts';
import { createWaitingNote, passing, secondsUntilNext } from '../session/patiently.ts';
import type { OnWait, Waits } from '../session/patiently.ts';
import { createProgress } from '../session/progress.ts';
import type { Session } from '../session/session.ts';
import { stopSignal } from '../session/stop-signal.ts';

/**
 * `repeated`: an earlier run had done it. `unknown`: no answer says whether it was done. `pending`: not sent, because the job
 * was stopped.
 */
export type RowStatus = 'done' | 'repeated' | 'failed' | 'unknown' | 'pending';

export interface RowOutcome {
  /** Line of the file. */
  readonly line: number;
  readonly status: RowStatus;
  readonly id: string;
  readonly error: string;
  /** Failed, but an earlier run had done it with other values: a row that is changed in the file is another row. */
  readonly wasDone?: true;
}

/** What is sent in one request. */
export interface Unit {
  readonly lines: readonly number[];
  /** How each row ended; throws if the request failed. */
  readonly send: () => Promise<readonly RowOutcome[]>;
  /** In a unit of several requests, the rows that were answered before one failed. */
  readonly answered?: readonly RowOutcome[];
}

export interface Applied {
  /** One for each row, in the order of the file. */
  readonly outcomes: readonly RowOutcome[];
  /** What stopped the job before its end; undefined if nothing did. */
  readonly stoppedBy: BillingError | undefined;
}

/** After these errors every further row would fail in the same way. */
const hopeless: ReadonlySet<ErrorKind> = new Set<ErrorKind>(['unauthorized', 'forbidden', 'notOffered']);
const done: ReadonlySet<RowStatus> = new Set<RowStatus>(['done', 'repeated']);
const failuresInARow = 5;

/** What stopped a job, in other words; `again` says how to go on, after whatever helps where every request was refused. */
export function stopped(cause: BillingError, words: string, again: string): BillingError {
  const { kind, hint } = cause;
  return reworded(cause, words, hopeless.has(kind) && hint !== undefined ? `${hint}; then ${again}` : again);
}

/** Sends all units and shows the progress. An interrupt ends the job once requests under way are done; `noun` names the rows. */
export async function applyUnits(
  units: readonly Unit[],
  session: Session,
  options: {
    readonly concurrency: number;
    readonly noun?: string;
    /** Called before each wait with its cause; tells the person when not given. */
    readonly onWait?: OnWait;
  },
): Promise<Applied> {
  const { concurrency, noun, onWait = createWaitingNote(session) } = options;
  const signal = stopSignal(session);
  const rowCount = units.reduce((sum, { lines }) => sum + lines.length, 0);
  const progress = await createProgress(session, rowCount, noun);
  try {
    const onDone = (rows: number) => progress.update({ rows, done: rows });
    return await sendUnits(units, { concurrency, signal, onDone, onWait });
  } finally {
    progress.stop();
  }
}

/**
 * A unit refused for its rate beyond the client's own patience waits here, and fewer others go on meanwhile. A unit without an
 * answer is sent again for half a minute; after that was in vain once, the next units are not repeated.
 */
async function sendUnits(
  units: readonly Unit[],
  options: {
    readonly concurrency: number;
    readonly signal: AbortSignal;
    readonly onDone: (rows: number) => void;
    readonly onWait: OnWait;
  },
): Promise<Applied> {
  const { signal, onDone, onWait } = options;
  const outcomes = new Map<number, RowOutcome>();
  let workers = options.concurrency;
  let next = 0;
  let outages = 0;
  let stoppedBy: BillingError | undefined;

  const isOver = (index: number) =>
    index >= workers || next >= units.length || stoppedBy !== undefined || signal.aborted;

  async function work(index: number): Promise<void> {
    while (!isOver(index)) {
      const unit = units[next];
      next += 1;
      if (unit !== undefined) keep(await sendPatiently(unit));
    }
  }

  async function sendPatiently(unit: Unit): Promise<readonly RowOutcome[]> {
    const waits: Waits = { rate: 0, outage: 0 };
    let isOpen = false;
    for (;;) {
      try {
        const sent = await unit.send();
        outages = 0;
        return sent;
      } catch (thrown) {
        const error = thrown instanceof BillingError ? thrown : unexpected(thrown);
        const seconds = signal.aborted ? undefined : patience(error, waits);
        if (seconds === undefined) return failed(unit, error, isOpen);
        isOpen ||= passing.has(error.kind) && !(error instanceof UnsentError);
        onWait(error);
        await pause(seconds * 1000, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  /** Seconds until a unit is sent again; undefined if it is not. */
  function patience(error: BillingError, waits: Waits): number | undefined {
    if (passing.has(error.kind) && outages > 0) return undefined;
    const seconds = secondsUntilNext(error, waits);
    if (error.kind === 'rateLimited' && seconds !== undefined) workers = Math.max(1, Math.floor(workers / 2));
    return seconds;
  }

  /** A mistake of ours: reported once the others have ended. */
  function unexpected(cause: unknown): BillingError {
    stoppedBy ??= new BillingError('internal', `unexpected: ${String(cause)}`, { cause });
    return stoppedBy;
  }

  function failed({ lines, answered = [] }: Unit, error: BillingError, isOpen: boolean): RowOutcome[] {
    outages = isRefusal(error.kind, false) ? 0 : outages + 1;
    if (hopeless.has(error.kind) || outages >= failuresInARow) stoppedBy ??= error;
    const status = isRefusal(error.kind, isOpen) ? 'failed' : 'unknown';
    const ended = new Set(answered.map(({ line }) => line));
    const others = lines.filter((line) => !ended.has(line));
    return [...answered, ...others.map((line) => ({ line, status, id: '', error: error.message }) as const)];
  }

  function keep(rows: readonly RowOutcome[]): void {
    for (const row of rows) outcomes.set(row.line, row);
    onDone(outcomes.size);
  }

  await Promise.all(Array.from({ length: options.concurrency }, (_, index) => work(index)));
  const all = units.flatMap(({ lines }) => lines).toSorted((one, other) => one - other);
  // An interrupt that came while the last rows were under way has stopped nothing.
  const isDone = (line: number) => done.has(outcomes.get(line)?.status ?? 'pending');
  if (signal.aborted && !all.every(isDone)) stoppedBy ??= new BillingError('interrupted', 'interrupted');
  const pending = (line: number): RowOutcome => ({ line, status: 'pending', id: '', error: '' });
  return { outcomes: all.map((line) => outcomes.get(line) ?? pending(line)), stoppedBy };
}
