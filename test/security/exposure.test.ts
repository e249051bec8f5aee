/** What a service that others can reach must have, and how many connections one of them may hold (SEC-30, SEC-35, SEC-36). */

import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';

import { describe, expect, onTestFinished, test } from 'vitest';

import type { ServerOptions } from '../../src/server/server.ts';
import { createSampleEngine, fullKey, serverWith, startService } from '../server/harness.ts';
import { makeCertificate } from '../support/certificate.ts';
import { runProgram, serveProgram } from '../support/program.ts';
import { newDirectory } from '../support/temporary-files.ts';

describe('an address that other machines reach', () => {
  test.each(['0.0.0.0', '::', '192.0.2.7', 'billing.example', '127.0.0.1.evil.example', '::ffff:127.0.0.1'])(
    '%s is refused without TLS or a proxy',
    (host) => {
      expect(() => serverWith({ host })).toThrow(
        expect.objectContaining({
          kind: 'usage',
          message: `${host} is reached from other machines, and keys would cross the network in the clear`,
        }),
      );
    },
  );

  test('is the same in brackets', () => {
    expect(() => serverWith({ host: '[::]' })).toThrow(/^:: is reached from other machines/);
  });

  test.each(['', ' ', '[ ]'])(
    'an empty one (%j) is refused, also behind a proxy: it would be every address',
    (host) => {
      expect(() => serverWith({ host, isBehindProxy: true })).toThrow(
        expect.objectContaining({ kind: 'usage', message: '--host is empty' }),
      );
    },
  );

  test.each([
    ['this machine', { host: '127.0.0.1' }],
    ['this machine by IPv6', { host: '::1' }],
    ['this machine by IPv6 as in a URL', { host: '[::1]' }],
    ['a proxy that ends TLS', { host: '0.0.0.0', isBehindProxy: true }],
    ['a proxy that is named', { host: '0.0.0.0', trustProxy: '10.0.0.0/8, 2001:db8::/32' }],
  ])('is not refused: %s', (_what, options) => {
    expect(() => serverWith(options)).not.toThrow();
  });

  test('is not refused with a certificate, and answers by TLS 1.2 and later alone', async () => {
    const { cert, key } = makeCertificate();
    expect(() => serverWith({ host: '0.0.0.0', tls: { cert, key } })).not.toThrow();
    const service = await startService(createSampleEngine(), { tls: { cert, key } });
    expect(service.url).toBe(`https://127.0.0.1:${service.port}`);
    const asked = request(`${service.url}/v1/customers`, { ca: cert, headers: { authorization: `Bearer ${fullKey}` } });
    asked.end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    expect([answer.statusCode, await text(answer)]).toEqual([200, '{}']);
    const old = connectTls({
      port: service.port,
      host: '127.0.0.1',
      ca: cert,
      maxVersion: 'TLSv1.1',
      minVersion: 'TLSv1',
    });
    const [error] = (await once(old, 'error')) as [Error];
    expect(error.message).toMatch(/version|protocol|handshake|ECONNRESET/i);
    // What speaks plain HTTP to it is hung up on without an answer of ours.
    const plain = connect(service.port, '127.0.0.1', () =>
      plain.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'),
    );
    plain.on('error', () => undefined);
    expect(await text(plain).catch(() => '')).not.toContain('ok');
  });

  /** A connection by which no handshake is begun, as the service has it. */
  async function silentConnection(options: Partial<ServerOptions>) {
    const { cert, key } = makeCertificate();
    const service = await startService(createSampleEngine(), { tls: { cert, key }, ...options });
    const socket = connect(service.port, '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return { service, ended: once(socket, 'close') };
  }

  test('hangs up on who does not finish the handshake in time', async () => {
    const { service, ended } = await silentConnection({ headersTimeoutMilliseconds: 50 });
    await expect(ended).resolves.toHaveLength(1);
    await service.close();
  });

  test('ends in time, whoever has not finished the handshake', async () => {
    const { service, ended } = await silentConnection({ drainMilliseconds: 50 });
    await expect(service.close()).resolves.toBeUndefined();
    await ended;
  });

  test('is refused with a certificate and the key of another, or with an empty file', () => {
    const [one, other] = [makeCertificate(), makeCertificate()];
    expect(() => serverWith({ host: '0.0.0.0', tls: { cert: one.cert, key: other.key } })).toThrow(
      expect.objectContaining({ kind: 'usage', message: expect.stringContaining('cannot be used') }),
    );
    for (const tls of [
      { cert: 'x', key: 'y' },
      { cert: '', key: one.key },
      { cert: one.cert, key: '' },
    ]) {
      expect(() => serverWith({ tls })).toThrow(expect.objectContaining({ kind: 'usage' }));
    }
  });
});

test.each([
  '0.0.0.0/0',
  '::/0',
  '',
  'proxy.example',
  '10.0.0.0/33',
  '10.0.0/8',
  '10.0.0.1,',
  'loopback',
  '10.0.0.0/8/8',
])('"%s" is nobody to be believed about the address of a client', (trustProxy) => {
  const last = trustProxy.split(',').at(-1);
  expect(() => serverWith({ trustProxy })).toThrow(
    expect.objectContaining({
      kind: 'usage',
      message: `--trust-proxy takes addresses such as 10.0.0.0/8, not "${last}"`,
      hint: 'name only the proxies: whoever is trusted chooses the address that is limited',
    }),
  );
});

describe('tally serve', () => {
  const home = newDirectory();
  const database = join(home, 'served.db');

  test.each([
    ['an address that others reach', ['--host', '0.0.0.0'], '--tls-cert and --tls-key, or --behind-proxy'],
    ['a certificate without its key', ['--tls-cert', 'cert.pem'], 'go together'],
    ['a certificate that is not there', ['--tls-cert', 'no.pem', '--tls-key', 'no.pem'], 'cannot read no.pem'],
    ['everybody as a proxy', ['--trust-proxy', '0.0.0.0/0'], 'not "0.0.0.0/0"'],
  ])('refuses %s with exit 2', async (_what, words, message) => {
    const outcome = await runProgram(['serve', '--port', '0', '--database', database, ...words], { home });
    expect([outcome.code, outcome.stdout]).toEqual([2, '']);
    expect(outcome.stderr).toContain(message);
  });

  test('serves by TLS with the certificate that it is given', async () => {
    const { cert, certFile, keyFile } = makeCertificate();
    const words = ['--tls-cert', certFile, '--tls-key', keyFile, '--database', database];
    const service = await serveProgram(words, { home });
    try {
      const asked = request(`${service.url}/healthz`, { ca: cert });
      asked.end();
      const [answer] = (await once(asked, 'response')) as [IncomingMessage];
      expect([service.url.startsWith('https://127.0.0.1:'), answer.statusCode]).toEqual([true, 200]);
    } finally {
      await service.stop();
    }
  });
});

describe('connections of one address', () => {
  const open = async (port: number, count: number): Promise<Socket[]> => {
    const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1').on('error', () => undefined));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    await Promise.all(sockets.map(async (socket) => await once(socket, 'connect')));
    return sockets;
  };
  const isHungUp = async (socket: Socket): Promise<boolean> => {
    if (socket.destroyed) return true;
    socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const answered = once(socket, 'data').then(() => false);
    return await Promise.race([answered, once(socket, 'close').then(() => true)]).catch(() => true);
  };

  test('beyond the limit are hung up, and there is room again when one ends', async () => {
    const service = await startService(createSampleEngine(), { socketsPerAddress: 3 });
    const sockets = await open(service.port, 3);
    const [fourth] = await open(service.port, 1);
    expect(await isHungUp(fourth as Socket)).toBe(true);
    for (const socket of sockets) expect(await isHungUp(socket)).toBe(false);
    // The last one as well: what an address once had open counts for nothing.
    for (const socket of sockets) socket.destroy();
    // The service learns of the end a moment after this side does.
    for (let count = 0; count < 3; count += 1) {
      await expect
        .poll(async () => await isHungUp((await open(service.port, 1))[0] as Socket), { interval: 5 })
        .toBe(false);
    }
  });

  test.each([
    ['of a proxy that is named', { trustProxy: '127.0.0.0/8' }],
    ['of a proxy that is named, on a socket of IPv6', { host: '::', trustProxy: '127.0.0.0/8' }],
    ['behind a proxy that is not named', { isBehindProxy: true }],
  ])('%s are not counted', async (_what, options) => {
    const service = await startService(createSampleEngine(), { socketsPerAddress: 1, ...options });
    const sockets = await open(service.port, 5);
    for (const socket of sockets) expect(await isHungUp(socket)).toBe(false);
  });

  test('are twenty where others can connect', async () => {
    const service = await startService(createSampleEngine(), { host: '0.0.0.0', trustProxy: '192.0.2.0/24' });
    const sockets = await open(service.port, 20);
    const [next] = await open(service.port, 1);
    expect(await isHungUp(next as Socket)).toBe(true);
    for (const socket of sockets) expect(await isHungUp(socket)).toBe(false);
  });

  test('are counted behind a proxy that is named where they come from elsewhere', async () => {
    const options = { socketsPerAddress: 1, isBehindProxy: true, trustProxy: '192.0.2.0/24' };
    const service = await startService(createSampleEngine(), options);
    const [first] = await open(service.port, 1);
    const [next] = await open(service.port, 1);
    expect([await isHungUp(next as Socket), await isHungUp(first as Socket)]).toEqual([true, false]);
  });

  test('are not limited where only this machine can connect', async () => {
    const service = await startService(createSampleEngine());
    const sockets = await open(service.port, 30);
    for (const socket of sockets) expect(await isHungUp(socket)).toBe(false);
  });
});
