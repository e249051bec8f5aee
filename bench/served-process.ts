/**
 * A server in a separate process, whose processor time can be read: the service on the named database, or a bare `node:http`
 * server that answers "hello". Tells its parent its URL and, on request, how much processor time it has used.
 */

import { randomUUIDv7 } from 'node:crypto';
import { createServer as createBareServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { createServer } from '../src/server/server.ts';
import { machineTime, openBook } from './engine.ts';

const [database] = process.argv.slice(2);
process.send?.({ url: database === undefined ? await serveHello() : await serveBook(database) });
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ processorMicroseconds: user + system });
});

async function serveHello(): Promise<string> {
  const server = createBareServer((_request, response) => {
    response.end('hello');
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function serveBook(file: string): Promise<string> {
  const engine = await openBook(file);
  const server = createServer({
    engine,
    version: 'bench',
    port: 0,
    rateLimitPerMinute: 1e9,
    now: machineTime,
    newId: randomUUIDv7,
  });
  return (await server.listen()).url;
}
