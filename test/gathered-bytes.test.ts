/** Bytes that others send in pieces take the memory of their bytes, however small the pieces are. */

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';

import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';

import { bytesOf, gatherBytes } from '../src/gathered-bytes.ts';
import { startClient, startRawService } from './client/harness.ts';
import { fullKey, startService } from './server/harness.ts';
import { bytesInUse } from './support/bytes-in-use.ts';

test('pieces come out as they came, one behind the other', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 50 })), (pieces) => {
      const gathered = gatherBytes();
      for (const piece of pieces) gathered.add(piece);
      expect(gathered.whole()).toEqual(Buffer.concat(pieces));
      expect(gathered.length).toBe(Buffer.concat(pieces).length);
    }),
  );
});

test('of a stream as many bytes are taken as are allowed, and one that ends early is none', async () => {
  const streamOf = (...pieces: string[]) => {
    const stream = new PassThrough();
    for (const piece of pieces) stream.write(piece);
    return stream;
  };
  expect(String(await bytesOf(streamOf('ab', 'c').end(), 3))).toBe('abc');
  expect(await bytesOf(streamOf('ab', 'cd').end(), 3)).toBeUndefined();
  const cut = streamOf('ab');
  const read = bytesOf(cut, 3);
  cut.destroy();
  await expect(read).rejects.toThrow('cut off');
  await expect(bytesOf(cut, 3)).rejects.toThrow('cut off');
});

describe('a million chunks of one byte', () => {
  const count = 2 ** 20;
  const chunks = (each: string, times: number): string => `1\r\n${each}\r\n`.repeat(times);

  /** The socket that this process opens next on one side of a connection. */
  function nextSocket(side: 'server' | 'client'): Promise<Socket> {
    const channel = `net.${side}.socket`;
    const { promise, resolve } = Promise.withResolvers<Socket>();
    const onSocket = (message: unknown) => resolve((message as { readonly socket: Socket }).socket);
    subscribe(channel, onSocket);
    onTestFinished(() => void unsubscribe(channel, onSocket));
    return promise;
  }

  async function untilRead(socket: Socket, bytes: number): Promise<void> {
    while (socket.bytesRead < bytes) await setImmediate();
  }

  /** What a process has more in use once it has read so many chunks behind a head. */
  async function bytesTaken(sender: Socket, reader: Socket, head: string): Promise<number> {
    await untilRead(reader, head.length);
    const before = bytesInUse();
    const sent = chunks(' ', count);
    sender.write(sent);
    await untilRead(reader, head.length + sent.length);
    return bytesInUse() - before;
  }

  test('to the service are a body', async () => {
    const service = await startService();
    const reading = nextSocket('server');
    const socket = connect(service.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    const head =
      `POST /v1/events/batch HTTP/1.1\r\nHost: 127.0.0.1:${service.port}\r\nAuthorization: Bearer ${fullKey}\r\n` +
      'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
    socket.write(head);
    expect(await bytesTaken(socket, await reading, head)).toBeLessThan(20e6);
    socket.write(`${[...'{"events":[]}'].map((each) => chunks(each, 1)).join('')}0\r\n\r\n`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(String(answer)).toContain('events: ');
  });

  test('to a client are an answer', async () => {
    const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
    const { promise, resolve } = Promise.withResolvers<Socket>();
    const service = await startRawService(head, resolve);
    const reading = nextSocket('client');
    const answer = startClient(service.url).call('customers.list');
    const socket = await promise;
    expect(await bytesTaken(socket, await reading, head)).toBeLessThan(20e6);
    const rest = '{"data":[],"hasMore":false,"total":0}';
    socket.write(`${[...rest].map((each) => chunks(each, 1)).join('')}0\r\n\r\n`);
    expect((await answer).body).toEqual({ data: [], hasMore: false, total: 0 });
  });
});
