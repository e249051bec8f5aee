/** Bytes that are not, or not clearly, one HTTP request (security 5, SEC-38). */

import { describe, expect, test } from 'vitest';

import { fullKey, sendRaw, startService } from '../server/harness.ts';

const head = `Host: 127.0.0.1\r\nAuthorization: Bearer ${fullKey}\r\nContent-Type: application/json\r\n`;

function statusesOf(answer: string): string[] {
  return [...answer.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map((match) => match[1] ?? '');
}

describe('bytes on the socket', () => {
  test.each([
    [
      'Content-Length and Transfer-Encoding',
      `POST /v1/customers HTTP/1.1\r\n${head}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['two Content-Length', `POST /v1/customers HTTP/1.1\r\n${head}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`],
    ['a Content-Length that is no number', `POST /v1/customers HTTP/1.1\r\n${head}Content-Length: 2x\r\n\r\n{}`],
    ['a negative Content-Length', `POST /v1/customers HTTP/1.1\r\n${head}Content-Length: -2\r\n\r\n{}`],
    [
      'a chunk size that is no number',
      `POST /v1/customers HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
    ],
    [
      'a coding before chunked that is unknown',
      `POST /v1/customers HTTP/1.1\r\n${head}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`,
    ],
    ['lines that end in LF alone', `GET /v1/customers HTTP/1.1\n${head.replaceAll('\r\n', '\n')}\n`],
    ['a space before the colon', `GET /v1/customers HTTP/1.1\r\nHost : 127.0.0.1\r\n${head}\r\n`],
    ['a folded header', `GET /v1/customers HTTP/1.1\r\n${head}X-A: b\r\n c\r\n\r\n`],
    ['a header with a control character', `GET /v1/customers HTTP/1.1\r\n${head}X-A: b\u0000c\r\n\r\n`],
    ['headers of 20 KiB', `GET /v1/customers HTTP/1.1\r\n${head}X-A: ${'a'.repeat(20_480)}\r\n\r\n`],
    ['a hundred headers', `GET /v1/customers HTTP/1.1\r\n${head}${'X-A: b\r\n'.repeat(100)}\r\n`],
    ['no HTTP at all', 'hello\r\n\r\n'],
    ['a TLS hello', '\u0016\u0003\u0001\u0002\u0000\u0001\r\n\r\n'],
    ['another version of HTTP', `GET /v1/customers HTTP/9.9\r\n${head}\r\n`],
  ])('%s are refused with 400, and the connection ends', async (_what, bytes) => {
    const service = await startService();
    const answer = await sendRaw(service.port, bytes);
    expect(statusesOf(answer)).toEqual(['400']);
    expect(answer.toLowerCase()).toContain('connection: close');
    expect(answer).toMatch(/\{"error":\{"message":"[^"]+","code":"BAD_REQUEST"\}\}$/);
    expect(service.engine.calls).toEqual([]);
  });

  test('a coding below the chunks is not taken for the body', async () => {
    const service = await startService();
    const coded = `Transfer-Encoding: gzip, chunked\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n`;
    const answer = await sendRaw(service.port, `POST /v1/customers HTTP/1.1\r\n${head}${coded}2\r\n{}\r\n0\r\n\r\n`);
    expect(statusesOf(answer)).toEqual(['415']);
    expect(service.engine.calls).toEqual([]);
  });

  test.each([
    ['no Host', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n', '400'],
    ['an empty Host', 'GET /healthz HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n', '403'],
    ['two Hosts', 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n', '400'],
    ['the Host of another', 'GET /healthz HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n', '403'],
    [
      'the URL of another',
      'GET http://evil.example/healthz HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n',
      '403',
    ],
  ])('a request with %s gets nothing', async (_what, bytes, status) => {
    const service = await startService();
    expect(statusesOf(await sendRaw(service.port, bytes))).toEqual([status]);
  });

  test('a request hidden in the body of another is not carried out', async () => {
    const service = await startService();
    const hidden = `DELETE /v1/meters/x HTTP/1.1\r\n${head}\r\n`;
    const outer = `POST /nowhere HTTP/1.1\r\n${head}Connection: close\r\nContent-Length: ${hidden.length}\r\n\r\n`;
    expect(statusesOf(await sendRaw(service.port, outer + hidden))).toEqual(['404']);
    expect(service.engine.calls).toEqual([]);
  });
});
