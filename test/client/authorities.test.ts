/** The way to a service by https: authorities of one's own, and a proxy that carries what it cannot read (SEC-10, SEC-14). */

import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect, createServer as createTcpServer } from 'node:net';
import type { Socket } from 'node:net';
import { join } from 'node:path';

import { beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';

import { tlsFailure } from '../../src/client/tls-failure.ts';
import { createSampleEngine, fullKey, startService } from '../server/harness.ts';
import type { Service } from '../server/harness.ts';
import { makeCertificate } from '../support/certificate.ts';
import type { Certificate } from '../support/certificate.ts';
import { startOldService } from '../support/old-tls.ts';
import { runProgram } from '../support/program.ts';
import { newDirectory } from '../support/temporary-files.ts';
import { startClient, unusedUrl } from './harness.ts';
import { listenOnLoopback } from '../support/free-port.ts';

let certificate: Certificate;
let service: Service;
let home: string;
beforeAll(() => {
  certificate = makeCertificate();
});
beforeEach(async () => {
  home = newDirectory();
  const whoami = {
    organization: { id: 'org-1', name: 'Own' },
    environment: 'sandbox' as const,
    scopes: ['*' as const],
    key: null,
  };
  const page = { status: 200, body: { data: [], hasMore: false, total: 0 } };
  const engine = createSampleEngine({
    'customers.list': () => page,
    'keys.whoami': () => ({ status: 200, body: { data: whoami } }),
  });
  service = await startService(engine, { tls: certificate });
});

const ask = async (environment: Readonly<Record<string, string>>, ...words: string[]) =>
  await runProgram(['customers', 'list', '-o', 'json', ...words], {
    home,
    environment: { TALLY_BASE_URL: service.url, TALLY_API_KEY: fullKey, TALLY_ENVIRONMENT: 'sandbox', ...environment },
  });

const uncheckedEnvironment = { NODE_TLS_REJECT_UNAUTHORIZED: '0' };

test('a certificate of an authority that nobody knows is refused, whatever the environment says of certificates', async () => {
  for (const environment of [{}, uncheckedEnvironment]) {
    const outcome = await ask(environment);
    expect(outcome).toMatchObject({ code: 9, stdout: '' });
    expect(outcome.stderr).toContain(
      `tally: 127.0.0.1:${service.port}: its certificate is refused: it is not signed by an authority that this machine trusts (DEPTH_ZERO_SELF_SIGNED_CERT)\n` +
        '  hint: if an authority of your own signed it, give its certificate with --ca-file FILE or TALLY_CA_FILE; the check cannot be turned off\n',
    );
  }
  expect(service.engine.calls).toEqual([]);
});

test('that the check cannot be turned off is said once, and Node says nothing else', async () => {
  const { stderr } = await ask(uncheckedEnvironment);
  expect(stderr.match(/NODE_TLS_REJECT_UNAUTHORIZED.*/g)).toEqual([
    'NODE_TLS_REJECT_UNAUTHORIZED is ignored: certificates are always checked',
  ]);
});

test('a certificate for another host is refused, trusted authority or not', async () => {
  const bad = makeCertificate('IP:127.0.0.2');
  const { url, engine } = await startService(createSampleEngine(), { tls: bad });
  for (const environment of [{}, uncheckedEnvironment]) {
    const outcome = await ask({ ...environment, TALLY_BASE_URL: url, TALLY_CA_FILE: bad.certFile });
    expect(outcome).toMatchObject({ code: 9, stdout: '' });
    expect(outcome.stderr).toContain('its certificate is refused: it is for another host');
    expect(outcome.stderr).toContain('the base URL must use a host name that is in the certificate');
  }
  expect(engine.calls).toEqual([]);
});

test.each([
  ['CERT_HAS_EXPIRED', 'its certificate is refused: it has expired, or is not valid yet', 'needs a new certificate'],
  ['CERT_REVOKED', 'its certificate is refused (CERT_REVOKED)', 'needs another certificate'],
])('%s says what is wrong, and whose turn it is', (code, reason, hint) => {
  expect(tlsFailure(code)).toEqual({
    reason: expect.stringContaining(reason),
    hint: expect.stringContaining(hint),
  });
});

test('https to a port that speaks none is told apart from a bad certificate', async () => {
  const plain = await startService(createSampleEngine());
  const outcome = await ask({ TALLY_BASE_URL: plain.url.replace('http:', 'https:') });
  expect(outcome.code).toBe(9);
  expect(outcome.stderr).toContain('it does not speak TLS');
  expect(outcome.stderr).toContain('check the port of the base URL');
});

test('a program that uses the library checks certificates, whatever its environment says', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });
  await expect(startClient(service.url).call('customers.list')).rejects.toThrow('its certificate is refused');
  expect(service.engine.calls).toEqual([]);
});

