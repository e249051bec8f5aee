/**
 * How many requests an address may send: one token bucket for all requests and one for refused keys, per IPv4 address
 * or IPv6 /64 (security 5, SEC-35).
 */

import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import { RateLimitedError } from '../errors.ts';
import { limits } from '../limits.ts';

const windowMilliseconds = 60_000;

export interface RateLimits {
  /** Counts a request; throws RateLimitedError when its address has sent too many. */
  countRequest(request: FastifyRequest): Promise<void>;
  /** Throws RateLimitedError when too many keys of this address were refused. */
  checkRefusedKeys(request: FastifyRequest): Promise<void>;
  countRefusedKey(request: FastifyRequest): Promise<void>;
}

export interface RateLimitOptions {
  /** 0 lifts both limits. */
  readonly requestsPerMinute: number;
  readonly now: () => Temporal.Instant;
}

const unlimited: RateLimits = {
  countRequest: async () => {},
  checkRefusedKeys: async () => {},
  countRefusedKey: async () => {},
};

/** Adds the rate limits of one server. */
export async function addRateLimits(app: FastifyInstance, options: RateLimitOptions): Promise<RateLimits> {
  if (options.requestsPerMinute === 0) return unlimited;
  await app.register(rateLimit, { global: false, store: tokenBuckets(options.now) });
  const requests = app.createRateLimit({ max: options.requestsPerMinute, timeWindow: windowMilliseconds });
  const refusedKeys = app.createRateLimit({
    max: limits.failedAuthenticationsPerMinute,
    timeWindow: windowMilliseconds,
  });
  return {
    countRequest: async (request) => {
      refuseExceeded(await requests(request), `too many requests: at most ${options.requestsPerMinute} a minute`);
    },
    checkRefusedKeys: async (request) => {
      refuseExceeded(
        await refusedKeys(request, { increment: false }),
        `too many refused keys: at most ${limits.failedAuthenticationsPerMinute} a minute`,
      );
    },
    countRefusedKey: async (request) => {
      await refusedKeys(request);
    },
  };
}

type LimitState = Awaited<ReturnType<ReturnType<FastifyInstance['createRateLimit']>>>;

function refuseExceeded(state: LimitState, words: string): void {
  if (state.isAllowed || !state.isExceeded) return;
  const retryAfterSeconds = Math.max(1, state.ttlInSeconds);
  throw new RateLimitedError(words, { retryAfterSeconds });
}

/** Fractions of a token, so that all arithmetic is of whole numbers: a window's milliseconds make one token. */
interface Bucket {
  readonly fractions: number;
  readonly filledAt: number;
}

type Report = (error: Error | null, result?: { current: number; ttl: number }) => void;

/** The plugin's store as token buckets on an injected clock; the least recently seen addresses are forgotten. */
function tokenBuckets(now: () => Temporal.Instant) {
  return class TokenBuckets {
    readonly #buckets = new Map<string, Bucket>();

    incr(address: string, report: Report, window: number, max: number): void {
      const bucket = this.#fill(address, window, max);
      const isExceeded = bucket.fractions < window;
      this.#buckets.delete(address);
      this.#buckets.set(address, isExceeded ? bucket : { ...bucket, fractions: bucket.fractions - window });
      const [oldest] = this.#buckets.keys();
      if (this.#buckets.size > limits.rateLimitedAddresses && oldest !== undefined) this.#buckets.delete(oldest);
      report(null, stateOf(bucket, window, max));
    }

    read(address: string, report: Report, window: number, max: number): void {
      report(null, stateOf(this.#fill(address, window, max), window, max));
    }

    child(): TokenBuckets {
      return new TokenBuckets();
    }

    #fill(address: string, window: number, max: number): Bucket {
      const filledAt = now().epochMilliseconds;
      const bucket = this.#buckets.get(address) ?? { fractions: max * window, filledAt };
      const gained = Math.max(0, filledAt - bucket.filledAt) * max;
      return { fractions: Math.min(max * window, bucket.fractions + gained), filledAt };
    }
  };
}

/** The plugin calls a limit exceeded when `current` is above the maximum; `ttl` is then the wait for the next token. */
function stateOf(bucket: Bucket, window: number, max: number): { current: number; ttl: number } {
  if (bucket.fractions >= window) return { current: max, ttl: 0 };
  return { current: max + 1, ttl: Math.ceil((window - bucket.fractions) / max) };
}
