/** Where requests go: which base URLs and keys are accepted, and how a call becomes a method, a path and a body. */

import { BillingError, InvalidInputError, UnauthorizedError } from '../errors.ts';
import { isLoopbackAddress } from '../loopback.ts';
import { apiKeyForm, apiKeyFormWords } from '../operations/api-key.ts';
import { checkVersionForm, pathParameters } from '../operations/operation.ts';
import type { CallInput, Method, OperationFacts } from '../operations/operation.ts';

export interface Target {
  readonly origin: string;
  /** The path before `/v1`, without a trailing slash; mostly empty. */
  readonly basePath: string;
  /** Host and port, for messages. */
  readonly host: string;
}

/**
 * The target of a base URL. Throws a usage error for anything but https, or http to a numeric address of this machine
 * (security 3, SEC-10): a name such as `localhost` is looked up, and may lead elsewhere.
 */
export function parseBaseUrl(text: string): Target {
  const url = URL.parse(text);
  if (url === null) throw urlError(text, 'is not a URL; write it like https://billing.example.com');
  if (url.username !== '' || url.password !== '') {
    throw new BillingError('usage', 'the base URL must not carry a user name or password');
  }
  if (url.search !== '' || url.hash !== '') throw urlError(text, 'must have no ? or # after its path');
  // The parser has made `127.1` an address, and of `127.0.0.1.example.com` none.
  if (url.protocol === 'http:' && !isLoopbackAddress(url.hostname)) {
    const isLocalName = url.hostname === 'localhost' || url.hostname.endsWith('.localhost');
    throw urlError(text, isLocalName ? 'must call this machine 127.0.0.1' : 'must begin with https://');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw urlError(text, 'must begin with https://');
  const { origin, pathname, host } = url;
  return { origin, basePath: pathname === '/' ? '' : pathname.replace(/\/+$/, ''), host };
}

/**
 * The URL of a proxy for https; without a scheme it means http, as in other programs. Throws a usage error, because ignoring a
 * proxy would leave the route that somebody has prescribed. The error does not repeat the text, which may hold a password.
 */
export function parseProxyUrl(text: string): string {
  const withScheme = text.includes('://') ? text : `http://${text}`;
  const url = URL.parse(withScheme);
  if ((url?.protocol === 'http:' || url?.protocol === 'https:') && isDecodable(url)) return url.href;
  throw new BillingError('usage', 'HTTPS_PROXY does not name a usable proxy', {
    hint: 'write it like http://proxy.example.com:8080, with %25 for a % in a password; SOCKS is not supported',
  });
}

/** Whether Node can decode user name and password for the proxy: it throws at the first connection otherwise. */
function isDecodable({ username, password }: URL): boolean {
  try {
    decodeURIComponent(`${username}:${password}`);
    return true;
  } catch {
    return false;
  }
}

function urlError(text: string, words: string): BillingError {
  return new BillingError('usage', `the base URL ${JSON.stringify(text.slice(0, 200))} ${words}`);
}

/** Throws UnauthorizedError for a text that cannot be a key, so that it never reaches a header (security 2, SEC-3). */
export function checkKeyForm(key: string): void {
  if (apiKeyForm.test(key)) return;
  throw new UnauthorizedError(`the API key does not have the form ${apiKeyFormWords}`, {
    hint: 'give the key as it was shown when it was created; where this one is from: tally profile show',
  });
}

export interface HttpRequest {
  readonly method: Method;
  /** The path with its query, percent-encoded. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The request of a call. Throws InvalidInputError for an id that cannot be part of a path. */
export function requestOf(target: Target, operation: OperationFacts, input: CallInput): HttpRequest {
  if (operation.route === undefined) throw new Error(`${operation.name} has no route`);
  const { method, path } = operation.route;
  const query = new URLSearchParams(input.query ?? {}).toString();
  // Null is a body, though no operation accepts it.
  const body = input.body === undefined && operation.body !== undefined ? {} : input.body;
  return {
    method,
    path: `${target.basePath}${filledPath(path, input.params ?? {})}${query === '' ? '' : `?${query}`}`,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(input.ifMatch === undefined || operation.versioned !== true ? {} : { 'if-match': quoted(input.ifMatch) }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
}

function filledPath(path: string, params: Readonly<Record<string, string>>): string {
  return pathParameters(path).reduce(
    (filled, name) => filled.replace(`{${name}}`, () => segment(name, params[name])),
    path,
  );
}

/** One path segment, with nothing that a proxy could take for another path (security 3, SEC-13). */
function segment(name: string, value: string | undefined): string {
  if (value === undefined) throw new InvalidInputError([{ path: name, message: 'is required' }]);
  const isSafe = value !== '' && value !== '.' && value !== '..' && value.isWellFormed() && !/\p{Cc}/u.test(value);
  if (isSafe) return encodeURIComponent(value);
  throw new InvalidInputError([{ path: name, message: 'cannot be an id' }]);
}

function quoted(version: string): string {
  checkVersionForm(version);
  return `"${version}"`;
}
