/** Puts events into the outbox, in the transaction of the change that they tell of (semantics 13, reliability 4.2). */

import { limits } from '../limits.ts';
import type { WebhookEventType } from '../operations/wire-values.ts';
import { insertWebhookEvents, listWebhookEndpoints } from '../store/records/webhooks.ts';
import type { WebhookEndpoint } from '../store/records/webhooks.ts';
import type { CallContext } from './handler.ts';

/** What an event is about: the resource in the form of its own answer. */
export type WebhookData = Readonly<Record<string, unknown>>;

export type EmitContext = Pick<CallContext, 'tx' | 'orgId' | 'timestamp' | 'newId'>;

export interface EmittedEvent {
  readonly eventId: string;
  readonly deliveryCount: number;
}

/**
 * Keeps an event for every enabled endpoint that takes its type. Without such an endpoint it writes nothing and never calls
 * `dataOf`. The body is built here once; every attempt sends these bytes (security 7, SEC-61).
 */
export async function emit(
  context: EmitContext,
  type: WebhookEventType,
  dataOf: () => WebhookData | Promise<WebhookData>,
): Promise<EmittedEvent | undefined> {
  const [emitted] = await emitEach(context, type, async () => [await dataOf()]);
  return emitted;
}

/** The same for several resources, whose data is found together: an event for each. */
export async function emitEach(
  context: EmitContext,
  type: WebhookEventType,
  dataOf: () => Promise<readonly WebhookData[]>,
): Promise<readonly EmittedEvent[]> {
  const { tx, orgId, timestamp, newId } = context;
  const subscribed = (await enabledEndpoints(context)).filter((endpoint) => takes(endpoint, type));
  if (subscribed.length === 0) return [];
  const events = (await dataOf()).map((data) => ({
    id: newId(),
    type,
    body: bodyOf(type, timestamp, data),
    createdAt: timestamp,
    deliveries: subscribed.map((endpoint) => ({ id: newId(), endpointId: endpoint.id })),
  }));
  await insertWebhookEvents(tx, orgId, events);
  return events.map(({ id, deliveries }) => ({ eventId: id, deliveryCount: deliveries.length }));
}

/**
 * Endpoints, read once for each call, because a new contract alone can draft 120 invoices. Not once for each transaction: that
 * may be shared with a call that changes endpoints.
 */
const known = new WeakMap<EmitContext, readonly WebhookEndpoint[]>();

async function enabledEndpoints(context: EmitContext): Promise<readonly WebhookEndpoint[]> {
  const found = known.get(context) ?? (await listWebhookEndpoints(context.tx, context.orgId));
  known.set(context, found);
  return found.filter((endpoint) => endpoint.isEnabled);
}

function takes(endpoint: WebhookEndpoint, type: WebhookEventType): boolean {
  return endpoint.eventTypes === null || endpoint.eventTypes.includes(type);
}

function bodyOf(type: WebhookEventType, timestamp: string, data: WebhookData): string {
  const whole = JSON.stringify({ type, timestamp, data });
  if (Buffer.byteLength(whole) <= limits.webhookBodyBytes) return whole;
  // A customer may have a hundred long tags: the receiver then reads the resource itself.
  return JSON.stringify({ type, timestamp, data: { id: data['id'] } });
}
