import type { FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';

import { RateLimitedError } from '../../src/errors.ts';
import { limits } from '../../src/limits.ts';
import { createRateLimits } from '../../src/server/rate-limit.ts';
import { createClock } from '../support/world.ts';

/** Requests of addresses against a clock that stands still; `send` gives the seconds to wait, 0 for one that is let in. */
function limited(requestsPerMinute: number) {
  const clock = createClock();
  const rateLimits = createRateLimits({ requestsPerMinute, eventBytesPerMinute: 1, now: clock.now });
  const send = (ip = '192.0.2.1'): number => {
    try {
      rateLimits.countRequest({ ip } as FastifyRequest);
      return 0;
    } catch (error) {
      if (error instanceof RateLimitedError) return error.retryAfterSeconds ?? -1;
      throw error;
    }
  };
  return { clock, send };
}

test('who was silent for an hour may send what a minute allows, and no more', () => {
  const { clock, send } = limited(3);
  expect([send(), send(), send(), send()]).toEqual([0, 0, 0, 20]);
  clock.advance({ hours: 1 });
  expect([send(), send(), send(), send()]).toEqual([0, 0, 0, 20]);
});

test('a wait is told in whole seconds, never in fewer than it takes', () => {
  const { clock, send } = limited(100);
  for (let count = 0; count < 100; count += 1) send();
  expect(send()).toBe(1);
  clock.advance({ milliseconds: 599 });
  expect(send()).toBe(1);
  clock.advance({ milliseconds: 1 });
  expect(send()).toBe(0);
});

test('a clock that goes back shuts nobody out for longer', () => {
  const { clock, send } = limited(1);
  expect(send()).toBe(0);
  clock.advance({ hours: -1 });
  expect(send()).toBe(60);
  clock.advance({ minutes: 1 });
  expect(send()).toBe(0);
});

test.each(['checkEventBytes', 'checkRefusedKeys'] as const)('nor does it by another limit: %s', (check) => {
  const clock = createClock();
  const rateLimits = createRateLimits({ requestsPerMinute: 1, eventBytesPerMinute: 1, now: clock.now });
  const request = { ip: '192.0.2.1' } as FastifyRequest;
  rateLimits.countEventBytes(request, 1);
  for (let count = 0; count < limits.failedAuthenticationsPerMinute; count += 1) rateLimits.countRefusedKey(request);
  clock.advance({ hours: -1 });
  expect(() => rateLimits[check](request)).toThrow(RateLimitedError);
  clock.advance({ minutes: 1 });
  expect(() => rateLimits[check](request)).not.toThrow();
});

/** Another address for each number. */
const addressOf = (number: number): string => `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`;

test('of more addresses than are kept, the one that was not seen for the longest is forgotten', () => {
  const { send } = limited(1);
  const [quiet, busy] = ['192.0.2.1', '192.0.2.2'];
  send(quiet);
  send(busy);
  const half = limits.rateLimitedAddresses / 2;
  for (let number = 0; number < half; number += 1) send(addressOf(number));
  expect(send(busy)).toBe(60);
  for (let number = half; number < limits.rateLimitedAddresses; number += 1) send(addressOf(number));
  expect(send(busy)).toBe(60);
  expect(send(quiet)).toBe(0);
});

test('an address is its IPv6 /64 to each of the limits, whatever counts there', () => {
  const rateLimits = createRateLimits({ requestsPerMinute: 1, eventBytesPerMinute: 1, now: createClock().now });
  const [one, neighbour, stranger] = ['2001:db8::1', '2001:db8::2', '2001:db8:0:1::1'].map(
    (ip) => ({ ip }) as FastifyRequest,
  ) as [FastifyRequest, FastifyRequest, FastifyRequest];
  rateLimits.countRequest(one);
  rateLimits.countEventBytes(one, 1);
  for (let count = 0; count < limits.failedAuthenticationsPerMinute; count += 1) rateLimits.countRefusedKey(one);
  for (const check of ['countRequest', 'checkEventBytes', 'checkRefusedKeys'] as const) {
    expect(() => rateLimits[check](neighbour)).toThrow(RateLimitedError);
    expect(() => rateLimits[check](stranger)).not.toThrow();
  }
});
