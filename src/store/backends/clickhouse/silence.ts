/**
 * Tells a server that takes requests and never answers from one that is slow: a slow server answers a ping meanwhile. Whoever
 * waits for a silent server may hold the turn of a whole book.
 */

import { setTimeout as sleep } from 'node:timers/promises';

import { UnavailableError } from '../../../errors.ts';
import { limits } from '../../../limits.ts';

/** In milliseconds. */
export interface Patience {
  /** If an answer takes longer, the server is pinged. */
  readonly answer: number;
  readonly ping: number;
  /** Between two pings of a silent server. */
  readonly pause: number;
}

export interface Watched {
  /**
   * Gives what `work` gives. Throws UnavailableError if the server falls silent meanwhile, and at once if it is known to be
   * silent.
   */
  readonly whileItAnswers: <T>(work: (over: AbortSignal) => Promise<T>) => Promise<T>;
  /** Called when the server has answered somebody else. */
  readonly hasAnswered: () => void;
  readonly silent: (cause?: unknown) => UnavailableError;
  readonly close: () => void;
}

const usualPatience: Patience = {
  answer: limits.eventAnswerMilliseconds,
  ping: limits.eventPingMilliseconds,
  pause: limits.eventPauseMilliseconds,
};

/** Watches the server at `location`; `ping` gets any answer at all from it. */
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
      hint: 'check that the server is working, then repeat the command',
    });
  }

  /** Runs beside the calls, so that none of them waits for it. */
  async function waitForSign(): Promise<void> {
    if (isSilent) return;
    isSilent = true;
    while (isSilent) {
      await sleep(patience.pause, undefined, { ref: false, signal: closing.signal });
      if (isSilent && (await pinged())) isSilent = false;
    }
  }

  /** Throws if the server answers nobody. */
  async function silence(over: AbortSignal): Promise<never> {
    for (;;) {
      await sleep(patience.answer, undefined, { ref: false, signal: over });
      // Pinged twice, because it may be this process that stood still.
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
