/** Who may come in: the key of a request, and what browsers must not do to a local service. */

import type { IncomingMessage } from 'node:http';

import { BadRequestError, ForbiddenError, UnauthorizedError } from '../errors.ts';
import { isLoopback } from '../loopback.ts';
import { keepLatest } from '../once.ts';

const bearer = /^Bearer ([ -~]{1,200})$/i;

/** The key of a request. Throws UnauthorizedError unless it has exactly one header `Bearer <key>` (interface 5.8, SEC-32). */
export function keyOf(message: IncomingMessage): string {
  const values = valuesOf(message, 'authorization');
  const key = values.length === 1 ? bearer.exec(values[0] ?? '')?.[1] : undefined;
  if (key !== undefined) return key;
  throw new UnauthorizedError('Missing or invalid Authorization header. Use: Authorization: Bearer <api_key>');
}

/**
 * Refuses what a web page could send to a service on this machine: any request with an Origin and, if the service listens on
 * loopback, any Host that is not loopback (DNS rebinding; security 5, SEC-30).
 */
export function refuseBrowsers(message: IncomingMessage, listeningHost: string): void {
  if (message.headers.origin !== undefined) {
    throw new ForbiddenError('requests from web pages are not accepted', {
      hint: 'call the service without an Origin header',
    });
  }
  const hosts = valuesOf(message, 'host');
  if (hosts.length !== 1) throw new BadRequestError('exactly one Host header is needed');
  if (!isLoopback(listeningHost) || namesLoopback(hosts[0] ?? '')) return;
  throw new ForbiddenError('this service answers only to the names of this machine', {
    hint: 'use 127.0.0.1 or localhost in the URL',
  });
}

/** One value for each time that the header was given; Node's own `headersDistinct` would collect all headers for it. */
function valuesOf({ rawHeaders }: IncomingMessage, name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const given = rawHeaders[index] ?? '';
    // Each request asks this twice, and most names differ in length.
    if (given.length === name.length && given.toLowerCase() === name) values.push(rawHeaders[index + 1] ?? '');
  }
  return values;
}

/** Few callers give many different ones. */
const latestHosts = keepLatest<boolean>(64, 64 * 256);

function namesLoopback(header: string): boolean {
  return latestHosts(header, () => isLoopback(hostName(header) ?? ''));
}

function hostName(header: string): string | undefined {
  const match = /^(?:\[([0-9a-f:.]{2,45})\]|([a-z0-9.-]{1,253}))(?::\d{1,5})?$/i.exec(header);
  return (match?.[1] ?? match?.[2])?.toLowerCase();
}
