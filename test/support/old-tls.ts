/** A service that speaks nothing newer than TLS 1.1, and a process that was told to take that, as NODE_OPTIONS can. */

import { createServer } from 'node:https';
import tls from 'node:tls';

import { onTestFinished } from 'vitest';

import { makeCertificate } from './certificate.ts';
import { listenOnLoopback } from './free-port.ts';

export interface OldService {
  readonly url: string;
  readonly cert: string;
  /** How many requests it was sent. */
  readonly count: () => number;
}

export async function startOldService(): Promise<OldService> {
  const { DEFAULT_MIN_VERSION, DEFAULT_CIPHERS } = tls;
  Object.assign(tls, { DEFAULT_MIN_VERSION: 'TLSv1', DEFAULT_CIPHERS: 'DEFAULT@SECLEVEL=0' });
  onTestFinished(() => void Object.assign(tls, { DEFAULT_MIN_VERSION, DEFAULT_CIPHERS }));
  const { cert, key } = makeCertificate();
  let count = 0;
  const server = createServer({ cert, key, maxVersion: 'TLSv1.1' }, (_request, response) => {
    count += 1;
    response.setHeader('content-type', 'application/json').end('{"data":[],"hasMore":false,"total":0}');
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const port = await listenOnLoopback(server);
  return { url: `https://127.0.0.1:${port}`, cert, count: () => count };
}
