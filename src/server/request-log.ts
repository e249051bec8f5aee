/** What is known of each request when it ends: for the log, and for the counters. */

import type { ServerResponse } from 'node:http';

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import type { ErrorKind } from '../errors.ts';
import { failureOf, sendFailure } from './answer.ts';

/** One answered request, without anything that the caller chose except the method. */
export interface RequestLog {
  readonly requestId: string;
  readonly method: string;
  /** The pattern of the route; absent if there is none. */
  readonly route: string | undefined;
  readonly status: number;
  /** To the microsecond. */
  readonly milliseconds: number;
  readonly organizationId: string | undefined;
  /** The caller hung up before the whole answer was sent; the request may still have been carried out. */
  readonly isAborted?: true;
  /** The service is about to end; a refusal without a thrown error has no other reason. */
  readonly isLeaving?: true;
  /** The thrown error, if the caller was told only that something went wrong. */
  readonly error?: unknown;
}

/** Kinds of failure that are the database's fault or ours, never the caller's: logged and counted. */
export const ownFailures: readonly ErrorKind[] = ['internal', 'unavailable'];

export interface RequestEnds {
  readonly state: { readonly isLeaving: boolean };
  /** Whether no other request has come on the connection of an answer. */
  readonly isLatest: (response: ServerResponse) => boolean;
  readonly tell: (entry: RequestLog) => void;
}

/**
 * Reports the end of every request, with the thrown error if the caller was told only that something went wrong. Gives what notes
 * the error of a request whose answer is no error envelope.
 */
export function addRequestLog(
  app: FastifyInstance,
  { state, isLatest, tell }: RequestEnds,
): (request: FastifyRequest, error: unknown) => void {
  const failures = new WeakMap<FastifyRequest, unknown>();
  const noteFailure = (request: FastifyRequest, error: unknown): void => void failures.set(request, error);
  const endOf = (request: FastifyRequest, reply: FastifyReply): RequestLog => ({
    ...requestLogOf(request, reply),
    ...(failures.has(request) ? { error: failures.get(request) } : {}),
    ...(state.isLeaving ? { isLeaving: true } : {}),
  });
  const tellAborted = (request: FastifyRequest, reply: FastifyReply): void =>
    tell({ ...endOf(request, reply), isAborted: true });
  app.addHook('onSend', (request, reply, payload, next) => {
    // So that callers with a kept-alive connection leave it after an answer, and send nothing when it is closed. Requests that
    // have come on it already have their answers first.
    if (state.isLeaving && isLatest(reply.raw)) reply.header('connection', 'close');
    // If nobody is left to take the answer, Fastify does not report its end.
    if (reply.raw.destroyed) tellAborted(request, reply);
    else {
      reply.raw.once('close', () => {
        if (!reply.raw.writableFinished) tellAborted(request, reply);
      });
    }
    next(null, payload);
  });
  app.addHook('onResponse', (request, reply, next) => {
    tell(endOf(request, reply));
    next();
  });
  app.setErrorHandler((error, request, reply) => {
    const failure = failureOf(error);
    if (ownFailures.includes(failure.kind)) noteFailure(request, error);
    return sendFailure(reply, failure);
  });
  return noteFailure;
}

/** The entry for a request as it stands now. */
export function requestLogOf(request: FastifyRequest, reply: FastifyReply): RequestLog {
  return {
    requestId: request.id,
    method: request.method,
    route: request.routeOptions.url,
    status: reply.statusCode,
    milliseconds: Math.round(reply.elapsedTime * 1000) / 1000,
    organizationId: request.caller?.organizationId,
  };
}
