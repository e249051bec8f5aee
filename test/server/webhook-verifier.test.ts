/** The receiver's part, as `examples/verify-webhook.mjs` shows it, against what the sender sends (security 7, SEC-61). */

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { root } from '../support/sources.ts';
import { senderFor, startReceiver, webhookCalls } from '../support/webhook-receiver.ts';
import type { Received } from '../support/webhook-receiver.ts';
import { createWorld, worldStart } from '../support/world.ts';

interface Example {
  isVerified(request: Received & { readonly secret: string; readonly now: number }): boolean;
}

const example = (await import(pathToFileURL(join(root, 'examples/verify-webhook.mjs')).href)) as Example;
const start = Date.parse(worldStart);

let received: Received;
/** The secret that a rotation ended, and the one after it. */
let old: string;
let secret: string;
let close: () => Promise<void>;
beforeEach(async () => {
  const world = await createWorld();
  close = async () => await world.close();
  const receiver = await startReceiver();
  const endpoint = await webhookCalls(world).triggeredAt(receiver);
  const body = { validUntil: '2027-01-01T00:00:00Z' };
  old = endpoint.secret;
  secret = (await world.call('webhooks.rotate', { params: { endpointId: endpoint.id }, body })).data.secret;
  await senderFor(world).deliverDue();
  const [first] = receiver.received;
  if (first === undefined) throw new Error('nothing came');
  received = first;
});
afterEach(async () => await close());

test('a receiver believes what was sent, with either secret while both sign, for five minutes', () => {
  for (const each of [secret, old]) {
    for (const now of [start - 300_000, start, start + 300_000]) {
      expect(example.isVerified({ ...received, secret: each, now })).toBe(true);
    }
  }
});

describe('a receiver believes nothing else', () => {
  const otherSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

  test.each<[string, (sent: Received) => Received, { now?: number; secret?: string }]>([
    ['a body with one more space', (sent) => ({ ...sent, body: `${sent.body} ` }), {}],
    ['another id', (sent) => withHeader(sent, 'webhook-id', 'other'), {}],
    ['another time', (sent) => withHeader(sent, 'webhook-timestamp', String(start / 1000 + 1)), {}],
    ['no time', (sent) => withHeader(sent, 'webhook-timestamp', undefined), {}],
    ['no signature', (sent) => withHeader(sent, 'webhook-signature', undefined), {}],
    ['an empty signature', (sent) => withHeader(sent, 'webhook-signature', 'v1,'), {}],
    ['another secret', (sent) => sent, { secret: otherSecret }],
    ['a replay after five minutes', (sent) => sent, { now: start + 300_001 }],
    ['one from the future', (sent) => sent, { now: start - 300_001 }],
  ])('%s', (_, change, { now = start, secret: used = secret }) => {
    expect(example.isVerified({ ...change(received), secret: used, now })).toBe(false);
  });
});

function withHeader({ headers, body }: Received, name: string, value: string | undefined): Received {
  return { body, headers: { ...headers, [name]: value } };
}
