/** A real receiver on this machine, and a sender for a world's outbox whose clock stands still. */

import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';

import { Webhook } from 'standardwebhooks';
import { onTestFinished } from 'vitest';

import { createWebhookOutbox } from '../../src/engine/webhooks-outbox.ts';
import type { ResponseBody } from '../../src/operations/index.ts';
import type { WebhookOutbox, WebhookSender } from '../../src/operations/webhook-outbox.ts';
import { createWebhookSender } from '../../src/server/webhook-sender.ts';
import type { WebhookSenderOptions } from '../../src/server/webhook-sender.ts';
import { resolverOf } from './world.ts';
import type { Hosts, World } from './world.ts';
import { listenOnLoopback } from './free-port.ts';

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface WebhookReceiver {
  readonly url: string;
  readonly received: readonly Received[];
}

type Answer = number | ((request: IncomingMessage, response: ServerResponse) => void);

/** Listens until the test ends. `answers` are given in turn, the last one for ever: a status, or what to do. */
export async function startReceiver(...answers: readonly Answer[]): Promise<WebhookReceiver> {
  const received: Received[] = [];
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const answer = answers[Math.min(received.length, answers.length - 1)] ?? 200;
    received.push({ headers: request.headers, body });
    if (typeof answer === 'function') answer(request, response);
    else response.writeHead(answer).end();
  };
  const server = createServer((request, response) => void receive(request, response));
  const port = await listenOnLoopback(server);
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${port}/hook`, received };
}

/** Attempts are spread by nothing: each comes exactly after its time. */
export function outboxOf(world: World, random: () => number = () => 0.5): WebhookOutbox {
  return createWebhookOutbox({ store: world.store, now: world.clock.now, random });
}

/** Sends to this machine unless `options` say otherwise. */
export function senderFor(
  world: World,
  { hosts, ...options }: Partial<WebhookSenderOptions> & { readonly hosts?: Hosts } = {},
): WebhookSender {
  const sender = createWebhookSender({
    outbox: outboxOf(world),
    allowPrivate: true,
    resolve: resolverOf(hosts),
    now: world.clock.now,
    onFailure: (error) => {
      throw error;
    },
    ...options,
  });
  onTestFinished(async () => await sender.close());
  return sender;
}

/** Which of the secrets signed what was received. */
export function signersOf({ headers, body }: Received, secrets: readonly string[]): boolean[] {
  const at = new Date(Number(headers['webhook-timestamp']) * 1000);
  const signatures = String(headers['webhook-signature']).split(' ');
  return secrets.map((secret) =>
    signatures.includes(new Webhook(secret).sign(String(headers['webhook-id']), at, body)),
  );
}

type Endpoint = ResponseBody<'webhooks.create'>['data'];
type Delivery = ResponseBody<'webhooks.deliveries'>['data'][number];

export interface WebhookCalls {
  /** Registers an endpoint that may be on this machine. */
  readonly register: (url: string, more?: Readonly<Record<string, unknown>>) => Promise<Endpoint>;
  /** Queues a sample event; gives its id. */
  readonly trigger: (eventType?: string) => Promise<string>;
  /** Registers a receiver and queues an event for it. */
  readonly triggeredAt: (receiver: WebhookReceiver) => Promise<Endpoint>;
  /** The one delivery there is. */
  readonly onlyDelivery: () => Promise<Delivery>;
}

export function webhookCalls(world: World): WebhookCalls {
  const register: WebhookCalls['register'] = async (url, more = {}) =>
    (await world.call('webhooks.create', { body: { url, allowPrivate: true, ...more } })).data;
  const trigger: WebhookCalls['trigger'] = async (eventType = 'customer.created') =>
    (await world.call('webhooks.trigger', { params: { eventType } })).data.eventId;
  return {
    register,
    trigger,
    triggeredAt: async ({ url }) => {
      const endpoint = await register(url);
      await trigger();
      return endpoint;
    },
    onlyDelivery: async () => {
      const [delivery, ...others] = (await world.call('webhooks.deliveries')).data;
      if (delivery === undefined || others.length > 0) throw new Error('there is not one delivery');
      return delivery;
    },
  };
}
