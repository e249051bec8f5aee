import { createServer } from 'node:net';

import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';

import { openStore } from '../../src/store/open.ts';
import { answerMillisecondsOf, connectionOf, timeLimitsOf } from '../../src/store/backends/postgres/url.ts';
import { listenOnLoopback } from '../support/free-port.ts';

const server = 'postgres://ada:secret@db.example/book';
const authority = import.meta.filename;

test.each([
  ['?sslmode=require', { rejectUnauthorized: false }],
  ['?sslmode=no-verify', { rejectUnauthorized: false }],
  [
    `?sslmode=require&sslrootcert=${authority}`,
    { rejectUnauthorized: true, ca: expect.stringContaining('connectionOf') },
  ],
  ['?sslmode=verify-ca', { rejectUnauthorized: true, checkServerIdentity: expect.any(Function) }],
  [`?sslrootcert=${authority}`, { rejectUnauthorized: true, ca: expect.stringContaining('connectionOf') }],
])('the parameters %o mean to TLS what they mean to libpq', (parameters, ssl) => {
  expect(connectionOf(`${server}${parameters}`).ssl).toMatchObject(ssl);
});

test.each(['require', 'verify-full'])('sslmode=%s takes no TLS older than what the service takes itself', (mode) => {
  expect(connectionOf(`${server}?sslmode=${mode}`).ssl).toMatchObject({ minVersion: 'TLSv1.2' });
});

test('with sslmode=disable there is no TLS, whatever PGSSLMODE says', () => {
  vi.stubEnv('PGSSLMODE', 'verify-full');
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(new pg.Client(connectionOf(`${server}?sslmode=disable`)).ssl).toBe(false);
});

test.each([
  [undefined, false],
  ['disable', false],
  ['require', true],
  ['verify-full', true],
])('without a word about TLS, PGSSLMODE %o decides, and asks for a certificate where it asks for TLS', (mode, ssl) => {
  vi.stubEnv('PGSSLMODE', mode);
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(new pg.Client(connectionOf(server)).ssl).toBe(ssl);
});

test.each(['sslmod=verify-full', 'ssl=true', 'sslcrl=revoked.pem', 'SSLMODE=verify-full'])(
  'what would be TLS if it were known is refused: %s',
  (parameter) => {
    const connect = () => connectionOf(`${server}?${parameter}`);
    expect(connect).toThrow(`${parameter.split('=')[0]} of postgres://ada:***@db.example/book?`);
    expect(connect).not.toThrow('secret');
  },
);

test.each(['?sslmode=verify-full', `?sslrootcert=${authority}`, '?sslmode=verify-full&sslrootcert=system'])(
  '%s checks the name of the server as well',
  (parameters) => {
    expect(connectionOf(`${server}${parameters}`).ssl).not.toHaveProperty('checkServerIdentity');
    expect(connectionOf(`${server}${parameters}`).ssl).toMatchObject({ rejectUnauthorized: true });
  },
);

test('other parameters reach the library, and those of TLS do not, since it reads them otherwise', () => {
  const { connectionString } = connectionOf(`${server}?sslmode=require&connect_timeout=5&options=-csearch_path%3Dx`);
  expect(connectionString).toBe('postgres://ada:secret@db.example/book?connect_timeout=5&options=-csearch_path%3Dx');
});

test('limits of time are said to the session, since a pooler refuses who connects with them', () => {
  const url = `${server}?statement_timeout=5&lock_timeout=0`;
  expect(connectionOf(url).connectionString).toBe(server);
  expect(timeLimitsOf(url)).toEqual({
    statement_timeout: '5',
    lock_timeout: '0',
    idle_in_transaction_session_timeout: '60000',
  });
});

test.each([
  ['', 65_000],
  ['?statement_timeout=300000', 305_000],
  ['?statement_timeout=0', undefined],
])('an answer is waited for a little longer than the server lets a statement of %o run', (parameters, milliseconds) => {
  expect(answerMillisecondsOf(`${server}${parameters}`)).toBe(milliseconds);
});

test.each(['5s', '-1', 'soon', '', '1e3'])(
  'a limit of %o, which would leave an answer waited for without end, is refused',
  (text) => {
    const wait = () => answerMillisecondsOf(`${server}?statement_timeout=${text}`);
    expect(wait).toThrow(`statement_timeout=${text} of postgres://ada:***@db.example/book`);
    expect(wait).not.toThrow('secret');
  },
);

test('a server that asks for a password where there is none is said to', async () => {
  vi.stubEnv('PGPASSWORD', '');
  vi.stubEnv('PGPASSFILE', '/nowhere');
  /** A message of the protocol about who calls: its length, what is asked for, and the rest. */
  const ask = (kind: number, rest: string): Buffer => {
    const message = Buffer.alloc(9 + Buffer.byteLength(rest), `R\0\0\0\0\0\0\0\0${rest}`);
    message.writeInt32BE(message.length - 1, 1);
    message.writeInt32BE(kind, 5);
    return message;
  };
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write(ask(10, 'SCRAM-SHA-256\0\0'));
      socket.once('data', () => socket.write(ask(11, 'r=nonce,s=c2FsdA==,i=4096')));
    });
  });
  onTestFinished(() => {
    vi.unstubAllEnvs();
    server.close();
  });
  const port = await listenOnLoopback(server);
  await expect(openStore(`postgres://ada@127.0.0.1:${port}/book`)).rejects.toMatchObject({
    kind: 'unavailable',
    message: expect.stringContaining('refuses this user: it asks for a password, and there is none'),
  });
});
