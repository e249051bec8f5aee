/** Servers that are not there, that break off, or that are none of ClickHouse's. */

import { readdirSync } from 'node:fs';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';

import { describe, expect, onTestFinished, test, vi } from 'vitest';

import { connectClickhouse } from '../../src/store/backends/clickhouse/connection.ts';
import { clickhouseConnectionOf } from '../../src/store/backends/clickhouse/url.ts';
import { openStore } from '../../src/store/open.ts';
import { listenOnLoopback } from '../support/free-port.ts';
import { newDirectory } from '../support/temporary-files.ts';

test('a server that takes connections and never answers is away', async () => {
  const silent = createServer(() => undefined);
  const port = await listenOnLoopback(silent);
  const server = connectClickhouse(`clickhouse://127.0.0.1:${port}/billing`);
  await expect(server.checkAnswers()).rejects.toMatchObject({
    kind: 'unavailable',
    message: expect.stringContaining('do not answer'),
  });
  await server.close();
  silent.close();
});

describe('a server that is waited for', () => {
  /** One that answers questions and pings as it is told. */
  async function connectTo(answers: { question: RequestListener; ping: RequestListener }) {
    let pings = 0;
    const told = createHttpServer((request, response) => {
      const isPing = request.url === '/ping';
      if (isPing) pings += 1;
      request.resume().once('end', () => answers[isPing ? 'ping' : 'question'](request, response));
    });
    const port = await listenOnLoopback(told);
    const url = `clickhouse://127.0.0.1:${port}/billing`;
    const server = connectClickhouse(url, { answer: 50, ping: 200, pause: 300 });
    onTestFinished(async () => {
      await server.close();
      told.close();
      told.closeAllConnections();
    });
    return { server, pings: () => pings };
  }
  const never: RequestListener = () => undefined;
  const row: RequestListener = (_request, response) => response.end('{"data":[{"events":1}]}');
  const silent = { kind: 'unavailable', message: expect.stringContaining('do not answer'), retryAfterSeconds: 1 };

  test.each<[string, RequestListener]>([
    ['pings', (_request, response) => response.end('Ok.\n')],
    [
      'pings with what a proxy says that knows none',
      (_request, response) => response.writeHead(404).end('no such path'),
    ],
  ])('is slow while it answers %s, and its answer is taken', async (_what, ping) => {
    let pinged = 0;
    let answerSlowly: (() => void) | undefined;
    const { server } = await connectTo({
      question: (request, response) => (answerSlowly = () => row(request, response)),
      ping: (request, response) => {
        ping(request, response);
        pinged += 1;
        if (pinged === 3) answerSlowly?.();
      },
    });
    await expect(server.ask('SELECT 1 AS events')).resolves.toEqual([{ events: 1 }]);
    expect(pinged).toBe(3);
  });

  test.each<[string, RequestListener]>([
    ['before its answer', never],
    ['within its answer', (_request, response) => void response.writeHead(200).write('{"events":')],
  ])(
    'is silent where pings %s stay without one as well; then nothing waits for it until it answers one',
    async (_when, question) => {
      const answers = { question, ping: never };
      const { server, pings } = await connectTo(answers);
      await expect(server.ask('SELECT 1 AS events')).rejects.toMatchObject(silent);
      const before = pings();
      await expect(server.ask('SELECT 1 AS events')).rejects.toMatchObject(silent);
      await expect(server.insert('tallybookBook', [{ bookId: 'one' }])).rejects.toMatchObject(silent);
      await expect(server.run('SELECT 1')).rejects.toMatchObject(silent);
      expect(pings()).toBe(before);
      answers.question = row;
      answers.ping = (_request, response) => response.end('Ok.\n');
      await vi.waitFor(async () => await server.ask('SELECT 1 AS events'), { timeout: 10_000 });
    },
  );

  test('is asked again at once where somebody has found that it answers', async () => {
    const answers = { question: never, ping: never };
    const { server } = await connectTo(answers);
    await expect(server.ask('SELECT 1 AS events')).rejects.toMatchObject(silent);
    await expect(server.checkAnswers()).rejects.toMatchObject(silent);
    answers.question = row;
    await server.checkAnswers();
    await expect(server.ask('SELECT 1 AS events')).resolves.toEqual([{ events: 1 }]);
  });
});

