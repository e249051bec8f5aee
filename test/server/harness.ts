/** A served sample engine for tests of the wire: what is asked of the engine is recorded, what it answers is given. */

import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { connect } from 'node:net';

import { onTestFinished } from 'vitest';

import { UnauthorizedError } from '../../src/errors.ts';
import { operations } from '../../src/operations/all.ts';
import type { Answer, Caller, Engine, OperationName } from '../../src/operations/index.ts';
import type { CallInput, Operation, Scope } from '../../src/operations/operation.ts';
import { parseInput } from '../../src/operations/parse.ts';
import { createServer } from '../../src/server/server.ts';
import type { RequestLog } from '../../src/server/request-log.ts';
import type { Server, ServerOptions } from '../../src/server/server.ts';
import { countedIds, createClock } from '../support/world.ts';
import type { Clock } from '../support/world.ts';

/** A key by the scope that it alone carries. */
export function keyFor(scope: Scope): string {
  return `tally_live_${Buffer.from(scope.padEnd(24)).toString('hex')}`;
}

export const fullKey = keyFor('*');

export interface SampleCall {
  readonly name: OperationName;
  readonly input: CallInput;
  readonly caller: Caller;
}

export interface SampleEngine extends Engine {
  readonly calls: SampleCall[];
  readonly authentications: string[];
}

export type SampleAnswers = Partial<Record<OperationName, (input: CallInput) => Promise<Answer> | Answer>>;

/** Parses like the real one, then answers as told, else with an empty object. */
export function createSampleEngine(
  answers: SampleAnswers = {},
  probes: Partial<Pick<Engine, 'ping' | 'checkWritable' | 'checkEvents' | 'vitals'>> = {},
): SampleEngine {
  const calls: SampleCall[] = [];
  const authentications: string[] = [];
  return {
    calls,
    authentications,
    as: (caller) => ({
      call: async (name, input = {}) => {
        calls.push({ name, input, caller });
        const operation: Operation = operations[name];
        parseInput(operation, input);
        const answer = await answers[name]?.(input);
        return (answer ?? { status: operation.status, body: {} }) as Answer<typeof name>;
      },
    }),
    rehearsal: () => ({ call: async () => await Promise.reject(new TypeError('nobody rehearses through a server')) }),
    authenticate: async (key) => {
      authentications.push(key);
      const scope = /^tally_live_([0-9a-f]{48})$/.exec(key)?.[1];
      if (scope === undefined) throw new UnauthorizedError('Invalid API key');
      const scopes = [Buffer.from(scope, 'hex').toString().trim() as Scope];
      return { organizationId: 'org-1', scopes, isLocal: false };
    },
    owner: async () => ({ organizationId: 'org-1', scopes: ['*'], isLocal: true }),
    billDue: async () => await Promise.resolve({ finalizedCount: 0, failedCount: 0, failures: [] }),
    ping: async () => {},
    checkWritable: async () => {},
    checkEvents: async () => {},
    vitals: async () => await Promise.resolve({ pendingTransactions: 0, dueDeliveries: 0 }),
    ...probes,
    close: async () => {},
  };
}

export interface Service {
  readonly url: string;
  readonly port: number;
  readonly engine: SampleEngine;
  readonly clock: Clock;
  readonly log: RequestLog[];
  readonly close: () => Promise<void>;
  readonly send: (path: string, options?: SendOptions) => Promise<Reply>;
}

/** A server of a sample engine, for any free port; it does not listen yet. */
export function serverWith(options: Partial<ServerOptions>): Server {
  return createServer({
    engine: createSampleEngine(),
    version: '1.2.3',
    port: 0,
    now: createClock().now,
    newId: countedIds(),
    ...options,
  });
}

/** Serves a sample engine on a free port until the test ends; without a rate limit unless one is given. */
export async function startService(
  engine: SampleEngine = createSampleEngine(),
  options: Partial<ServerOptions> = {},
): Promise<Service> {
  const log: RequestLog[] = [];
  const clock = createClock();
  const server = serverWith({
    engine,
    rateLimitPerMinute: 0,
    now: clock.now,
    log: (entry) => log.push(entry),
    drainMilliseconds: 0,
    ...options,
  });
  const { url, port } = await server.listen();
  onTestFinished(async () => server.close());
  return {
    url,
    port,
    engine,
    clock,
    log,
    close: async () => server.close(),
    send: async (path, sendOptions) => send(port, path, sendOptions),
  };
}

export interface SendOptions {
  readonly method?: string;
  /** Authorization is added with the full key unless it is given here; null leaves it out. */
  readonly headers?: Readonly<Record<string, string | string[] | null>>;
  readonly body?: string | Uint8Array;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** `error.message` of the envelope. */
  readonly message: string | undefined;
}

const agent = new Agent({ keepAlive: false });

/** One request exactly as given; nothing is normalized. JSON is the Content-Type of a body unless one is given. */
export async function send(
  port: number,
  path: string,
  { method, headers = {}, body }: SendOptions = {},
): Promise<Reply> {
  const all: Record<string, string | string[] | null> = {
    authorization: `Bearer ${fullKey}`,
    ...(body === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
    ...headers,
  };
  const given = Object.fromEntries(Object.entries(all).filter((entry) => entry[1] !== null)) as Record<string, string>;
  const outgoing = httpRequest({ host: '127.0.0.1', port, path, method: method ?? 'GET', headers: given, agent });
  outgoing.on('error', () => {});
  outgoing.end(body);
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  const text = Buffer.concat(await incoming.toArray()).toString();
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, text, message: messageOf(text) };
}

function messageOf(text: string): string | undefined {
  try {
    return (JSON.parse(text) as { error?: { message?: string } }).error?.message;
  } catch {
    return undefined;
  }
}

/** Bytes on a bare socket; everything that came back until the service hung up. */
export async function sendRaw(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(bytes);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'close');
  return Buffer.concat(chunks).toString();
}
