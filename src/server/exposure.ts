/** What a service must have before other machines can reach it, and how many connections one address may hold (security 5). */

import { BlockList, isIP } from 'node:net';
import type { Server, Socket } from 'node:net';

import { BillingError } from '../errors.ts';
import { isLoopback } from '../loopback.ts';

export interface Exposure {
  /** PEM texts; without them the service speaks plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  /** A proxy in front terminates TLS and counts connections. */
  readonly isBehindProxy?: boolean | undefined;
  /** Addresses of proxies whose X-Forwarded-For is trusted, as CIDR separated by commas; none by default. */
  readonly trustProxy?: string | undefined;
}

/**
 * Throws a usage error for an empty host, which Node takes for every address of the machine, if keys would cross a network in
 * clear text (SEC-30), or if any sender would be trusted (SEC-35).
 */
export function checkExposure(host: string, exposure: Exposure): void {
  if (host.trim() === '') {
    throw new BillingError('usage', '--host is empty', {
      hint: 'name the address to listen on; 0.0.0.0 and :: are every address of this machine',
    });
  }
  if (exposure.trustProxy !== undefined) rangesOf(exposure.trustProxy);
  if (isLoopback(host) || exposure.tls !== undefined || hasProxy(exposure)) return;
  throw new BillingError(
    'usage',
    `${host} is reached from other machines, and keys would cross the network in the clear`,
    {
      hint: 'give --tls-cert and --tls-key, or --behind-proxy where a proxy in front terminates TLS',
    },
  );
}

/** Whether others reach the service through a proxy in front of it. */
export function hasProxy({ isBehindProxy, trustProxy }: Exposure): boolean {
  return isBehindProxy === true || trustProxy !== undefined;
}

/** Throws a usage error for text that is not an address or range, and for the range of all addresses. */
function rangesOf(trustProxy: string): BlockList {
  const ranges = new BlockList();
  for (const range of trustProxy.split(',').map((text) => text.trim())) {
    const [address = '', bits, ...rest] = range.split('/');
    const family = isIP(address);
    const most = family === 6 ? 128 : 32;
    const length = bits === undefined ? most : Number(bits);
    const isRange = family !== 0 && rest.length === 0 && /^\d{1,3}$/.test(bits ?? '0') && length >= 1 && length <= most;
    if (!isRange) {
      throw new BillingError('usage', `--trust-proxy takes addresses such as 10.0.0.0/8, not "${range}"`, {
        hint: 'name only the proxies: whoever is trusted chooses the address that is limited',
      });
    }
    ranges.addSubnet(address, length, family === 6 ? 'ipv6' : 'ipv4');
  }
  return ranges;
}

/**
 * Closes connections that one address opens beyond `most` (SEC-36). Trusted proxies are not counted, because they carry many
 * clients; nor is anything behind an unnamed proxy, where nobody can tell clients apart.
 */
export function limitSockets(server: Server, most: number, { isBehindProxy, trustProxy }: Exposure): void {
  if (isBehindProxy === true && trustProxy === undefined) return;
  const trusted = trustProxy === undefined ? undefined : rangesOf(trustProxy);
  const open = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    if (trusted?.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4') === true) return;
    const count = (open.get(address) ?? 0) + 1;
    if (count > most) {
      socket.destroy();
      return;
    }
    open.set(address, count);
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
  });
}
