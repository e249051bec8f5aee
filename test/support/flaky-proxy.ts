/**
 * What stands between a command line and a service on a bad day: refuses for the rate, and loses answers. What it does to a
 * request hangs on the request and on how often it came before, not on which came first, so that a busy machine sees the same.
 */

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request as forward } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { listenOnLoopback } from './free-port.ts';

export interface FlakyProxy {
  readonly url: string;
  /** Method and path of every request, in their order. */
  readonly requests: readonly string[];
  /** How often it did what to a request that it is unkind to. */
  readonly counts: { refused: number; unavailable: number; lost: number; passed: number };
  close(): Promise<void>;
}

const isGrant = (path: string) => path.endsWith('/promotional/grant');

/** Of the requests that it is unkind to a fifth is refused with 429, 1 % with 503; of 2 % the answer is lost. */
export async function startFlakyProxy(
  serviceUrl: string,
  isUnkindTo: (path: string) => boolean = isGrant,
): Promise<FlakyProxy> {
  const counts = { refused: 0, unavailable: 0, lost: 0, passed: 0 };
  const requests: string[] = [];
  const triesOf = new Map<string, number>();
  const server = createServer((incoming, outgoing) => {
    requests.push(`${incoming.method} ${incoming.url}`);
    void serve(incoming, outgoing).catch(() => incoming.socket.destroy());
  });

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await incoming.toArray().then((chunks: Buffer[]) => Buffer.concat(chunks));
    if (!isUnkindTo(incoming.url ?? '')) return pass({ incoming, outgoing, body });
    const request = createHash('sha256').update(`${incoming.method} ${incoming.url}\n`).update(body).digest('hex');
    const tries = (triesOf.get(request) ?? 0) + 1;
    triesOf.set(request, tries);
    const luck = createHash('sha256').update(`${request} ${tries}`).digest().readUInt32BE() / 2 ** 32;
    if (luck < 0.2) {
      counts.refused += 1;
      return refuse(outgoing, 429);
    }
    if (luck < 0.21) {
      counts.unavailable += 1;
      return refuse(outgoing, 503);
    }
    const isLost = luck < 0.23;
    counts[isLost ? 'lost' : 'passed'] += 1;
    pass({ incoming, outgoing, body, isLost });
  }

  function pass({ incoming, outgoing, body, isLost = false }: Passing): void {
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
    sent.end(body);
  }

  const port = await listenOnLoopback(server);
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

interface Passing {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly body: Buffer;
  readonly isLost?: boolean;
}

function refuse(outgoing: ServerResponse, status: 429 | 503): void {
  const error = { message: 'not now', code: status === 429 ? 'RATE_LIMITED' : 'UNAVAILABLE' };
  outgoing.writeHead(status, { 'retry-after': '0', 'content-type': 'application/json' });
  outgoing.end(JSON.stringify({ error }));
}
