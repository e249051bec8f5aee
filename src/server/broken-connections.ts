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
  /** The one before, where it had no answer yet when the latest came. Its request has come whole, as any before another has. */
  const before = new WeakMap<Duplex, ServerResponse>();
  const waiting = new WeakSet<Duplex>();
  return {
    watch(server: Server): void {
      server.prependListener('request', ({ socket }, response) => {
        const previous = latest.get(socket);
        if (previous !== undefined && !previous.writableFinished) before.set(socket, previous);
        latest.set(socket, response);
      });
    },
    /** Whether no other request has come on its connection since. */
    isLatest: (response: ServerResponse): boolean => latest.get(response.req.socket) === response,
    break(socket: Duplex, message?: string): void {
      if (waiting.has(socket)) return;
      const response = latest.get(socket);
      const previous = before.get(socket);
      if (response?.req.complete === true && !response.writableFinished) {
        waiting.add(socket);
        response.once('close', () => hangUp(socket));
      } else if (previous !== undefined && !previous.writableFinished) {
        waiting.add(socket);
        previous.once('close', () => {
          waiting.delete(socket);
          this.break(socket, message);
        });
      } else if (response?.req.complete === false && response.headersSent) {
        hangUp(socket);
      } else {
        refuse(socket, message);
      }
    },
  };
}
