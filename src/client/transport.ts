/** One try of one request: an answer, or why there is none and whether the request may have arrived. */

import type { Agent, ClientRequest, IncomingMessage, request as makeRequest } from 'node:http';
import type { Socket } from 'node:net';

import { reasonOfHost } from '../errors.ts';
import { bytesOf } from '../gathered-bytes.ts';
import { limits } from '../limits.ts';
import type { HttpRequest, Target } from './target.ts';
import { tlsFailure } from './tls-failure.ts';

/** With any status, including redirects. */
export interface HttpAnswer {
  readonly kind: 'answer';
  readonly status: number;
  /** Names in lower case; for a repeated header, its first value. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly bytes: Uint8Array;
}

/** No answer, or an incomplete one. */
export interface NoAnswer {
  readonly kind: 'noAnswer';
  /** What happened, to follow "HOST: ". */
  readonly reason: string;
  /** False only if the request provably never left. */
  readonly mayHaveArrived: boolean;
  /** Whether another try may fare better. */
  readonly isTemporary: boolean;
  /** What to do about it, if that is more than checking the address. */
  readonly hint?: string;
  readonly cause: unknown;
}

/** How the way to an https target differs from the usual one; other targets ignore it. */
export interface WayOptions {
  /** PEM of authorities that are trusted in addition to the system's. */
  readonly ca?: string | undefined;
  /**
   * Carries the connections and never sees their content (security 3, SEC-14). `except` names hosts that are reached without it,
   * as NO_PROXY does.
   */
  readonly proxy?: { readonly url: string; readonly except: string } | undefined;
}

/** In milliseconds. */
export interface Time {
  readonly left: number;
  readonly given: number;
}

/** `send` never rejects, even after `close`. */
export interface Transport {
  /** `time.left` is for this try, and `time.given` was for the whole call: that is what a person knows of. */
  send(request: HttpRequest, time: Time): Promise<HttpAnswer | NoAnswer>;
  close(): Promise<void>;
}

/** Connections to one target, opened by the first request. Never follows redirects (security 3, SEC-11). */
export function createTransport(target: Target, options: WayOptions): Transport {
  let way: Promise<Way> | undefined;
  let isClosed = false;
  return {
    async send(request, time) {
      try {
        if (isClosed) throw new Closed();
        way ??= openWay(target, options);
        return await exchange(await way, request, timerOf(time.left));
      } catch (error) {
        return noAnswer(error, timerOf(time.given));
      }
    },
    async close() {
      isClosed = true;
      const opened = await way;
      // By then a command has ended, and its sockets with it. Destroying a socket makes Node open the stream of standard error,
      // with which a command ends more slowly.
      if (opened !== undefined) setImmediate(() => opened.agent.destroy());
    },
  };
}

/** Nothing may be left of the time, or more than a timer can wait. */
function timerOf(milliseconds: number): number {
  return Math.min(limits.timerMilliseconds, Math.max(1, Math.round(milliseconds)));
}

/** How requests reach a target: what makes them, and what keeps the connections. */
interface Way {
  readonly request: typeof makeRequest;
  readonly agent: Agent;
  readonly address: { readonly hostname: string; readonly port: string };
}

async function openWay({ origin }: Target, { ca, proxy }: WayOptions): Promise<Way> {
  const { protocol, hostname, port } = new URL(origin);
  const address = { hostname: hostname.startsWith('[') ? hostname.slice(1, -1) : hostname, port };
  const sockets = { keepAlive: true, maxSockets: limits.socketsPerClient };
  if (protocol === 'http:') {
    const { Agent, request } = await import('node:http');
    return { request, agent: new Agent(sockets), address };
  }
  const { Agent, request } = await import('node:https');
  const agent = new Agent({
    ...sockets,
    // Explicit, so that neither NODE_TLS_REJECT_UNAUTHORIZED nor NODE_OPTIONS can turn it off.
    rejectUnauthorized: true,
    minVersion: limits.oldestTls,
    ...(ca === undefined ? {} : { ca: await withAuthorities(ca) }),
    ...(proxy === undefined ? {} : { proxyEnv: { HTTPS_PROXY: proxy.url, NO_PROXY: proxy.except } }),
  });
  return { request, agent, address };
}

class Closed extends Error {}
class Late extends Error {}
/** The failure of an established connection, over which the request may have left. */
class Broken extends Error {}
class Silence extends Error {}
class NoConnection extends Error {}

async function exchange(way: Way, request: HttpRequest, timeoutMilliseconds: number): Promise<HttpAnswer> {
  const { body, headers, ...line } = request;
  const sent = way.request({
    ...way.address,
    ...line,
    // Without this Node sends a body of GET or DELETE without its length, and the server reads it as the next request.
    headers: body === undefined ? headers : { ...headers, 'content-length': Buffer.byteLength(body) },
    agent: way.agent,
    maxHeaderSize: limits.responseHeaderBytes,
    timeout: limits.responseHeadersTimeoutMilliseconds,
  });
  sent.on('timeout', () => sent.destroy(new Silence()));
  sent.on('socket', (socket) => limitConnecting(socket, sent));
  // Only this listener gets an error that occurs while the body is read: the body merely ends.
  let failure: unknown;
  let stands = false;
  let deadline: NodeJS.Timeout | undefined;
  sent.on('socket', (socket) => whenConnected(socket, () => (stands = true)));
  try {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const fail = (error: Error): void => {
        failure ??= error;
        reject(error);
      };
      // Not by a signal: what Node loads for one takes a tenth of the whole request. Nor by destroying the request alone: that
      // tells nobody before it has a socket, and through a proxy it has none until the service itself has answered.
      deadline = setTimeout(() => {
        fail(new Late());
        sent.destroy();
      }, timeoutMilliseconds);
      sent.on('response', resolve);
      sent.on('error', fail);
      sent.end(body);
    });
    const first = Object.entries(answer.headersDistinct).map(([name, values]) => [name, values?.[0]]);
    const bytes = await readAll(answer);
    return { kind: 'answer', status: answer.statusCode ?? 0, headers: Object.fromEntries(first), bytes };
  } catch (error) {
    sent.destroy();
    throw stands ? new Broken('the connection broke', { cause: failure ?? error }) : (failure ?? error);
  } finally {
    clearTimeout(deadline);
  }
}

