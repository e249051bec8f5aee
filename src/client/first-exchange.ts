/**
 * The first exchanges of a process with a service on this machine, each over a bare socket: most commands make one or two, and
 * what Node loads and compiles for its http is a tenth of their time.
 */

import type { Socket } from 'node:net';

import { gatherBytes } from '../gathered-bytes.ts';
import { limits } from '../limits.ts';
import {
  addressOf,
  exchange,
  type HttpAnswer,
  Broken,
  Late,
  limitConnecting,
  Silence,
  whenConnected,
} from './http-exchange.ts';
import { type PlainHead, plainHeadOf } from './plain-answer.ts';
import type { HttpRequest, Target } from './target.ts';

export interface FirstExchange {
  readonly target: Target;
  readonly request: HttpRequest;
  readonly timeoutMilliseconds: number;
  /** Gets the socket before anything is sent. To hang up, destroy it. */
  readonly hold: (socket: Socket) => void;
}

/** Whether the request can be written as it stands; of any other, Node's http says what is wrong with it. */
export function isPlainRequest({ path, headers }: HttpRequest): boolean {
  return /^[!-~]+$/.test(path) && /^[\t -~]*$/.test(Object.values(headers).join(''));
}

/** Sends a plain request. An answer that is not in the plainest form is read by Node's http, from its first byte. */
export async function exchangeFirst({ timeoutMilliseconds, hold, ...sending }: FirstExchange): Promise<HttpAnswer> {
  const { connect } = await import('node:net');
  const { hostname, port } = addressOf(sending.target);
  const timeout = limits.responseHeadersTimeoutMilliseconds;
  const socket = connect({ host: hostname, port: Number(port || 80), timeout });
  const received = gatherBytes();
  let stands = false;
  let isAtEnd = false;
  let failure: Error | undefined;
  let give: (failure: Error) => void = () => {};
  const fail = (error: Error): void => {
    failure ??= error;
    give(failure);
  };
  let late = (): void => fail(new Late());
  const deadline = setTimeout(() => late(), timeoutMilliseconds);
  limitConnecting(socket, fail);
  whenConnected(socket, () => (stands = true));
  socket.on('timeout', () => fail(new Silence()));
  socket.on('error', fail);
  socket.on('end', () => (isAtEnd = true));
  let hangUp = (): void => fail(new Error('the connection was closed'));
  socket.on('close', () => {
    if (!isAtEnd) hangUp();
  });
  hold(socket);
  try {
    const head = await new Promise<PlainHead | undefined>((resolve, reject) => {
      give = reject;
      let found: PlainHead | undefined;
      socket.on('end', () => resolve(undefined));
      socket.on('data', (piece: Buffer) => {
        received.add(piece);
        found ??= plainHeadOf(piece);
        if (found === undefined || received.length >= found.end) resolve(found);
      });
      socket.write(textOf(sending));
    });
    if (head === undefined) return await readByHttp();
    const { status, headers, start, end } = head;
    return { kind: 'answer', status, headers, bytes: received.whole().subarray(start, end) };
  } catch (error) {
    throw stands && !(error instanceof Broken) ? new Broken('the connection broke', { cause: error }) : error;
  } finally {
    clearTimeout(deadline);
    setImmediate(() => socket.destroy());
  }

  async function readByHttp(): Promise<HttpAnswer> {
    const { Duplex } = await import('node:stream');
    const { request } = await import('node:http');
    if (failure !== undefined) throw failure;
    // What is written to it has been sent already.
    const replayed = new Duplex({ read: () => {}, write: (_piece, _encoding, done) => done() });
    give = (error) => replayed.destroy(error);
    // Without an error, after which http takes a body that ends with its connection for a whole one.
    hangUp = () => replayed.destroy();
    socket.removeAllListeners('data');
    socket.on('data', (piece) => replayed.push(piece));
    replayed.push(received.whole());
    if (isAtEnd) replayed.push(null);
    else socket.on('end', () => replayed.push(null));
    const way = { request, createConnection: () => replayed, address: addressOf(sending.target) };
    // That time is over tells the exchange itself: http does not tell what becomes of a connection that changes its protocol.
    return await exchange(way, sending.request, (told) => {
      late = told;
      return () => {};
    });
  }
}

function textOf({ target, request }: Pick<FirstExchange, 'target' | 'request'>): string {
  const { method, path, headers, body } = request;
  const hasLength = body !== undefined || (method !== 'GET' && method !== 'DELETE');
  const all = {
    host: target.host,
    connection: 'close',
    ...headers,
    ...(hasLength ? { 'content-length': Buffer.byteLength(body ?? '') } : {}),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`;
}
