/** Where webhooks may go: public addresses over https, so that nobody reaches internal ones (security 7, SEC-60). */

import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import { callbackify } from 'node:util';

/** All addresses of a name; rejects if there is none. */
export type ResolveHost = (
  hostname: string,
) => Promise<readonly { readonly address: string; readonly family: number }[]>;

export interface AddressRules {
  /** Default: as the system looks names up. */
  readonly resolve?: ResolveHost | undefined;
  /** For simulation: allows any port and private addresses, and plain http on this machine. */
  readonly allowPrivate: boolean;
}

const allowedPorts: ReadonlySet<string> = new Set(['', '443', '8443']);

const privateRanges = blockList([
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  // The unspecified address, loopback, addresses that embed an IPv4 address, and those that are not routed anywhere (IANA's
  // registry of special-purpose addresses).
  ['::', 96],
  ['::ffff:0:0:0', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
  ['5f00::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
]);
const loopback = blockList([
  ['127.0.0.0', 8],
  ['::1', 128],
]);

/** This machine, whether or not its resolver knows the name (RFC 6761). */
const ownNames = /(?:^|\.)localhost\.?$/;

/** Whether an IP address is not a public one of the internet, or the text is not an IP address at all. */
export function isPrivateAddress(address: string): boolean {
  return isIP(withoutZone(address)) === 0 || contains(privateRanges, address);
}

/**
 * Why nothing may be sent to a URL, as a clause to follow "url: "; undefined if it is allowed. A name that cannot be looked up
 * now passes: it reaches nothing, and every delivery checks again.
 */
export async function checkWebhookUrl(text: string, rules: AddressRules): Promise<string | undefined> {
  const problem = problemOfUrl(text, rules);
  if (problem !== undefined) return problem;
  const url = new URL(text);
  if (isIP(hostOf(url)) !== 0) return undefined;
  const { resolve = resolveHost } = rules;
  const addresses = ownNames.test(hostOf(url))
    ? [{ address: '127.0.0.1' }]
    : await resolve(hostOf(url)).catch(() => []);
  return problemOfAddresses(addresses, { ...rules, isPlain: url.protocol === 'http:' });
}

/** The same without looking names up: form, protocol, port, and an address in the URL itself. */
export function problemOfUrl(text: string, rules: Pick<AddressRules, 'allowPrivate'>): string | undefined {
  if (!URL.canParse(text)) return 'must be a URL such as https://hooks.example.com/billing';
  const url = new URL(text);
  const problem = problemOfForm(url, rules);
  if (problem !== undefined || isIP(hostOf(url)) === 0) return problem;
  return problemOfAddresses([{ address: hostOf(url) }], { ...rules, isPlain: url.protocol === 'http:' });
}

/**
 * Looks a name up for a connection and refuses it if one of its addresses is not allowed. The connection uses the very
 * addresses that were checked, so the name cannot change in between.
 */
export function checkedLookup(rules: AddressRules & { readonly isPlain: boolean }): LookupFunction {
  const { resolve = resolveHost } = rules;
  const look = callbackify(async (hostname: string) => {
    const addresses = await resolve(hostname);
    const problem = problemOfAddresses(addresses, rules);
    if (problem !== undefined) throw new AddressRefused(problem);
    return addresses;
  });
  return (hostname, options, callback) => {
    look(hostname, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error !== null || first === undefined) callback(error ?? new AddressRefused('has no address'), '');
      else if (options.all === true) callback(null, [...addresses]);
      else callback(null, first.address, first.family);
    });
  };
}

async function resolveHost(hostname: string) {
  return await lookup(hostname, { all: true });
}

/** A connection that was not made, because it would lead inside. */
export class AddressRefused extends Error {}

function problemOfForm(url: URL, { allowPrivate }: Pick<AddressRules, 'allowPrivate'>): string | undefined {
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password';
  if (url.protocol !== 'https:' && !(allowPrivate && url.protocol === 'http:')) {
    const isHere = url.protocol === 'http:' && isIP(hostOf(url)) !== 0 && contains(loopback, hostOf(url));
    return isHere ? 'must begin with https:// unless private addresses are allowed' : 'must begin with https://';
  }
  if (!allowPrivate && !allowedPorts.has(url.port))
    return 'must be on port 443 or 8443 unless private addresses are allowed';
  return undefined;
}

function problemOfAddresses(
  addresses: readonly { readonly address: string }[],
  { allowPrivate, isPlain }: { readonly allowPrivate: boolean; readonly isPlain: boolean },
): string | undefined {
  if (allowPrivate) {
    const isElsewhere = addresses.some(({ address }) => !contains(loopback, address));
    return isPlain && isElsewhere ? 'must begin with https:// unless it is on this machine' : undefined;
  }
  const found = addresses.some(({ address }) => isPrivateAddress(address));
  return found ? 'leads to a private address, where webhooks are sent only if that is allowed' : undefined;
}

/** The name or address in a URL, without the brackets of an IPv6 address. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

/** `BlockList` also matches an IPv4 address written as an IPv6 one (::ffff:127.0.0.1). */
function contains(list: BlockList, address: string): boolean {
  const bare = withoutZone(address);
  return list.check(bare, isIP(bare) === 6 ? 'ipv6' : 'ipv4');
}

/** `fe80::1%eth0` becomes `fe80::1`: a list matches no address with a zone. */
function withoutZone(address: string): string {
  return address.replace(/%.*$/s, '');
}

function blockList(ranges: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [network, bits] of ranges) list.addSubnet(network, bits, isIP(network) === 6 ? 'ipv6' : 'ipv4');
  return list;
}
