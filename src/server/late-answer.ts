/** Callers who have waited for as long as a connection may stand still (SEC-36) are answered, rather than hung up on. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { UnavailableError, UnknownOutcomeError } from '../errors.ts';

/** What is being done goes on, and its end is told to nobody. */
export function addLateAnswers(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, next) => {
    reply.raw.on('timeout', () => answerLate(request, reply));
    next();
  });
}

function answerLate(request: FastifyRequest, reply: FastifyReply): void {
  // It is the caller who does not go on: with sending, or with taking.
  if (!request.raw.complete || reply.sent) return void request.raw.socket.destroy();
  const { changesState = false } = request.routeOptions.config;
  const message = `${request.method} ${request.routeOptions.url} took longer than a caller is kept waiting`;
  reply.send(changesState ? new UnknownOutcomeError(message) : new UnavailableError(message));
}
