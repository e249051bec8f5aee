/** Responses: answers with their headers, and failures in the one envelope (interface 7). */

import type { Duplex } from 'node:stream';

import type { FastifyReply } from 'fastify';

import { headersOf, serviceHeaders } from '../answer-facts.ts';
import {
  BadRequestError,
  BillingError,
  errorFacts,
  UnavailableError,
  UnknownOutcomeError,
  unknownOutcomeMessage,
  UnreadableMeterError,
} from '../errors.ts';
import { limits } from '../limits.ts';
import type { Answer } from '../operations/index.ts';

const jsonType = 'application/json; charset=utf-8';

/** Headers of every response; a client recognises an instance of ours by the first. */
export function commonHeaders(version: string, requestId: string): Record<string, string> {
  return {
    [serviceHeaders.version]: version,
    [serviceHeaders.requestId]: requestId,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  };
}

export function sendAnswer(reply: FastifyReply, answer: Answer): FastifyReply {
  return sendJson(reply.headers(headersOf(answer)), answer.status, answer.body);
}

/** Exact numbers keep their digits. */
export function sendJson(reply: FastifyReply, status: number, body: unknown): FastifyReply {
  return reply.code(status).header('content-type', jsonType).send(JSON.stringify(body));
}

/** Sends the envelope of a failure. What callers must not see becomes a 500 with fixed words (SEC-40). */
export function sendFailure(reply: FastifyReply, failure: BillingError): FastifyReply {
  const { status = 500, code, retryable } = errorFacts[failure.kind];
  if (failure.kind === 'unauthorized') reply.header('www-authenticate', 'Bearer');
  if (retryable) reply.header('retry-after', String(failure.retryAfterSeconds ?? 1));
  if (failure.hint !== undefined && failure.hint !== errorFacts[failure.kind].hint) {
    reply.header(serviceHeaders.hint, encodeURIComponent(failure.hint.toWellFormed()));
  }
  // The rest of a refused body is read and dropped, so that its sender gets to read the answer.
  reply.removeHeader('connection');
  return sendJson(reply, status, envelope(failure.message, code));
}

function envelope(message: string, code: string): { error: { message: string; code: string } } {
  return { error: { message, code } };
}

/**
 * The failure to show for anything thrown while answering. It replaces an error that speaks of internals (SEC-40): of a bug, or
 * of the database by its path.
 */
export function failureOf(error: unknown): BillingError {
  if (error instanceof UnreadableMeterError) return error;
  if (error instanceof BillingError && error.kind === 'unavailable') return unavailable(error);
  if (error instanceof BillingError && errorFacts[error.kind].status !== undefined && error.kind !== 'internal') {
    return error;
  }
  const status = error instanceof BillingError ? undefined : (error as { statusCode?: unknown }).statusCode;
  if (status === errorFacts.unsupportedMediaType.status)
    return new BillingError('unsupportedMediaType', 'the Content-Type is not valid');
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return new BadRequestError('the request is malformed', { cause: error });
  }
  return new BillingError('internal', 'internal error', { cause: error });
}

/** For every caller who cannot be answered now; the reason is for the log. */
export function unavailable(cause?: BillingError): UnavailableError {
  const isUnknown = cause instanceof UnknownOutcomeError;
  return new UnavailableError(
    isUnknown ? unknownOutcomeMessage : 'the service cannot answer now; nothing was changed',
    {
      cause,
      retryAfterSeconds: cause?.retryAfterSeconds,
      ...(isUnknown ? { hint: 'read what was to be changed before you repeat the request' } : {}),
    },
  );
}

/**
 * Answers bytes that never became a request, and closes the connection (security 5, SEC-38). If the other side does not close it
 * soon, it is destroyed: nothing else would ever end a connection on which bytes go on coming.
 */
export function refuseConnection(
  socket: Duplex,
  given: Readonly<Record<string, string>>,
  message = 'the request is malformed or did not arrive in time',
): void {
  const { status = 400, code } = errorFacts.badRequest;
  const body = JSON.stringify(envelope(message, code));
  const own = { 'content-type': jsonType, 'content-length': String(Buffer.byteLength(body)), connection: 'close' };
  const lines = Object.entries({ ...given, ...own }).map(([name, value]) => `${name}: ${value}`);
  hangUp(socket, `HTTP/1.1 ${status} Bad Request\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
}

/** Ends a connection, with these bytes where there are any; what was written before them arrives. */
export function hangUp(socket: Duplex, lastBytes?: string): void {
  setTimeout(() => socket.destroy(), limits.hangUpMilliseconds).unref();
  if (socket.writable) socket.end(lastBytes);
}
