/**
 * A server that takes requests and never answers, told from one that is slow with an answer: a slow one answers a ping
 * meanwhile. Who waits for a silent one may hold the turn of a whole book.
 */

import { setTimeout as sleep } from 'node:timers/promises';

import { UnavailableError } from '../../../errors.ts';
import { limits } from '../../../limits.ts';

/** In milliseconds. */
export interface Patience {
  /** An answer that takes longer has the server pinged. */
  readonly answer: number;
  readonly ping: number;
  /** From one ping of a silent server to the next. */
  readonly pause: number;
}

export interface Watched {
  /**
   * Gives what `work` gives. Throws UnavailableError where the server falls silent under it, and at once where it is known
   * to be silent.
   */
  readonly whileItAnswers: <T>(work: (over: AbortSignal) => Promise<T>) => Promise<T>;
  /** Told that the server has answered somebody else. */
  readonly hasAnswered: () => void;
  readonly silent: (cause?: unknown) => UnavailableError;
  readonly close: () => void;
}

const usualPatience: Patience = {
  answer: limits.eventAnswerMilliseconds,
  ping: limits.eventPingMilliseconds,
  pause: limits.eventPauseMilliseconds,
};

/** Watches over the server at `location`, which `ping` asks for any answer at all. */
export function watchForSilence(
  location: string,
  ping: (over: AbortSignal) => Promise<boolean>,
  patience: Patience = usualPatience,
): Watched {
  const closing = new AbortController();
  let isSilent = false;
  let pinging: Promise<boolean> | undefined;

  async function pinged(): Promise<boolean> {
    const over = AbortSignal.any([closing.signal, AbortSignal.timeout(patience.ping)]);
    return await (pinging ??= ping(over).finally(() => (pinging = undefined)));
  }

  function silent(cause?: unknown): UnavailableError {
    return new UnavailableError(`the events at ${location} do not answer`, {
      cause,
      retryAfterSeconds: Math.ceil(patience.pause / 1000),
      hint: 'check that the server does its work, then repeat the command',
    });
  }

  /** Beside the calls, so that none of them waits for it. */
  async function waitForSign(): Promise<void> {
    if (isSilent) return;
    isSilent = true;
    while (isSilent) {
      await sleep(patience.pause, undefined, { ref: false, signal: closing.signal });
      if (isSilent && (await pinged())) isSilent = false;
    }
  }

  /** Throws where the server answers nobody. */
  async function silence(over: AbortSignal): Promise<never> {
    for (;;) {
      await sleep(patience.answer, undefined, { ref: false, signal: over });
      // Once more, since it may be this process that stood still.
      if ((await pinged()) || (await pinged())) continue;
      over.throwIfAborted();
      void waitForSign().catch(leaveEnded);
      throw silent();
    }
  }

  return {
    async whileItAnswers(work) {
      if (isSilent) throw silent();
      const over = new AbortController();
      try {
        return await Promise.race([work(over.signal), silence(over.signal)]);
      } finally {
        over.abort();
      }
    },
    hasAnswered: () => {
      isSilent = false;
    },
    silent,
    close: () => closing.abort(),
  };
}

/** Nobody waits for it any more. */
function leaveEnded(error: unknown): void {
  if ((error as Error).name !== 'AbortError') throw error;
}
