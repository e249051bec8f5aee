/** The routes, derived from the declarations of the operations; no path, scope or status is written here. */

import type { IncomingMessage } from 'node:http';

import type { FastifyInstance, FastifyRequest } from 'fastify';

import { BillingError, NotFoundError, unknownPathMessage } from '../errors.ts';
import { limits } from '../limits.ts';
import type { Answer, Caller, Engine, OperationName } from '../operations/index.ts';
import { changesState, type CallInput, type Operation } from '../operations/operation.ts';
import { parseQuery } from '../url-query.ts';
import { sendAnswer } from './answer.ts';
import type { RateLimits } from './rate-limit.ts';
import { checkBodyHeaders, parseBody, parseIfMatch, readBody } from './request-body.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller, once the request is authorized. */
    caller: Caller | null;
  }
  interface FastifyContextConfig {
    /** What counts for a request of this route; `requests` by default. */
    counted?: 'requests' | 'eventBytes' | 'nothing';
    /** Whether a call of this route may change what is stored. */
    changesState?: boolean;
  }
}

export interface RouteDependencies {
  readonly engine: Engine;
  /** The caller of a request, with the right to carry out the operation; throws UnauthorizedError or ForbiddenError. */
  readonly authorize: (request: FastifyRequest, operation: Operation) => Promise<Caller>;
  readonly countEventBytes: RateLimits['countEventBytes'];
  /** Called with the number of acknowledged events. */
  readonly onAccepted: (count: number) => void;
}

/**
 * Adds a route for every operation that has one. Checks run in this order: key, scope, form of the request, what it names, rules
 * (semantics 2). The engine makes the last three.
 */
export function addRoutes(
  app: FastifyInstance,
  operations: readonly Operation[],
  dependencies: RouteDependencies,
): void {
  app.decorateRequest('caller', null);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', async (request: FastifyRequest, message: IncomingMessage) => {
    const { bodyLimit, config } = request.routeOptions;
    const body = await readBody(message, bodyLimit);
    if (config.counted === 'eventBytes') dependencies.countEventBytes(request, body.length);
    return body;
  });
  for (const operation of operations) addRoute(app, operation, dependencies);
}

function addRoute(
  app: FastifyInstance,
  operation: Operation,
  { engine, authorize, onAccepted }: RouteDependencies,
): void {
  if (operation.route === undefined) return;
  const { method, path } = operation.route;
  app.route({
    method,
    url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
    config: {
      counted: operation.recordsEvents === true ? 'eventBytes' : 'requests',
      changesState: changesState(operation),
    },
    bodyLimit: operation.recordsEvents === true ? limits.eventsBodyBytes : limits.bodyBytes,
    onRequest: async (request) => {
      request.caller = await authorize(request, operation);
      // What a GET brings is never read, so its form does not matter.
      if (method !== 'GET') checkBodyHeaders(request.raw);
    },
    handler: async (request, reply) => {
      if (request.caller === null) throw new Error(`${operation.name} was reached without a caller`);
      const billing = engine.as({ ...request.caller, requestId: request.id });
      const answer = await billing.call(operation.name as OperationName, inputOf(request, operation));
      if (operation.recordsEvents === true) onAccepted(acceptedBy(answer));
      return sendAnswer(reply, answer);
    },
  });
}

/** A batch gives its count; an operation that takes a single event gives none. */
function acceptedBy({ body }: Answer): number {
  return 'count' in body && typeof body.count === 'number' ? body.count : 1;
}

function inputOf(request: FastifyRequest, operation: Operation): CallInput {
  const ifMatch = operation.versioned === true ? parseIfMatch(request.headers['if-match']) : undefined;
  const body = parseBody(request.body as Uint8Array | undefined, operation);
  return {
    // The router's object has a prototype of its own, and only plain objects are read without a schema.
    params: { ...(request.params as Record<string, string>) },
    query: parseQuery(request.raw.url ?? ''),
    ...(body === undefined ? {} : { body }),
    ...(ifMatch === undefined ? {} : { ifMatch }),
  };
}

/**
 * The methods that the path of a URL answers to; empty for an unknown path. Knows the routes that are added to the service from
 * now on.
 */
export function createMethodTable(app: FastifyInstance): (url: string) => string[] {
  const patterns: { readonly methods: readonly string[]; readonly path: RegExp }[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    patterns.push({ methods: [method].flat(), path: patternOf(url) });
  });
  return (url) => {
    // As the router does, which has refused what cannot be decoded.
    const path = decodeURI(url.split(/[?#]/, 1)[0] ?? '');
    const methods = new Set(patterns.filter((each) => each.path.test(path)).flatMap((each) => each.methods));
    return methods.size === 0 ? [] : [...methods, 'OPTIONS'].toSorted();
  };
}

function patternOf(path: string): RegExp {
  const parts = path.split('/').map((part) => (part.startsWith(':') ? '[^/]+' : RegExp.escape(part)));
  return new RegExp(`^${parts.join('/')}$`);
}

/** Why a request reached no route: its path is unknown, or known with other methods. */
export function noRoute(methods: readonly string[]): BillingError {
  if (methods.length === 0) return new NotFoundError(unknownPathMessage);
  return new BillingError('methodNotAllowed', `this path takes ${methods.join(', ')}`);
}
