/** Answers callers who have waited as long as a connection may be idle (SEC-36), instead of hanging up on them. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { UnavailableError, UnknownOutcomeError } from '../errors.ts';

/** The call itself goes on, and its result is ignored. */
export function addLateAnswers(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, next) => {
    reply.raw.on('timeout', () => answerLate(request, reply));
    next();
  });
}

function answerLate(request: FastifyRequest, reply: FastifyReply): void {
  // The caller is the one who has stopped: sending the request, or reading the answer.
  if (!request.raw.complete || reply.sent) return void request.raw.socket.destroy();
  const { changesState = false } = request.routeOptions.config;
  const message = `${request.method} ${request.routeOptions.url} took longer than a caller is kept waiting`;
  reply.send(changesState ? new UnknownOutcomeError(message) : new UnavailableError(message));
}
