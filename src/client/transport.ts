/** One try of one request over undici: an answer, or why there is none and whether the request can have arrived. */

import type { Dispatcher } from 'undici';

import { limits } from '../limits.ts';
import type { HttpRequest, Target } from './target.ts';
import { tlsFailure } from './tls-failure.ts';

export interface HttpAnswer {
  readonly kind: 'answer';
  readonly status: number;
  /** Names in lower case; of a repeated header the first value. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly bytes: Uint8Array;
}

export interface NoAnswer {
  readonly kind: 'noAnswer';
  /** What happened, to follow "HOST: ". */
  readonly reason: string;
  /** False only where the request provably never left. */
  readonly mayHaveArrived: boolean;
  /** Whether another try may fare better. */
  readonly isTemporary: boolean;
  /** What to do about it, where that is more than to look at the address. */
  readonly hint?: string;
  readonly cause: unknown;
}

/** How the way to an https target differs from the usual one. */
export interface Route {
  /** PEM of authorities that are trusted beside those of the system. */
  readonly ca?: string | undefined;
  /** Carries the connection and never sees what goes through it (security 3, SEC-14). */
  readonly proxy?: { readonly url: string; readonly except: string } | undefined;
}

export interface Transport {
  send(request: HttpRequest, timeoutMilliseconds: number): Promise<HttpAnswer | NoAnswer>;
  close(): Promise<void>;
}

/** Connections to one target. undici is loaded by the first request. Never follows a redirect (security 3, SEC-11). */
export function createTransport(target: Target, route: Route = {}): Transport {
  let pool: Promise<Dispatcher> | undefined;
  return {
    async send(request, timeoutMilliseconds) {
      pool ??= createPool(target, route);
      const signal = AbortSignal.timeout(Math.max(1, Math.round(timeoutMilliseconds)));
      try {
        const { statusCode, headers, body } = await (
          await pool
        ).request({
          origin: target.origin,
          method: request.method,
          path: request.path,
          headers: request.headers,
          body: request.body ?? null,
          signal,
        });
        const first = Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]);
        return { kind: 'answer', status: statusCode, headers: Object.fromEntries(first), bytes: await readAll(body) };
      } catch (error) {
        return noAnswer(error, timeoutMilliseconds);
      }
    },
    async close() {
      await (await pool)?.destroy();
    },
  };
}

async function createPool(target: Target, { ca, proxy }: Route): Promise<Dispatcher> {
  const { EnvHttpProxyAgent, Pool } = await import('undici');
  const authorities = ca === undefined ? {} : { ca: await withAuthorities(ca) };
  // Said outright, so that NODE_TLS_REJECT_UNAUTHORIZED cannot turn it off.
  const tls = { timeout: limits.connectTimeoutMilliseconds, rejectUnauthorized: true, ...authorities };
  const options = {
    connections: limits.socketsPerClient,
    connect: tls,
    headersTimeout: limits.responseHeadersTimeoutMilliseconds,
    bodyTimeout: limits.responseHeadersTimeoutMilliseconds,
    maxHeaderSize: limits.responseHeaderBytes,
    allowH2: false,
  };
  if (proxy === undefined || !target.origin.startsWith('https:')) return new Pool(target.origin, options);
  const { url: httpsProxy, except: noProxy } = proxy;
  return new EnvHttpProxyAgent({ ...options, requestTls: tls, proxyTls: tls, httpsProxy, httpProxy: '', noProxy });
}

async function withAuthorities(ca: string): Promise<string[]> {
  const { getCACertificates } = await import('node:tls');
  return [...getCACertificates('default'), ca];
}

class TooLarge extends Error {}

async function readAll(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > limits.responseBytes) throw new TooLarge(`more than ${limits.responseBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

/** Failures before a connection stands: nothing was sent. */
const unsent: Readonly<Record<string, { readonly reason: string; readonly isTemporary: boolean }>> = {
  ECONNREFUSED: { reason: 'nothing answers at this address', isTemporary: true },
  EHOSTUNREACH: { reason: 'the host cannot be reached', isTemporary: true },
  ENETUNREACH: { reason: 'the network cannot be reached', isTemporary: true },
  EAI_AGAIN: { reason: 'the name cannot be looked up now', isTemporary: true },
  UND_ERR_CONNECT_TIMEOUT: {
    reason: `no connection within ${limits.connectTimeoutMilliseconds / 1000} seconds`,
    isTemporary: true,
  },
  ENOTFOUND: { reason: 'there is no host of this name', isTemporary: false },
};

function noAnswer(error: unknown, timeoutMilliseconds: number): NoAnswer {
  const { code = '', name = '' } = error as { code?: unknown; name?: string } & Record<string, unknown>;
  const known = typeof code === 'string' ? unsent[code] : undefined;
  if (known !== undefined) return { kind: 'noAnswer', ...known, mayHaveArrived: false, cause: error };
  const refused = typeof code === 'string' ? tlsFailure(code) : undefined;
  if (refused !== undefined) {
    return { kind: 'noAnswer', ...refused, mayHaveArrived: false, isTemporary: false, cause: error };
  }
  const sent = { kind: 'noAnswer', mayHaveArrived: true, cause: error } as const;
  if (name === 'TimeoutError') {
    return {
      ...sent,
      reason: `no answer within ${Math.round(timeoutMilliseconds) / 1000} seconds`,
      isTemporary: false,
    };
  }
  if (error instanceof TooLarge) {
    return { ...sent, reason: `not a valid response: ${error.message}`, isTemporary: false };
  }
  if (name === 'HTTPParserError' || code === 'UND_ERR_HEADERS_OVERFLOW') {
    return { ...sent, reason: 'not a valid response: it is not HTTP', isTemporary: false };
  }
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') {
    return { ...sent, reason: 'the answer stopped coming', isTemporary: true };
  }
  return { ...sent, reason: 'the connection broke before the whole answer came', isTemporary: true };
}