function limitConnecting(socket: Socket, sent: ClientRequest): void {
  if (!socket.connecting) return;
  const timer = setTimeout(() => sent.destroy(new NoConnection()), limits.connectTimeoutMilliseconds);
  const done = (): void => clearTimeout(timer);
  whenConnected(socket, done);
  socket.once('close', done);
}

/** Calls at once if the socket is connected; nothing of a request leaves before that. */
function whenConnected(socket: Socket, then: () => void): void {
  if (socket.connecting) socket.once('encrypted' in socket ? 'secureConnect' : 'connect', then);
  else then();
}

async function withAuthorities(ca: string): Promise<string[]> {
  const { getCACertificates } = await import('node:tls');
  return [...getCACertificates('default'), ca];
}

class TooLarge extends Error {}

async function readAll(body: IncomingMessage): Promise<Uint8Array> {
  const bytes = await bytesOf(body, limits.responseBytes);
  if (bytes === undefined) throw new TooLarge(`more than ${limits.responseBytes} bytes`);
  return bytes;
}

function noAnswer(thrown: unknown, timeoutMilliseconds: number): NoAnswer {
  // Nothing of a request leaves before its connection stands.
  const mayHaveArrived = thrown instanceof Broken;
  const error = mayHaveArrived ? thrown.cause : thrown;
  return { kind: 'noAnswer', mayHaveArrived, cause: error, ...whyNone(error, timeoutMilliseconds) };
}

function whyNone(error: unknown, timeoutMilliseconds: number): Pick<NoAnswer, 'reason' | 'isTemporary' | 'hint'> {
  if (error instanceof Closed) return { reason: 'the client is closed', isTemporary: false, hint: 'make another one' };
  if (error instanceof NoConnection)
    return { reason: `no connection within ${limits.connectTimeoutMilliseconds / 1000} seconds`, isTemporary: true };
  if (error instanceof Late)
    return { reason: `no answer within ${Math.ceil(timeoutMilliseconds / 10) / 100} seconds`, isTemporary: false };
  if (error instanceof TooLarge) return { reason: `not a valid response: ${error.message}`, isTemporary: false };
  if (error instanceof Silence) return { reason: 'the answer stopped coming', isTemporary: true };
  const code = codeOf(error);
  const unreached = reasonOfHost(code);
  if (unreached !== undefined) return { reason: unreached, isTemporary: code !== 'ENOTFOUND' };
  if (code === 'ERR_PROXY_TUNNEL') return { reason: whyNoTunnel(error as NoTunnel), isTemporary: false };
  const refused = tlsFailure(code);
  if (refused !== undefined) return { ...refused, isTemporary: false };
  if (code === 'HPE_HEADER_OVERFLOW')
    return {
      reason: `not a valid response: more than ${limits.responseHeaderBytes} bytes of headers`,
      isTemporary: false,
    };
  if (code.startsWith('HPE_')) return { reason: 'not a valid response: it is not HTTP', isTemporary: false };
  return { reason: 'the connection broke before the whole answer came', isTemporary: true };
}

/** What Node adds to the error of a connection by CONNECT that did not come about. */
interface NoTunnel {
  readonly statusCode?: number;
  readonly proxyTunnelTimeout?: number;
}

function whyNoTunnel({ statusCode, proxyTunnelTimeout }: NoTunnel): string {
  if (proxyTunnelTimeout !== undefined) return 'the proxy of HTTPS_PROXY does not answer';
  if (statusCode === 407) return 'the proxy of HTTPS_PROXY wants another user name or password (407)';
  return `the proxy of HTTPS_PROXY refuses to connect there${statusCode ? ` (${statusCode})` : ''}`;
}

function codeOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : '';
}
