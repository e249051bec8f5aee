/** Servers that are not there, that break off, or that are none of ClickHouse's. */

import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';

import { expect, test } from 'vitest';

import { connectClickhouse } from '../../src/store/backends/clickhouse/connection.ts';
import { clickhouseConnectionOf } from '../../src/store/backends/clickhouse/url.ts';
import { openStore } from '../../src/store/open.ts';

test('a server that takes connections and never answers is away', async () => {
  const silent = createServer(() => undefined);
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const server = connectClickhouse(`clickhouse://127.0.0.1:${(silent.address() as AddressInfo).port}/billing`);
  await expect(server.checkAnswers()).rejects.toMatchObject({
    kind: 'unavailable',
    message: expect.stringContaining('do not answer'),
  });
  await server.close();
  silent.close();
});

test.each([
  ['with the failure behind the rows', 'Code: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)'],
  ['with the failure as a line', 'Code: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)\n'],
  ['with the failure as a row', '{"exception":"Code: 241. DB::Exception: Memory limit exceeded"}\n'],
  ['in a row', '{"events":'],
])('an answer that breaks off %s is refused, since what is billed by it would be too little', async (_where, end) => {
  const asked: string[] = [];
  const failing = createHttpServer((request, response) => {
    asked.push(request.url ?? '');
    request.resume().once('end', () => response.end(`{"events":1}\n${end}`));
  });
  failing.listen(0, '127.0.0.1');
  await once(failing, 'listening');
  const server = connectClickhouse(`clickhouse://127.0.0.1:${(failing.address() as AddressInfo).port}/billing`);
  await expect(server.ask('SELECT 1 AS events')).rejects.toMatchObject({
    kind: 'unavailable',
    message: expect.stringContaining('broke off in its answer'),
  });
  // A server that waits for the end says with the status that it failed.
  expect(new URLSearchParams(asked[0]?.split('?')[1]).get('wait_end_of_query')).toBe('1');
  await server.close();
  failing.close();
});

test.each([
  [
    'a page of a proxy',
    502,
    '<html>\n  <title>502 Bad Gateway</title>\n</html>',
    ': <html> <title>502 Bad Gateway</title> </html>',
  ],
  ['a long page', 404, `<p>${'x'.repeat(5_000)}`, `: <p>${'x'.repeat(197)}…`],
  [
    'the native port of ClickHouse',
    400,
    'Port 9000 is for clickhouse-client program',
    ': Port 9000 is for clickhouse-client program',
  ],
  [
    'a server of 2018',
    500,
    'Code: 115, e.displayText() = DB::Exception: Unknown setting limit',
    'Unknown setting limit',
  ],
])('%s is no ClickHouse server, and what it says is told', async (_case, status, answer, words) => {
  const other = createHttpServer((request, response) => {
    request.resume().once('end', () => response.writeHead(status).end(answer));
  });
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  const events = `clickhouse://tally:secret@127.0.0.1:${(other.address() as AddressInfo).port}/billing`;
  const refused: unknown = await openStore(':memory:', { events }).catch((error: unknown) => error);
  expect(refused).toMatchObject({
    kind: 'unavailable',
    message: expect.stringMatching(/^what answers at clickhouse:.* is no ClickHouse server that is understood: /),
    hint: expect.stringContaining('8123'),
  });
  expect((refused as Error).message.endsWith(words)).toBe(true);
  expect((refused as Error).message).not.toContain('secret');
  other.close();
});

test.each(['1', 'yes', 'TRUE', ''])(
  'secure=%s says nothing of TLS, and is refused rather than taken for none',
  (word) => {
    expect(() => clickhouseConnectionOf(`clickhouse://ada:s3cret@events.example/billing?secure=${word}`)).toThrow(
      `secure=${word} says neither that TLS is wanted nor that it is not`,
    );
  },
);

test('half a password in the place of the host is not looked up', () => {
  const url = 'clickhouse://ada:s@ecret/s@events.example/billing';
  expect(() => clickhouseConnectionOf(url)).toThrow('clickhouse://ada:***@events.example/billing is not the URL');
});
