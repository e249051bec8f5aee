/** What a whole run of tests shares: made for the first file that asks for it, and ended with the run. Unasked it costs nothing. */

import { createServer } from 'node:http';

import { listenOnLoopback } from './free-port.ts';

/** What a test file is told of it, or why it cannot be had. */
export type Told<T> = T | { readonly reason: string };

export interface OnDemand {
  /** Where to ask for it. */
  readonly url: string;
  readonly end: () => Promise<void>;
}

/** What is made, and what is told of it. */
export interface Making<T, Words> {
  readonly make: () => Promise<T>;
  readonly tell: (made: T) => Words;
  readonly end: (made: T) => Promise<void>;
}

/** Answers on a port of its own; what cannot be made is answered with the reason, each time. */
export async function makeOnDemand<T, Words extends object>({ make, tell, end }: Making<T, Words>): Promise<OnDemand> {
  let made: Promise<T> | undefined;
  const door = createServer((_request, response) => {
    made ??= make();
    made.then(
      (thing) => response.end(JSON.stringify(tell(thing) satisfies Told<Words>)),
      (error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        response.end(JSON.stringify({ reason } satisfies Told<Words>));
      },
    );
  });
  const port = await listenOnLoopback(door.unref());
  return {
    url: `http://127.0.0.1:${port}`,
    async end() {
      door.closeAllConnections();
      door.close();
      await made?.then(end, () => undefined);
    },
  };
}

/** Asks for it at its door. */
export async function askFor<Words>(url: string): Promise<Told<Words>> {
  return (await (await fetch(url)).json()) as Told<Words>;
}
