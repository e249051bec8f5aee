/** What stands between a command line and a service on a bad day: refuses for the rate, and loses answers. */

import { once } from 'node:events';
import { createServer, request as forward } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FlakyProxy {
  readonly url: string;
  /** Method and path of every request, in their order. */
  readonly requests: readonly string[];
  /** How often it did what to a request that it is unkind to. */
  readonly counts: { refused: number; unavailable: number; lost: number; passed: number };
  close(): Promise<void>;
}

const isGrant = (path: string) => path.endsWith('/promotional/grant');

/** Every fifth grant is refused with 429, every 97th with 503; of every 53rd the answer is lost after it was made. */
export async function startFlakyProxy(
  serviceUrl: string,
  isUnkindTo: (path: string) => boolean = isGrant,
): Promise<FlakyProxy> {
  const counts = { refused: 0, unavailable: 0, lost: 0, passed: 0 };
  const requests: string[] = [];
  let grants = 0;
  const server = createServer((incoming, outgoing) => {
    requests.push(`${incoming.method} ${incoming.url}`);
    if (!isUnkindTo(incoming.url ?? '')) return pass(incoming, outgoing);
    grants += 1;
    if (grants % 5 === 0) {
      counts.refused += 1;
      return refuse(incoming, outgoing, 429);
    }
    if (grants % 97 === 0) {
      counts.unavailable += 1;
      return refuse(incoming, outgoing, 503);
    }
    const isLost = grants % 53 === 0;
    counts[isLost ? 'lost' : 'passed'] += 1;
    pass(incoming, outgoing, isLost);
  });

  function pass(incoming: IncomingMessage, outgoing: ServerResponse, isLost = false): void {
    const { method = 'GET', headers } = incoming;
    const sent = forward(new URL(incoming.url ?? '/', serviceUrl), { method, headers }, (answer) => {
      if (isLost) {
        answer.resume().once('end', () => incoming.socket.resetAndDestroy());
        return;
      }
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    sent.once('error', () => incoming.socket.destroy());
    incoming.pipe(sent);
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    counts,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function refuse(incoming: IncomingMessage, outgoing: ServerResponse, status: 429 | 503): void {
  const error = { message: 'not now', code: status === 429 ? 'RATE_LIMITED' : 'UNAVAILABLE' };
  incoming.resume().once('end', () => {
    outgoing.writeHead(status, { 'retry-after': '0', 'content-type': 'application/json' });
    outgoing.end(JSON.stringify({ error }));
  });
}