test.each([
  ['before its first row', ''],
  ['between two rows', '{"data":[{"events":1},{"events":1}'],
  ['in a row', '{"data":[{"events":1},{"events":'],
  ['with the failure behind the rows', '{"data":[{"events":1}\nCode: 241. DB::Exception: Memory limit exceeded.'],
  [
    'with the failure beside the rows',
    '{"data":[{"events":1}],"rows":1,"exception":"Code: 241. DB::Exception: Memory"}',
  ],
  ['and is the word of another', '{"status":"ok"}'],
])(
  'an answer that breaks off %s is refused, since what is billed by it would be too little',
  async (_where, answer) => {
    const asked: string[] = [];
    const failing = createHttpServer((request, response) => {
      asked.push(request.url ?? '');
      request.resume().once('end', () => response.end(answer));
    });
    const port = await listenOnLoopback(failing);
    const server = connectClickhouse(`clickhouse://127.0.0.1:${port}/billing`);
    await expect(server.ask('SELECT 1 AS events')).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('broke off its answer'),
    });
    // A server that waits for the end says with the status that it failed.
    expect(new URLSearchParams(asked[0]?.split('?')[1]).get('wait_end_of_query')).toBe('1');
    await server.close();
    failing.close();
  },
);

test.each([
  ['75', 'CANNOT_WRITE_TO_FILE_DESCRIPTOR'],
  ['173', 'CANNOT_ALLOCATE_MEMORY'],
  ['198', 'DNS_ERROR'],
  ['201', 'QUOTA_EXCEEDED'],
  ['203', 'NO_FREE_CONNECTION'],
  ['225', 'NO_ZOOKEEPER'],
  ['236', 'ABORTED'],
  ['241', 'MEMORY_LIMIT_EXCEEDED'],
  ['252', 'TOO_MANY_PARTS'],
  ['369', 'ALL_REPLICAS_ARE_STALE'],
  ['384', 'PART_IS_TEMPORARILY_LOCKED'],
  ['394', 'QUERY_WAS_CANCELLED'],
  ['439', 'CANNOT_SCHEDULE_TASK'],
  ['499', 'S3_ERROR'],
  ['517', 'CANNOT_ASSIGN_ALTER'],
  ['745', 'SERVER_OVERLOADED'],
  ['999', 'KEEPER_EXCEPTION'],
])('what a server cannot do for now is no fault of ours (%s, %s)', async (code, name) => {
  const busy = createHttpServer((request, response) => {
    const head = { 'X-ClickHouse-Exception-Code': code };
    const words = `Code: ${code}. DB::Exception: Some words of its own. (${name}) (version 26.7.1.1)`;
    request.resume().once('end', () => response.writeHead(500, head).end(words));
  });
  const port = await listenOnLoopback(busy);
  const server = connectClickhouse(`clickhouse://127.0.0.1:${port}/billing`);
  const expected = { kind: 'unavailable', message: expect.stringContaining('Some words'), retryAfterSeconds: 1 };
  await expect(server.ask('SELECT 1')).rejects.toMatchObject(expected);
  await expect(server.insert('tallybookBook', [{ bookId: 'one' }])).rejects.toMatchObject(expected);
  await server.close();
  busy.close();
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
  const port = await listenOnLoopback(other);
  const events = `clickhouse://tally:secret@127.0.0.1:${port}/billing`;
  const refused: unknown = await openStore(':memory:', { events }).catch((error: unknown) => error);
  expect(refused).toMatchObject({
    kind: 'unavailable',
    message: expect.stringMatching(/^what answers at clickhouse:.* is not a supported ClickHouse server: /),
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
      `secure=${word} is neither true nor false`,
    );
  },
);

test('half a password in the place of the host is not looked up', () => {
  const url = 'clickhouse://ada:s@ecret/s@events.example/billing';
  expect(() => clickhouseConnectionOf(url)).toThrow('clickhouse://ada:***@events.example/billing is not the URL');
});

test.each([
  ['a URL that is none', 'http://127.0.0.1/events', 'usage'],
  ['a server that is not there', 'clickhouse://127.0.0.1:1/events', 'unavailable'],
])('%s is refused before a database is made for its books', async (_case, events, kind) => {
  const directory = newDirectory();
  const opening = openStore(join(directory, 'new', 'book.db'), { events });
  await expect(opening).rejects.toMatchObject({ kind });
  expect(readdirSync(directory)).toEqual([]);
});

test('a server that is slow is waited for before a database is made for its books', async () => {
  const directory = newDirectory();
  let answerSlowly: (() => void) | undefined;
  const slow = createHttpServer((request, response) => {
    const refusal = 'Code: 516. DB::Exception: no. (AUTHENTICATION_FAILED)';
    request.resume().once('end', () => {
      if (request.url === '/ping') {
        response.end('Ok.\n');
        answerSlowly?.();
      } else if (answerSlowly === undefined) answerSlowly = () => response.end('{"data":[]}');
      else response.writeHead(403).end(refusal);
    });
  });
  onTestFinished(() => {
    slow.close();
    slow.closeAllConnections();
  });
  const events = `clickhouse://127.0.0.1:${await listenOnLoopback(slow)}/billing`;
  const opening = openStore(join(directory, 'book.db'), { events });
  await expect(opening).rejects.toThrow('refuses this user');
});
