/** One try of one request: an answer, or why there is none and whether the request may have arrived. */

import type { Socket } from 'node:net';

import { reasonOfHost } from '../errors.ts';
import { limits } from '../limits.ts';
import { exchangeFirst, isPlainRequest } from './first-exchange.ts';
import {
  addressOf,
  deadlineAfter,
  exchange,
  type HttpAnswer,
  Broken,
  Late,
  NoConnection,
  Silence,
  TooLarge,
  type Way,
} from './http-exchange.ts';
import type { HttpRequest, Target } from './target.ts';
import { tlsFailure } from './tls-failure.ts';

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

/** Nothing of it rejects, even after `close`. */
export interface Transport {
  /** Loads what the next `send` needs: that is no part of how long its exchange takes. */
  ready(): Promise<void>;
  /** `time.left` is for this try, and `time.given` was for the whole call: that is what a person knows of. */
  send(request: HttpRequest, time: Time): Promise<HttpAnswer | NoAnswer>;
  close(): Promise<void>;
}

/** Most commands make one exchange, and some ask before who the service is. */
const bareExchanges = 2;

/** Connections to one target, opened by the first request. Never follows redirects (security 3, SEC-11). */
export function createTransport(target: Target, options: WayOptions): Transport {
  const bare: Socket[] = [];
  let bareCount = 0;
  let way: Promise<Way> | undefined;
  let isClosed = false;
  const openedWay = async (): Promise<Way> => await (way ??= openWay(target, options));
  const mayBeBare = (): boolean => way === undefined && bareCount < bareExchanges && isOfThisMachine(target);
  const hold = (socket: Socket): void => {
    bare.push(socket);
    if (isClosed) socket.destroy();
  };
  return {
    async ready() {
      // Why there is no way is told by `send`.
      if (!isClosed && !mayBeBare()) await openedWay().catch(() => {});
    },
    async send(request, time) {
      try {
        if (isClosed) throw new Closed();
        const timeoutMilliseconds = timerOf(time.left);
        if (mayBeBare() && isPlainRequest(request)) {
          bareCount += 1;
          return await exchangeFirst({ target, request, timeoutMilliseconds, hold });
        }
        return await exchange(await openedWay(), request, deadlineAfter(timeoutMilliseconds));
      } catch (error) {
        return noAnswer(error, timerOf(time.given));
      }
    },
    async close() {
      isClosed = true;
      const opened = await way?.catch(() => undefined);
      // By then a command has ended, and its sockets with it. Destroying a socket makes Node open the stream of standard error,
      // with which a command ends more slowly.
      setImmediate(() => {
        opened?.agent?.destroy();
        for (const socket of bare) socket.destroy();
      });
    },
  };
}

/** Nothing may be left of the time, or more than a timer can wait. */
function timerOf(milliseconds: number): number {
  return Math.min(limits.timerMilliseconds, Math.max(1, Math.round(milliseconds)));
}

async function openWay(target: Target, { ca, proxy }: WayOptions): Promise<Way> {
  const address = addressOf(target);
  const sockets = { keepAlive: true, maxSockets: limits.socketsPerClient };
  if (isOfThisMachine(target)) {
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

/** Others are reached by https alone (security 3, SEC-10). */
function isOfThisMachine({ origin }: Target): boolean {
  return origin.startsWith('http:');
}

class Closed extends Error {}

async function withAuthorities(ca: string): Promise<string[]> {
  const { getCACertificates } = await import('node:tls');
  return [...getCACertificates('default'), ca];
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
