/** A client with a clock that only its own sleeping moves, and services that fail in every way. */

import { createServer as createHttpServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import type { Socket } from 'node:net';

import { onTestFinished } from 'vitest';
import * as z from 'zod';

import { createClient } from '../../src/client/client.ts';
import type { Client, ClientOptions, Retry } from '../../src/client/client.ts';
import { fullKey } from '../server/harness.ts';
import { freePort, listenOnLoopback } from '../support/free-port.ts';
import { createClock } from '../support/world.ts';

export interface TestClient extends Client {
  readonly retries: Retry[];
}

export function startClient(baseUrl: string, options: Partial<ClientOptions> = {}): TestClient {
  const clock = createClock();
  const retries: Retry[] = [];
  const client = createClient({
    baseUrl,
    key: fullKey,
    now: () => clock.now().epochMilliseconds,
    sleep: async (milliseconds) => clock.advance({ milliseconds }),
    random: () => 0.5,
    onRetry: (retry) => retries.push(retry),
    ...options,
  });
  onTestFinished(async () => client.close());
  return { ...client, retries };
}

/** What one request is answered with. */
export interface FakeAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export const json = { 'content-type': 'application/json; charset=utf-8' } as const;

export function envelope(status: number, message: string, headers: Readonly<Record<string, string>> = {}): FakeAnswer {
  return { status, headers: { ...json, ...headers }, body: JSON.stringify({ error: { message, code: 'SOME_CODE' } }) };
}

/** What a success cannot be without (src/client/answer-shape.ts), and nothing else. */
export function leastAnswer(schema: z.ZodType): unknown {
  const { shape } = schema as z.ZodObject;
  const data = shape['data'];
  if (data === undefined) return Object.fromEntries(Object.keys(shape).map((name) => [name, null]));
  if (data instanceof z.ZodNullable) return { data: null };
  if (data instanceof z.ZodArray) return { data: [] };
  const members = data instanceof z.ZodObject ? data.shape : {};
  if ('id' in members) return { data: { id: 'x' } };
  const lists = Object.entries(members).filter(([, member]) => member instanceof z.ZodArray);
  if (lists.length > 0) return { data: Object.fromEntries(lists.map(([name]) => [name, []])) };
  const [name = ''] = Object.keys(members);
  return { data: { [name]: null } };
}

export const okAnswer: FakeAnswer = { headers: json, body: '{"data":{"id":"x"}}' };
export const okList: FakeAnswer = { headers: json, body: '{"data":[]}' };

export interface FakeService {
  readonly url: string;
  readonly host: string;
  /** `METHOD path` of each request, as it stood on the wire. */
  readonly requests: string[];
  readonly headers: IncomingMessage['headers'][];
}

type Responder = (response: ServerResponse, request: IncomingMessage) => void;

/** Answers the first request with the first answer, and so on; the last one serves for all that follow. */
export async function startFakeService(...answers: readonly (FakeAnswer | Responder)[]): Promise<FakeService> {
  const requests: string[] = [];
  const headers: IncomingMessage['headers'][] = [];
  const server = createHttpServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    headers.push(request.headers);
    const answer = answers[Math.min(requests.length, answers.length) - 1] ?? okList;
    request.resume().once('end', () => {
      if (typeof answer === 'function') answer(response, request);
      else response.writeHead(answer.status ?? 200, answer.headers).end(answer.body);
    });
  });
  const port = await listenOnLoopback(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${port}`, host: `127.0.0.1:${port}`, requests, headers };
}

/** Sends the same bytes to whoever connects, once a request has begun to arrive; then does with the socket as told. */
export async function startRawService(
  bytes: string | Uint8Array,
  then: (socket: Socket) => void,
): Promise<FakeService> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', (data: Buffer) => {
      requests.push(data.toString().split(' HTTP/', 1)[0] ?? '');
      socket.write(bytes, () => then(socket));
    });
  });
  const port = await listenOnLoopback(server);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${port}`, host: `127.0.0.1:${port}`, requests, headers: [] };
}

/** A base URL at which nothing listens. */
export async function unusedUrl(): Promise<string> {
  return `http://127.0.0.1:${await freePort()}`;
}

/** Hangs up without an answer. */
export const reset: Responder = (_response, request) => {
  request.socket.resetAndDestroy();
};
