/** Waits when a service asks for it, longer than a single request does by itself. */

import { setTimeout as pause } from 'node:timers/promises';

import { BillingError } from '../../errors.ts';
import type { ErrorKind } from '../../errors.ts';
import { limits } from '../../limits.ts';
import { say } from '../terminal/safe-text.ts';
import type { Session } from './session.ts';
import { tell } from './tell.ts';

export type OnWait = (error: BillingError) => void;

/** Repeats a call that was refused for its rate, when the service says: a refused call did nothing. */
export async function patiently<T>(call: () => Promise<T>, onWait: OnWait): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof BillingError) || error.kind !== 'rateLimited' || isTooLong(error)) throw error;
      if (error.retryAfterSeconds === undefined || attempt === limits.requestAttempts) throw error;
      onWait(error);
      await pause(error.retryAfterSeconds * 1000);
    }
  }
}

/** After these errors the service may answer a moment later. */
export const passing: ReadonlySet<ErrorKind> = new Set<ErrorKind>(['network', 'unavailable']);
/** Seconds before each further try of what got no answer: half a minute in all, which outlasts a restart of the service. */
const outagePauses = [1, 2, 4, 8, 16];

/** How often a request of long work waits until the rate of a service admits it. */
const waitsForRate = 100;

/** How often a request has waited so far. */
export interface Waits {
  rate: number;
  outage: number;
}

/**
 * Repeats a call that gets no answer or was refused for its rate; the call has to do no more when it is made twice. Throws an
 * interruption in place of such a failure once `signal` says to stop.
 */
export async function throughOutage<T>(
  call: () => Promise<T>,
  { onWait, signal }: { readonly onWait: OnWait; readonly signal?: AbortSignal | undefined },
): Promise<T> {
  const waits: Waits = { rate: 0, outage: 0 };
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof BillingError)) throw error;
      const seconds = secondsUntilNext(error, waits);
      if (seconds === undefined) throw error;
      if (signal?.aborted !== true) {
        onWait(error);
        await pause(seconds * 1000, undefined, { signal }).catch(() => undefined);
      }
      if (signal?.aborted === true) {
        const hint = 'repeat the command to go on: what is done counts once';
        throw new BillingError('interrupted', 'interrupted', { cause: error, hint });
      }
    }
  }
}

/** Seconds until a request of long work is sent again; undefined if it is not. Counts the wait. */
export function secondsUntilNext(error: BillingError, waits: Waits): number | undefined {
  if (isTooLong(error)) return undefined;
  const { kind, retryAfterSeconds, answeredStatus } = error;
  if (kind === 'rateLimited') {
    waits.rate += 1;
    return waits.rate > waitsForRate ? undefined : (retryAfterSeconds ?? 1);
  }
  if (!passing.has(kind)) return undefined;
  const seconds = outagePauses[waits.outage];
  waits.outage += 1;
  // What a database in this process says is meant for callers over HTTP: five seconds would not outlast a restart of its server.
  const told = answeredStatus === undefined ? undefined : retryAfterSeconds;
  return seconds === undefined ? undefined : (told ?? seconds);
}

/** Whether a service asks for more time than a call may take: then a person had better come back later. */
function isTooLong({ retryAfterSeconds = 0 }: BillingError): boolean {
  return retryAfterSeconds * 1000 > limits.totalTimeoutMilliseconds;
}

/** Says what the wait is for, once for each kind of failure. */
export function createWaitingNote(session: Pick<Session, 'terminal' | 'flags'>): OnWait {
  const told = new Set<ErrorKind>();
  return ({ kind, message }) => {
    if (told.has(kind)) return;
    told.add(kind);
    if (kind === 'rateLimited') tell(session, say`the service limits the requests a minute: going on as it allows`);
    else tell(session, say`${message}: trying again for half a minute`);
  };
}
