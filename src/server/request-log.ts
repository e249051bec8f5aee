/** What is known of each request when it ends: for the log, and for what is counted. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { failureOf, sendFailure } from './answer.ts';

/** One answered request, without anything that a caller chose but the method. */
export interface RequestLog {
  readonly requestId: string;
  readonly method: string;
  /** Pattern of the route; absent where there is none. */
  readonly route: string | undefined;
  readonly status: number;
  /** To the microsecond. */
  readonly milliseconds: number;
  readonly organizationId: string | undefined;
  /** The caller had hung up before all of the answer was on its way; what it asked for may have been done. */
  readonly isAborted?: true;
  /** The service is about to end: what nothing was thrown for, it says for that reason alone. */
  readonly isLeaving?: true;
  /** What was thrown, where the caller was told no more than that it went wrong. */
  readonly error?: unknown;
}

export interface RequestEnds {
  readonly state: { readonly isLeaving: boolean };
  readonly tell: (entry: RequestLog) => void;
}

/** Tells of every end, with what was thrown where the caller is told no more than that it went wrong. */
export function addRequestLog(app: FastifyInstance, { state, tell }: RequestEnds): void {
  const failures = new WeakMap<FastifyRequest, unknown>();
  const endOf = (request: FastifyRequest, reply: FastifyReply): RequestLog => ({
    ...requestLogOf(request, reply),
    ...(failures.has(request) ? { error: failures.get(request) } : {}),
    ...(state.isLeaving ? { isLeaving: true } : {}),
  });
  const tellAborted = (request: FastifyRequest, reply: FastifyReply): void =>
    tell({ ...endOf(request, reply), isAborted: true });
  app.addHook('onSend', (request, reply, payload, next) => {
    // So that callers who keep a connection leave it with an answer, and send nothing when it is hung up.
    if (state.isLeaving) reply.header('connection', 'close');
    // Where nobody is there any more to take an answer, Fastify says nothing of its end.
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
    if (failure.kind === 'internal' || failure.kind === 'unavailable') failures.set(request, error);
    return sendFailure(reply, failure);
  });
}

/** A request as it stands now. */
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
