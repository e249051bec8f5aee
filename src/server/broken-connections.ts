/** What becomes of a connection on which bytes come that are no request. */

import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

import { hangUp } from './answer.ts';

/**
 * Refuses such a connection by `refuse`, but where its caller would take that for the answer to a request: one that has come
 * whole may have changed something and gets its own answer, one that was answered before it had come gets no second one.
 */
export function createBreaking(refuse: (socket: Duplex, message?: string) => void) {
  const latest = new WeakMap<Duplex, ServerResponse>();
  const waiting = new WeakSet<Duplex>();
  return {
    watch(server: Server): void {
      server.prependListener('request', (request, response) => latest.set(request.socket, response));
    },
    break(socket: Duplex, message?: string): void {
      const response = latest.get(socket);
      const isUnderWay = response !== undefined && !response.writableFinished;
      if (response?.req.complete === true && isUnderWay) {
        if (!waiting.has(socket)) response.once('close', () => hangUp(socket));
        waiting.add(socket);
      } else if (response?.req.complete === false && response.headersSent) {
        hangUp(socket);
      } else {
        refuse(socket, message);
      }
    },
  };
}
