/** The service over HTTP: Fastify in front of an engine, with the limits of security 5. Loaded by `serve` alone. */

import type { IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { createSecureContext } from 'node:tls';

import fastify from 'fastify';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import { BadRequestError, BillingError, UnauthorizedError, UnavailableError } from '../errors.ts';
import { limits } from '../limits.ts';
import { isLoopback } from '../loopback.ts';
import { allOperations } from '../operations/all.ts';
import type { Moment } from '../operations/field-rules.ts';
import type { Caller, Engine } from '../operations/index.ts';
import { requireScope } from '../operations/operation.ts';
import { commonHeaders, failureOf, refuseConnection, sendFailure, unavailable } from './answer.ts';
import { keyOf, refuseBrowsers } from './authenticate.ts';
import { createBreaking } from './broken-connections.ts';
import { checkExposure, hasProxy, limitSockets } from './exposure.ts';
import type { Exposure } from './exposure.ts';
import { addLateAnswers } from './late-answer.ts';
import type { Metrics } from './metrics.ts';
import { addProbes } from './probes.ts';
import { createRateLimits } from './rate-limit.ts';
import type { RateLimits } from './rate-limit.ts';
import { addRequestLog, requestLogOf } from './request-log.ts';
import type { RequestEnds, RequestLog } from './request-log.ts';
import { addRoutes, createMethodTable, noRoute } from './routes.ts';

export interface ServerOptions extends Exposure {
  readonly engine: Engine;
  readonly version: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Default 127.0.0.1. */
  readonly host?: string | undefined;
  /** Requests per minute and address; 0 lifts the limit. Default: `limits.requestsPerMinute`. */
  readonly rateLimitPerMinute?: number | undefined;
  /** Default: `limits.eventBytesPerMinute`. */
  readonly eventBytesPerMinute?: number | undefined;
  /** Connections per address. Default: `limits.socketsPerAddress`, or no limit if only this machine can connect. */
  readonly socketsPerAddress?: number | undefined;
  readonly now: () => Moment;
  readonly newId: () => string;
  readonly log?: ((entry: RequestLog) => void) | undefined;
  /** The counters; without them there is no `/metrics`. */
  readonly metrics?: Metrics | undefined;
  /**
   * For how long a service that is to stop reports that it is not ready but still answers, so that a balancer has looked before
   * connections are refused. Default: not at all.
   */
  readonly noticeMilliseconds?: number | undefined;
  /** How long stopping waits for requests in progress. Default: `limits.drainMilliseconds`. */
  readonly drainMilliseconds?: number | undefined;
  /** How long a probe's look at the database may take. Default: `limits.probeMilliseconds`. */
  readonly probeMilliseconds?: number | undefined;
  /** How long the headers of a request may take to arrive. Default: `limits.headersTimeoutMilliseconds`. */
  readonly headersTimeoutMilliseconds?: number | undefined;
  /** How long a connection may be idle, and so how long to wait for an answer. Default: `limits.socketIdleMilliseconds`. */
  readonly socketIdleMilliseconds?: number | undefined;
}

export interface Server {
  /** Starts; throws UnavailableError if the address is not available. */
  listen(): Promise<{ readonly port: number; readonly url: string }>;
  /** Gives notice, then takes no more requests, finishes those in progress, and hangs up on those that take too long. */
  close(): Promise<void>;
}

/**
 * A server for an engine; the engine stays its owner's to close. Throws a usage error if other machines could reach the server
 * without TLS and no proxy in front is declared.
 */
export function createServer(options: ServerOptions): Server {
  const host = listeningAddress(options.host);
  checkExposure(host, options);
  const state = { isLeaving: false, isClosing: false };
  const { app, isLatest } = createApp(options);
  const sockets = options.socketsPerAddress ?? (isLoopback(host) ? undefined : limits.socketsPerAddress);
  if (sockets !== undefined) limitSockets(app.server, sockets, options);
  const open = openSocketsOf(app);
  return {
    async listen() {
      addEverything(app, { options, host, state, isLatest });
      try {
        await app.listen({ port: options.port, host, backlog: limits.waitingConnections });
      } catch (error) {
        await app.close();
        throw listenFailure(error, { host, port: options.port });
      }
      const { port } = app.server.address() as AddressInfo;
      return {
        port,
        url: `${options.tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`,
      };
    },
    async close() {
      state.isLeaving = true;
      if ((options.noticeMilliseconds ?? 0) > 0) await sleep(options.noticeMilliseconds);
      const drainMilliseconds = options.drainMilliseconds ?? limits.drainMilliseconds;
      // Repeatedly, for connections that were accepted meanwhile.
      const timer = setInterval(() => {
        for (const socket of open) socket.destroy();
      }, drainMilliseconds);
      await takeWhatHasCome(app, Math.trunc(drainMilliseconds / 2));
      state.isClosing = true;
      await app.close();
      clearInterval(timer);
    },
  };
}

/** An address by IPv6 may stand in brackets, as it does in the URL that is printed. */
function listeningAddress(host = 'localhost'): string {
  return host === 'localhost' ? '127.0.0.1' : host.replace(/^\[(.+)\]$/, '$1');
}

/** Includes sockets in a TLS handshake, which the HTTP server does not know yet and which would keep it from ending. */
function openSocketsOf({ server }: FastifyInstance): ReadonlySet<Socket> {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  return open;
}

/**
 * Requests that were sent before the service was told to stop count as in progress, too: if they were hung up on, their callers
 * would not know what became of them. One turn of the event loop accepts one waiting connection, and a later turn reads it.
 * The bounds are for callers who come back at once: their connections would be accepted without end, and the last ones
 * hung up on while in progress.
 */
async function takeWhatHasCome({ server }: FastifyInstance, mostMilliseconds: number): Promise<void> {
  let taken = 0;
  const time = AbortSignal.timeout(mostMilliseconds);
  const count = (): void => void (taken += 1);
  server.on('connection', count);
  for (let before = -1; before < taken && taken < limits.waitingConnections && !time.aborted;) {
    before = taken;
    for (let turn = 0; turn < turnsOfArrival; turn += 1) await nextTurn();
  }
  server.off('connection', count);
}

const turnsOfArrival = 3;

function createApp(options: ServerOptions): { readonly app: FastifyInstance } & Pick<RequestEnds, 'isLatest'> {
  const headers = () => commonHeaders(options.version, options.newId());
  const breaking = createBreaking((socket, message) => refuseConnection(socket, headers(), message));
  const protocol = {
    insecureHTTPParser: false,
    maxHeaderSize: limits.headerBytes,
    headersTimeout: options.headersTimeoutMilliseconds ?? limits.headersTimeoutMilliseconds,
    connectionsCheckingInterval: 1_000,
    // A request without Host gets our envelope instead of Node's empty answer.
    requireHostHeader: false,
  };
  const app = fastify({
    genReqId: () => options.newId(),
    bodyLimit: limits.bodyBytes,
    requestTimeout: limits.requestTimeoutMilliseconds,
    connectionTimeout: options.socketIdleMilliseconds ?? limits.socketIdleMilliseconds,
    keepAliveTimeout: limits.socketIdleMilliseconds,
    return503OnClosing: false,
    trustProxy: options.trustProxy ?? false,
    ...(options.tls === undefined
      ? { http: protocol }
      : { https: { ...protocol, handshakeTimeout: protocol.headersTimeout, ...secured(options.tls) } }),
    // An id of any length is looked up and answered like an unknown one.
    routerOptions: { maxParamLength: limits.headerBytes },
    // Fastify runs no hook for a malformed path.
    frameworkErrors: (error, request, reply) => {
      options.metrics?.requestBegan();
      reply.headers(commonHeaders(options.version, request.id));
      void sendFailure(reply, failureOf(error));
      tellEnd(options, requestLogOf(request, reply));
    },
    clientErrorHandler: (error, socket) => {
      if (error.code !== 'ECONNRESET') breaking.break(socket);
    },
  });
  breaking.watch(app.server);
  app.server.on('connect', (_request, socket) => {
    // From here on nobody else handles the errors of this socket.
    socket.on('error', () => socket.destroy());
    breaking.break(socket, 'CONNECT is not offered: this is not a proxy');
  });
  app.server.maxHeadersCount = limits.maxHeaders;
  app.server.maxConnections = limits.maxSockets;
  return { app, isLatest: breaking.isLatest };
}

/** Refuses an unusable certificate before anything listens. */
function secured({ cert, key }: { readonly cert: string; readonly key: string }) {
  try {
    // Node takes an empty text for none, and would listen where nobody can connect.
    if (cert === '' || key === '') throw new TypeError('a file is empty');
    createSecureContext({ cert, key, minVersion: limits.oldestTls });
  } catch (cause) {
    throw new BillingError('usage', `the certificate and its key cannot be used: ${(cause as Error).message}`, {
      cause,
      hint: 'give the PEM files of a certificate, with its chain, and of its own key',
    });
  }
  return { cert, key, minVersion: limits.oldestTls } as const;
}

interface Setup extends Pick<RequestEnds, 'isLatest'> {
  readonly options: ServerOptions;
  readonly host: string;
  readonly state: RequestEnds['state'] & { readonly isClosing: boolean };
}

function addEverything(app: FastifyInstance, setup: Setup): void {
  const { options, host, state, isLatest } = setup;
  const { engine, version, metrics } = options;
  const rateLimits = createRateLimits({
    requestsPerMinute: options.rateLimitPerMinute ?? limits.requestsPerMinute,
    eventBytesPerMinute: options.eventBytesPerMinute ?? limits.eventBytesPerMinute,
    now: options.now,
  });
  addChecks(app, setup, rateLimits);
  addLateAnswers(app);
  const noteFailure = addRequestLog(app, { state, isLatest, tell: (entry) => tellEnd(options, entry) });
  const callerOf = async (request: FastifyRequest): Promise<Caller> => await authenticate(request, engine, rateLimits);
  addRoutes(app, allOperations, {
    engine,
    // The engine checks the scope again. Checked here first, so that a key without it does not learn whether its body parses.
    authorize: async (request, operation) => {
      const caller = await callerOf(request);
      requireScope(caller.scopes, operation.scope);
      return caller;
    },
    countEventBytes: (request, bytes) => rateLimits.countEventBytes(request, bytes),
    onAccepted: (count) => metrics?.eventsAccepted(count),
  });
  addProbes(app, {
    engine,
    version,
    metrics,
    isForThisMachine: isLoopback(host) && !hasProxy(options),
    isLeaving: () => state.isLeaving,
    probeMilliseconds: options.probeMilliseconds,
    authenticate: callerOf,
    noteFailure,
  });
}

/** The checks of every request before its route. Hooks that wait for nothing use no promise. */
function addChecks(app: FastifyInstance, { options, host, state }: Setup, rateLimits: RateLimits): void {
  const methodsOf = createMethodTable(app);
  const unmet = new WeakSet<IncomingMessage>();
  // For Node these are no requests, but they are counted and told of like others.
  app.server.on('checkExpectation', (request: IncomingMessage, response) => {
    unmet.add(request);
    app.server.emit('request', request, response);
  });
  app.addHook('onRequest', (request, reply, next) => {
    options.metrics?.requestBegan();
    reply.headers(commonHeaders(options.version, request.id));
    if (state.isClosing) return void sendFailure(reply, unavailable());
    refuseBrowsers(request.raw, host);
    const { counted = 'requests' } = request.routeOptions.config;
    if (counted === 'requests') rateLimits.countRequest(request);
    else if (counted === 'eventBytes') rateLimits.checkEventBytes(request);
    if (unmet.has(request.raw)) throw new BadRequestError('no Expect other than 100-continue is supported');
    if (!request.is404) return next();
    const methods = methodsOf(request.raw.url ?? '');
    if (methods.length > 0) reply.header('allow', methods.join(', '));
    if (request.method === 'OPTIONS' && methods.length > 0) return void reply.code(204).send();
    throw noRoute(methods);
  });
}

function tellEnd({ metrics, log }: ServerOptions, entry: RequestLog): void {
  metrics?.requestEnded(entry);
  log?.(entry);
}

async function authenticate(request: FastifyRequest, engine: Engine, rateLimits: RateLimits): Promise<Caller> {
  const key = keyOf(request.raw);
  rateLimits.checkRefusedKeys(request);
  try {
    return await engine.authenticate(key);
  } catch (error) {
    if (error instanceof UnauthorizedError) rateLimits.countRefusedKey(request);
    throw error;
  }
}

function listenFailure(error: unknown, address: { readonly host: string; readonly port: number }): BillingError {
  const where = `port ${address.port} of ${address.host}`;
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: `${where} is in use by another program`,
    EACCES: `${where} may not be used by this user`,
    EADDRNOTAVAIL: `${address.host} is not an address of this machine`,
    ENOTFOUND: `${address.host} is not an address of this machine`,
  };
  const reason = reasons[(error as NodeJS.ErrnoException).code ?? ''];
  if (reason === undefined) return new BillingError('internal', `cannot listen on ${where}`, { cause: error });
  return new UnavailableError(reason, { hint: 'choose another with --port or --host', cause: error });
}
