/** One exchange through Node's http. */

import type { Agent, IncomingMessage, request as makeRequest } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import { bytesOf } from '../gathered-bytes.ts';
import { limits } from '../limits.ts';
import type { HttpRequest, Target } from './target.ts';

/** With any status, including redirects. */
export interface HttpAnswer {
  readonly kind: 'answer';
  readonly status: number;
  /** Names in lower case; for a repeated header, its first value. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly bytes: Uint8Array;
}

/** How requests reach a target: what makes them, and what makes and keeps the connections. */
export interface Way {
  readonly request: typeof makeRequest;
  readonly agent?: Agent;
  readonly createConnection?: () => Duplex;
  readonly address: Address;
}

/** Where a target listens; an empty port is the usual one of its protocol. */
export interface Address {
  readonly hostname: string;
  readonly port: string;
}

/** The address of a target; that of IPv6 without the brackets of a URL. */
export function addressOf({ origin }: Target): Address {
  const { hostname, port } = new URL(origin);
  return { hostname: hostname.startsWith('[') ? hostname.slice(1, -1) : hostname, port };
}

/** The time for the whole exchange is over. */
export class Late extends Error {}
/** The failure of an established connection, over which the request may have left. */
export class Broken extends Error {}
/** Nothing has come for `limits.responseHeadersTimeoutMilliseconds`. */
export class Silence extends Error {}
/** There was none within `limits.connectTimeoutMilliseconds`. */
export class NoConnection extends Error {}

/** Calls `late` when the time of an exchange is over, unless what it gives is called before. */
export type Deadline = (late: () => void) => () => void;

/** A deadline so many milliseconds from when the exchange begins. */
export function deadlineAfter(milliseconds: number): Deadline {
  return (late) => {
    const timer = setTimeout(late, milliseconds);
    return () => clearTimeout(timer);
  };
}

/**
 * Sends a request once, and gives the whole answer, whatever its status. Rejects with Broken once the connection stood, so that
 * the request may have arrived, and otherwise with what kept it from leaving.
 */
export async function exchange(way: Way, request: HttpRequest, deadline: Deadline): Promise<HttpAnswer> {
  const { body, headers, ...line } = request;
  const { request: make, address, ...by } = way;
  const sent = make({
    ...address,
    ...line,
    ...by,
    // Without this Node sends a body of GET or DELETE without its length, and the server reads it as the next request.
    headers: body === undefined ? headers : { ...headers, 'content-length': Buffer.byteLength(body) },
    maxHeaderSize: limits.responseHeaderBytes,
    timeout: limits.responseHeadersTimeoutMilliseconds,
  });
  sent.on('timeout', () => sent.destroy(new Silence()));
  sent.on('socket', (socket) => limitConnecting(socket, (error) => sent.destroy(error)));
  // Only this listener gets an error that occurs while the body is read: the body merely ends.
  let failure: unknown;
  let stands = false;
  let disarm: (() => void) | undefined;
  sent.on('socket', (socket) => whenConnected(socket, () => (stands = true)));
  try {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const fail = (error: Error): void => {
        failure ??= error;
        reject(error);
      };
      // Not by a signal: what Node loads for one takes a tenth of the whole request. Nor by destroying the request alone: that
      // tells nobody before it has a socket, and through a proxy it has none until the service itself has answered.
      disarm = deadline(() => {
        fail(new Late());
        sent.destroy();
      });
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
    disarm?.();
  }
}

/** Calls `fail` with NoConnection if the socket takes too long to connect. */
export function limitConnecting(socket: Socket, fail: (error: Error) => void): void {
  if (!socket.connecting) return;
  const timer = setTimeout(() => fail(new NoConnection()), limits.connectTimeoutMilliseconds);
  const done = (): void => clearTimeout(timer);
  whenConnected(socket, done);
  socket.once('close', done);
}

/** Calls at once if the socket is connected; nothing of a request leaves before that. */
export function whenConnected(socket: Socket, then: () => void): void {
  if (socket.connecting) socket.once('encrypted' in socket ? 'secureConnect' : 'connect', then);
  else then();
}

/** The body has more than `limits.responseBytes`. */
export class TooLarge extends Error {}

async function readAll(body: IncomingMessage): Promise<Uint8Array> {
  const bytes = await bytesOf(body, limits.responseBytes);
  if (bytes === undefined) throw new TooLarge(`more than ${limits.responseBytes} bytes`);
  return bytes;
}