test('a certificate that is refused is not asked for again: it is the same a moment later', async () => {
  const client = startClient(service.url);
  await expect(client.call('customers.list')).rejects.toThrow('its certificate is refused');
  expect(client.retries).toEqual([]);
});

test('TLS 1.1 is not spoken, whatever Node was told', async () => {
  const old = await startOldService();
  await expect(startClient(old.url, { ca: old.cert }).call('customers.list')).rejects.toThrow('TLS 1.2 or later');
  expect(old.count()).toBe(0);
});

test('--ca-file, TALLY_CA_FILE and a profile have it trusted', async () => {
  const file = certificate.certFile;
  expect((await ask({}, '--ca-file', file)).code).toBe(0);
  expect((await ask({ TALLY_CA_FILE: file })).code).toBe(0);
  const added = await runProgram(
    ['profile', 'add', 'own', '--environment', 'sandbox', '--base-url', service.url, '--key-stdin', '--ca-file', file],
    { home, input: fullKey },
  );
  expect(added.code).toBe(0);
  expect((await runProgram(['customers', 'list', '--profile', 'own', '-o', 'json'], { home })).code).toBe(0);
  const shown = await runProgram(['profile', 'show', '--profile', 'own'], { home });
  expect(shown.stdout).toContain(`caFile\t${file}\tprofile`);
});

test('an authority of one’s own is trusted beside those of the system', async () => {
  const other = makeCertificate();
  const environment = { NODE_EXTRA_CA_CERTS: certificate.certFile, TALLY_CA_FILE: other.certFile };
  expect((await ask(environment)).code).toBe(0);
});

test('a file without a certificate is refused before anything is sent', async () => {
  const file = join(home, 'none.pem');
  writeFileSync(file, 'none');
  for (const path of [file, join(home, 'absent.pem')]) expect((await ask({}, '--ca-file', path)).code).toBe(2);
});

/** A proxy that carries connections, and keeps all that it could read. */
async function startProxy() {
  const connects: string[] = [];
  const requests: string[] = [];
  const seen: Buffer[] = [];
  const server = createServer((incoming, outgoing) => {
    requests.push(incoming.url ?? '');
    outgoing.writeHead(502).end();
  });
  server.on('connect', (incoming: IncomingMessage, near: Socket) => {
    connects.push(incoming.url ?? '');
    seen.push(Buffer.from(JSON.stringify(incoming.rawHeaders)));
    const [host, port] = (incoming.url ?? '').split(':');
    const far = connect(Number(port), host, () => near.write('HTTP/1.1 200 OK\r\n\r\n'));
    near.on('data', (chunk: Buffer) => seen.push(chunk)).on('error', () => far.destroy());
    far.on('error', () => near.destroy());
    near.pipe(far).pipe(near);
  });
  const port = await listenOnLoopback(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${port}`;
  return { url, connects, requests, text: () => Buffer.concat(seen).toString('latin1') };
}

test('HTTPS_PROXY carries the connection, and sees neither key nor path', async () => {
  const proxy = await startProxy();
  const outcome = await ask({ HTTPS_PROXY: proxy.url, TALLY_CA_FILE: certificate.certFile });
  expect([outcome.code, outcome.stderr]).toEqual([0, '']);
  expect(proxy.connects).toEqual([`127.0.0.1:${service.port}`]);
  expect(proxy.text()).not.toContain(fullKey);
  expect(proxy.text()).not.toContain('/v1/customers');
  expect(proxy.requests).toEqual([]);
});

test('--debug says once which proxy leads to the service, without what it is told of the user', async () => {
  const proxy = await startProxy();
  const environment = { HTTPS_PROXY: proxy.url.replace('//', '//ada:secret@'), TALLY_CA_FILE: certificate.certFile };
  const { code, stderr } = await ask(environment, '--debug');
  expect([code, stderr]).toEqual([
    0,
    `tally: the way to the service is the proxy ${proxy.url}, unless NO_PROXY names its host\n`,
  ]);
  expect((await ask({ TALLY_CA_FILE: certificate.certFile }, '--debug')).stderr).toBe('');
});

test('a proxy that does not answer is named beside the service that is not reached', async () => {
  const outcome = await ask({ HTTPS_PROXY: await unusedUrl(), TALLY_CA_FILE: certificate.certFile });
  expect([outcome.code, outcome.stdout]).toEqual([9, '']);
  expect(outcome.stderr).toContain('check the base URL of the profile, the proxy of HTTPS_PROXY and the network');
});

test.each([
  ['says nothing', ''],
  ['leads on to where nobody answers', 'HTTP/1.1 200 OK\r\n\r\n'],
])('where a proxy %s, a command gives up in the time that it was given', async (_what, words) => {
  const nears: Socket[] = [];
  const proxy = createTcpServer((near) => {
    nears.push(near);
    near.once('data', () => near.write(words));
  });
  const port = await listenOnLoopback(proxy);
  onTestFinished(() => {
    for (const near of nears) near.destroy();
    proxy.close();
  });
  const environment = { HTTPS_PROXY: `http://127.0.0.1:${port}`, TALLY_CA_FILE: certificate.certFile };
  const { code, stderr } = await ask(environment, '--timeout', '0.5');
  expect([code, stderr]).toEqual([9, expect.stringContaining('no answer within 0.5 seconds')]);
});

