/** A way to a server on loopback that can begin to swallow whatever is sent, in both directions, without closing anything. */

import { connect, createServer, type Socket } from 'node:net';

import { listenOnLoopback } from './free-port.ts';

export interface BlackHole {
  readonly port: number;
  /**
   * From now on nothing gets through on the connections that there are, or no answer does; new ones are taken and never
   * answered.
   */
  readonly swallow: (what?: 'all' | 'answers') => void;
  /** New connections get through again; those from before stay as they are. */
  readonly pass: () => void;
  readonly close: () => void;
}

export async function startBlackHole(serverPort: number): Promise<BlackHole> {
  let isSwallowing = false;
  const pairs = new Set<{ readonly near: Socket; asks: boolean; answers: boolean }>();
  const server = createServer((near) => {
    const far = isSwallowing ? undefined : connect(serverPort, '127.0.0.1');
    const pair = { near, asks: true, answers: true };
    pairs.add(pair);
    near.on('data', (bytes) => pair.asks && far?.write(bytes));
    far?.on('data', (bytes) => pair.answers && near.write(bytes));
    near.on('error', () => undefined);
    far?.on('error', () => undefined);
    far?.on('close', () => pair.answers && near.destroy());
    near.on('close', () => {
      pairs.delete(pair);
      far?.destroy();
    });
  });
  const port = await listenOnLoopback(server);
  return {
    port,
    swallow: (what = 'all') => {
      isSwallowing = true;
      for (const pair of pairs) Object.assign(pair, { asks: what === 'answers', answers: false });
    },
    pass: () => {
      isSwallowing = false;
    },
    close: () => {
      server.close();
      for (const { near } of pairs) near.destroy();
    },
  };
}
