import { describe, expect, test } from 'vitest';

import { patiently, secondsUntilNext } from '../../../src/cli/session/patiently.ts';
import { ConflictError, RateLimitedError, UnavailableError } from '../../../src/errors.ts';
import type { BillingError } from '../../../src/errors.ts';
import { limits } from '../../../src/limits.ts';

/** How often a call is made that fails so, `times` times at most, and of how many waits is told. */
async function callsOf(failure: BillingError, times: number): Promise<{ calls: number; waits: number; end: unknown }> {
  let [calls, waits] = [0, 0];
  const end = await patiently(
    async () => {
      calls += 1;
      return calls > times ? await Promise.resolve('done') : await Promise.reject(failure);
    },
    () => void (waits += 1),
  ).catch((error: unknown) => error);
  return { calls, waits, end };
}

describe('a call that is refused for its rate', () => {
  const busy = new RateLimitedError('too many requests', { retryAfterSeconds: 0 });

  test('is made again when the service says', async () => {
    expect(await callsOf(busy, 2)).toEqual({ calls: 3, waits: 2, end: 'done' });
  });

  test('is given up after as many tries as a request has', async () => {
    const { requestAttempts } = limits;
    expect(await callsOf(busy, 100)).toEqual({ calls: requestAttempts, waits: requestAttempts - 1, end: busy });
  });

  test('is given up at once where the wait would be longer than a call may take', async () => {
    const late = new RateLimitedError('too many requests', {
      retryAfterSeconds: limits.totalTimeoutMilliseconds / 1000 + 1,
    });
    expect(await callsOf(late, 1)).toEqual({ calls: 1, waits: 0, end: late });
  });
});

test.each([
  ['a service', 503, [1, 1, 1, 1, 1, undefined]],
  ['a database in this process', undefined, [1, 2, 4, 8, 16, undefined]],
])('long work that %s keeps from going on waits as that says, or half a minute', (_, answeredStatus, seconds) => {
  const away = new UnavailableError('away', { retryAfterSeconds: 1, answeredStatus });
  const waits = { rate: 0, outage: 0 };
  expect(seconds.map(() => secondsUntilNext(away, waits))).toEqual(seconds);
});

test('a call that is refused for anything else is made once', async () => {
  const conflict = new ConflictError('it is so already');
  expect(await callsOf(conflict, 1)).toEqual({ calls: 1, waits: 0, end: conflict });
});