test('a proxy without a scheme is one of http, as other programs take it', async () => {
  const proxy = await startProxy();
  const environment = { HTTPS_PROXY: proxy.url.slice('http://'.length), TALLY_CA_FILE: certificate.certFile };
  expect((await ask(environment)).code).toBe(0);
  expect(proxy.connects).toEqual([`127.0.0.1:${service.port}`]);
});

test.each(['socks5://ada:secret@127.0.0.1:1080', 'http://', 'ada:secret@', 'http://ada:secret%@127.0.0.1:1080'])(
  'a proxy %s is refused and not passed over, and its password is not repeated',
  async (url) => {
    const { code, stderr } = await ask({ HTTPS_PROXY: url, TALLY_CA_FILE: certificate.certFile });
    expect([code, service.engine.calls]).toEqual([2, []]);
    expect(stderr).toContain('tally: HTTPS_PROXY does not name a usable proxy\n');
    expect(stderr).not.toContain('secret');
  },
);

test.each([
  ['HTTP/1.1 407 Proxy Authentication Required\r\n\r\n', 'wants another user name or password (407)'],
  ['HTTP/1.1 403 Forbidden\r\n\r\n', 'refuses to connect there (403)'],
  ['hello\r\n\r\n', 'refuses to connect there\n'],
])('of a write that a proxy does not lead on, it is known why, and that nothing was sent', async (answer, reason) => {
  const proxy = createServer();
  proxy.on('connect', (_incoming, near: Socket) => near.end(answer));
  const port = await listenOnLoopback(proxy);
  onTestFinished(() => void proxy.close());
  const environment = {
    HTTPS_PROXY: `http://127.0.0.1:${port}`,
    TALLY_BASE_URL: service.url,
    TALLY_API_KEY: fullKey,
    TALLY_ENVIRONMENT: 'sandbox',
    TALLY_CA_FILE: certificate.certFile,
  };
  const words = ['customers', 'pause', 'c1', '--yes'];
  const { code, stdout, stderr } = await runProgram(words, { home, environment });
  expect([code, stdout]).toEqual([9, '']);
  expect(stderr).toContain(`127.0.0.1:${service.port}: the proxy of HTTPS_PROXY ${reason}`);
});

test('of a write after which the connection is spoilt, it is not known whether it arrived', async () => {
  const between = createTcpServer((near) => {
    const far = connect(service.port, '127.0.0.1');
    near.pipe(far);
    // What the service answers is lost once it has done something, and what comes instead is no TLS.
    far.on('data', (bytes) =>
      near.write(service.engine.calls.length === 0 ? bytes : 'HTTP/1.1 502 Bad Gateway\r\n\r\n'),
    );
    for (const socket of [near, far]) socket.on('error', () => near.destroy());
  });
  const port = await listenOnLoopback(between);
  onTestFinished(() => void between.close());
  const environment = {
    TALLY_BASE_URL: `https://127.0.0.1:${port}`,
    TALLY_API_KEY: fullKey,
    TALLY_ENVIRONMENT: 'sandbox',
    TALLY_CA_FILE: certificate.certFile,
  };
  const contact = 'name=Ada,email=ada@acme.example,roles=primary';
  const words = ['customers', 'create', '--name', 'Acme', '--contact', contact, '--yes'];
  const { code, stdout, stderr } = await runProgram(words, { home, environment });
  expect([code, stdout]).toEqual([9, '']);
  expect(stderr).toContain('the outcome is unknown');
  expect(service.engine.calls.map(({ name }) => name)).toEqual(['customers.create']);
});

test('a proxy does not make an unknown authority trusted', async () => {
  const proxy = await startProxy();
  expect((await ask({ HTTPS_PROXY: proxy.url })).code).toBe(9);
  expect(service.engine.calls).toEqual([]);
});

test('NO_PROXY names what is reached without it, and http never goes through one', async () => {
  const proxy = await startProxy();
  const environment = { HTTPS_PROXY: proxy.url, HTTP_PROXY: proxy.url, TALLY_CA_FILE: certificate.certFile };
  expect((await ask({ ...environment, NO_PROXY: '127.0.0.1' })).code).toBe(0);
  const plain = await startService(createSampleEngine());
  await ask({ ...environment, TALLY_BASE_URL: plain.url });
  await ask({ HTTPS_PROXY: 'socks5://127.0.0.1:1', TALLY_BASE_URL: plain.url });
  expect(plain.engine.calls).toHaveLength(2);
  expect([proxy.connects, proxy.requests]).toEqual([[], []]);
});
