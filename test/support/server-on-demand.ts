/** A server of a whole run of tests: started for the first file that asks for it, and ended with the run. Unasked it costs nothing. */

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a test file is told. */
export type ServerAnswer = { readonly port: number } | { readonly reason: string };

export interface ServerOnDemand {
  /** Where to ask for the server. */
  readonly url: string;
  readonly end: () => Promise<void>;
}

/** Answers on a port of its own; one that cannot be started is answered with the reason, each time. */
export async function serveOnDemand<T extends { readonly port: number }>(
  start: () => Promise<T>,
  stop: (server: T) => Promise<void>,
): Promise<ServerOnDemand> {
  let server: Promise<T> | undefined;
  const door = createServer((_request, response) => {
    server ??= start();
    server.then(
      ({ port }) => response.end(JSON.stringify({ port } satisfies ServerAnswer)),
      (error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        response.end(JSON.stringify({ reason } satisfies ServerAnswer));
      },
    );
  });
  door.listen(0, '127.0.0.1').unref();
  await once(door, 'listening');
  return {
    url: `http://127.0.0.1:${(door.address() as AddressInfo).port}`,
    async end() {
      door.closeAllConnections();
      door.close();
      await server?.then(stop, () => undefined);
    },
  };
}
