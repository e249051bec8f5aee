/**
 * How much an address may send, per IPv4 address or IPv6 /64 (security 5, SEC-35): a token bucket for requests, one for the bytes
 * of requests with events, which do not count as requests, and one for refused keys.
 */

// Only for normalizing addresses. The package's own limiter takes ten times as long, with a promise for each look.
import { normalizeIP } from '@fastify/rate-limit';
import type { FastifyRequest } from 'fastify';

import { RateLimitedError } from '../errors.ts';
import { limits } from '../limits.ts';
import { keepLatest, keepNewest } from '../once.ts';
import type { Moment } from '../operations/field-rules.ts';

const windowMilliseconds = 60_000;

export interface RateLimits {
  /** Counts a request; throws RateLimitedError if its address has sent too many. */
  countRequest(request: FastifyRequest): void;
  /** Throws RateLimitedError if its address has sent too many bytes of events. */
  checkEventBytes(request: FastifyRequest): void;
  /** Counts the bytes of a body. If they are more than were left, the next bodies have to wait. */
  countEventBytes(request: FastifyRequest, bytes: number): void;
  /** Throws RateLimitedError if too many keys from this address were refused. */
  checkRefusedKeys(request: FastifyRequest): void;
  countRefusedKey(request: FastifyRequest): void;
}

export interface RateLimitOptions {
  /** 0 lifts all limits. */
  readonly requestsPerMinute: number;
  readonly eventBytesPerMinute: number;
  readonly now: () => Moment;
}

const unlimited: RateLimits = {
  countRequest: () => {},
  checkEventBytes: () => {},
  countEventBytes: () => {},
  checkRefusedKeys: () => {},
  countRefusedKey: () => {},
};

/** The rate limits of one server. */
export function createRateLimits({ requestsPerMinute, eventBytesPerMinute, now }: RateLimitOptions): RateLimits {
  if (requestsPerMinute === 0) return unlimited;
  const requests = createTokenBuckets(requestsPerMinute, now);
  const eventBytes = createTokenBuckets(eventBytesPerMinute, now);
  const refusedKeys = createTokenBuckets(limits.failedAuthenticationsPerMinute, now);
  return {
    countRequest({ ip }) {
      refuseAfter(requests.take(addressOf(ip)), `too many requests: at most ${requestsPerMinute} a minute`);
    },
    checkEventBytes({ ip }) {
      refuseAfter(
        eventBytes.waitOf(addressOf(ip)),
        `too many events: at most ${eventBytesPerMinute} bytes of them a minute`,
      );
    },
    countEventBytes({ ip }, bytes) {
      eventBytes.spend(addressOf(ip), bytes);
    },
    checkRefusedKeys({ ip }) {
      refuseAfter(
        refusedKeys.waitOf(addressOf(ip)),
        `too many refused keys: at most ${limits.failedAuthenticationsPerMinute} a minute`,
      );
    },
    countRefusedKey({ ip }) {
      refusedKeys.take(addressOf(ip));
    },
  };
}

/** Normalizing an address takes longer than counting it. Behind a proxy an address may be a text of any length. */
const knownAddress = keepLatest<string>(limits.rateLimitedAddresses, 64 * limits.rateLimitedAddresses);

/**
 * Without the port that some proxies append to an address, because every connection has another one. A connection that was reset
 * before it was accepted has no address, whatever the type says: all of these count as one.
 */
function addressOf(ip: string | undefined = ''): string {
  return knownAddress(ip, () => {
    const [, six, four] = /^(?:\[([^\]]+)\]|([\d.]+)):\d+$/.exec(ip) ?? [];
    return normalizeIP(six ?? four ?? ip);
  });
}

function refuseAfter(waitMilliseconds: number, words: string): void {
  if (waitMilliseconds === 0) return;
  throw new RateLimitedError(words, { retryAfterSeconds: Math.ceil(waitMilliseconds / 1000) });
}

/** Counts in fractions of a token, so that all arithmetic is in integers: a window's milliseconds make one token. */
interface Bucket {
  readonly fractions: number;
  readonly filledAt: number;
}

/**
 * `waitOf` and `take` give the milliseconds until the next token, 0 if there is one. Tokens spent beyond the last have to come
 * in first. The least recently seen addresses are forgotten.
 */
function createTokenBuckets(tokens: number, now: () => Moment) {
  const buckets = new Map<string, Bucket>();
  const full = tokens * windowMilliseconds;

  function fill(address: string): Bucket {
    const filledAt = now().epochMilliseconds;
    const bucket = buckets.get(address);
    if (bucket === undefined) return { fractions: full, filledAt };
    const gained = Math.max(0, filledAt - bucket.filledAt) * tokens;
    return { fractions: Math.min(full, bucket.fractions + gained), filledAt };
  }

  function keep(address: string, { fractions, filledAt }: Bucket, spent: number): void {
    buckets.delete(address);
    buckets.set(address, { fractions: fractions - spent * windowMilliseconds, filledAt });
    keepNewest(buckets, limits.rateLimitedAddresses);
  }

  const waitFor = ({ fractions }: Bucket): number => Math.max(0, Math.ceil((windowMilliseconds - fractions) / tokens));

  return {
    waitOf(address: string): number {
      if (!buckets.has(address)) return 0;
      const bucket = fill(address);
      // Kept, or a clock that was set back would add nothing until it has come to where it was.
      keep(address, bucket, 0);
      return waitFor(bucket);
    },
    take(address: string): number {
      const bucket = fill(address);
      const wait = waitFor(bucket);
      keep(address, bucket, wait > 0 ? 0 : 1);
      return wait;
    },
    spend(address: string, spent: number): void {
      keep(address, fill(address), spent);
    },
  };
}
