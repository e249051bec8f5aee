/** Servers in separate processes, and requests to them over connections that are kept alive. */

import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

import { Pool } from 'undici';

import { operations } from '../src/operations/all.ts';
import type { OperationName } from '../src/operations/index.ts';
import type { Method, Operation } from '../src/operations/operation.ts';

export const connections = 32;

export interface Served {
  readonly child: ChildProcess;
  /** A request takes it half of the time that it takes Node's own agent, and less than the server. */
  readonly pool: Pool;
}

/** The service on a database, or a bare server if no database is named. */
export async function start(...words: string[]): Promise<Served> {
  const child = fork(join(import.meta.dirname, 'served-process.ts'), words);
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  return { child, pool: new Pool(url, { connections }) };
}

export type RequestOf = (index: number) => {
  readonly method?: Method;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

/** Processor time of the server per request, averaged over `count` requests. */
export async function processorMicroseconds(served: Served, count: number, outgoing: RequestOf): Promise<number> {
  const before = await processorTime(served);
  await sendAll(served, count, outgoing);
  return ((await processorTime(served)) - before) / count;
}

export async function perSecond(served: Served, count: number, outgoing: RequestOf): Promise<number> {
  const began = performance.now();
  await sendAll(served, count, outgoing);
  return (count / (performance.now() - began)) * 1000;
}

export function routeOf(name: OperationName, params: Readonly<Record<string, string>>) {
  const { route } = operations[name] as Operation;
  if (route === undefined) throw new Error(`${name} has no route`);
  return { method: route.method, path: route.path.replaceAll(/\{(\w+)\}/g, (_, field: string) => params[field] ?? '') };
}

async function processorTime({ child }: Served): Promise<number> {
  const answer = once(child, 'message') as Promise<[{ processorMicroseconds: number }]>;
  child.send('processor time');
  return (await answer)[0].processorMicroseconds;
}

/** Each connection sends its next request after the answer to the one before; anything but success is an error. */
async function sendAll(served: Served, count: number, outgoing: RequestOf): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (next < count) await sendOne(served, outgoing(next++));
    }),
  );
}

async function sendOne({ pool }: Served, { method = 'GET', ...outgoing }: ReturnType<RequestOf>): Promise<void> {
  const { statusCode, body } = await pool.request({ method, ...outgoing });
  const text = await body.text();
  if (statusCode >= 300) throw new Error(`${outgoing.path} was answered ${statusCode}: ${text.slice(0, 200)}`);
}
