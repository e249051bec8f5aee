/** Webhook endpoints, their secrets and their deliveries (semantics 1, 3, 13). */

import { ConflictError, InvalidInputError, NotFoundError, UnavailableError } from '../errors.ts';
import { reviveExactJson } from '../exact-json.ts';
import { limits } from '../limits.ts';
import type { Operation } from '../operations/operation.ts';
import type { ParsedInput } from '../operations/parse.ts';
import type { webhookOperations } from '../operations/webhooks.ts';
import { webhookEventTypes } from '../operations/wire-values.ts';
import {
  findWebhookDelivery,
  insertWebhookEndpoint,
  listWebhookDeliveries,
  listWebhookEndpoints,
  removeWebhookEndpoint,
  restartWebhookDelivery,
  updateWebhookEndpoint,
} from '../store/records/webhooks.ts';
import type { WebhookDelivery, WebhookEndpoint } from '../store/records/webhooks.ts';
import type { EngineDependencies } from './dependencies.ts';
import type { CallContext, HandlersOf } from './handler.ts';
import { listBody, pageOf } from './listing.ts';
import { existing, pastIssues, refuse } from './refuse.ts';
import { emit } from './webhooks-emit.ts';
import { sampleData } from './webhooks-samples.ts';
import { wireTimestamp } from './wire.ts';

const secretBytes = 32;

export const webhookHandlers: HandlersOf<typeof webhookOperations> = {
  'webhooks.create': async (context, { body }) => {
    const existing = await listWebhookEndpoints(context.tx, context.orgId);
    if (existing.length >= limits.webhookEndpoints) {
      throw new ConflictError(`there are ${limits.webhookEndpoints} endpoints, the most allowed`, {
        hint: 'remove one with: tally webhooks remove',
      });
    }
    const endpoint: WebhookEndpoint = {
      id: context.newId(),
      url: new URL(body.url).href,
      description: body.description ?? null,
      eventTypes: body.eventTypes === undefined ? null : [...new Set(body.eventTypes)],
      isEnabled: true,
      disabledReason: null,
      allowPrivate: body.allowPrivate ?? false,
      secret: newSecret(context),
      previousSecret: null,
      previousSecretValidUntil: null,
      createdAt: context.timestamp,
      updatedAt: context.timestamp,
    };
    await insertWebhookEndpoint(context.tx, context.orgId, endpoint);
    return { body: { data: { secret: endpoint.secret, ...wireEndpoint(endpoint, context) } } };
  },

  'webhooks.list': async (context) => {
    const endpoints = await listWebhookEndpoints(context.tx, context.orgId);
    return { body: { data: endpoints.map((endpoint) => wireEndpoint(endpoint, context)) } };
  },

  'webhooks.update': async (context, { params, body }) => {
    if (body.allowPrivate !== undefined && body.url === undefined) {
      throw new InvalidInputError([{ path: 'allowPrivate', message: 'works only together with url' }]);
    }
    const before = await getEndpoint(context, params.endpointId);
    const isEnabled = body.isEnabled ?? before.isEnabled;
    const after: WebhookEndpoint = {
      ...before,
      ...(body.url === undefined ? {} : { url: new URL(body.url).href, allowPrivate: body.allowPrivate ?? false }),
      eventTypes: body.eventTypes === undefined ? before.eventTypes : [...new Set(body.eventTypes)],
      description: body.description === undefined ? before.description : body.description,
      isEnabled,
      disabledReason: isEnabled ? null : before.disabledReason,
      updatedAt: context.timestamp,
    };
    const { createdAt: _createdAt, ...changes } = after;
    await updateWebhookEndpoint(context.tx, context.orgId, changes);
    return { body: { data: wireEndpoint(after, context) } };
  },

  'webhooks.remove': async (context, { params }) => {
    const endpoint = await getEndpoint(context, params.endpointId);
    const removal = { id: endpoint.id, removedAt: context.timestamp, error: 'the endpoint was removed' };
    await removeWebhookEndpoint(context.tx, context.orgId, removal);
    return { body: { data: { removed: wireEndpoint({ ...endpoint, isEnabled: false }, context) } } };
  },

  'webhooks.rotate': async (context, { params, body }) => {
    const before = await getEndpoint(context, params.endpointId);
    const { machineTime, timestamp } = context;
    const until = body.validUntil ?? wireTimestamp(machineTime.add({ hours: limits.webhookRotationHours }));
    refuse(pastIssues('validUntil', until, wireTimestamp(machineTime)));
    const changes = {
      id: before.id,
      secret: newSecret(context),
      previousSecret: before.secret,
      previousSecretValidUntil: until,
      updatedAt: timestamp,
    };
    await updateWebhookEndpoint(context.tx, context.orgId, changes);
    return { body: { data: { secret: changes.secret, ...wireEndpoint({ ...before, ...changes }, context) } } };
  },

  'webhooks.deliveries': async (context, { query }) => {
    const page = pageOf(query);
    const { status, endpointId, include } = query;
    const found = await listWebhookDeliveries(context.tx, context.orgId, { status, endpointId, ...page });
    return {
      body: listBody(
        found,
        page,
        found.rows.map((row) => wireDelivery(row, { withPayload: include?.includes('payload') === true })),
      ),
    };
  },

  'webhooks.resend': async (context, { params }) => {
    const delivery = await getDelivery(context, params.deliveryId);
    const endpoints = await listWebhookEndpoints(context.tx, context.orgId);
    const endpoint = endpoints.find((each) => each.id === delivery.endpointId);
    if (endpoint === undefined) throw new ConflictError(`the endpoint of delivery ${delivery.id} was removed`);
    if (!endpoint.isEnabled) {
      throw new ConflictError(`the endpoint of delivery ${delivery.id} is disabled`, {
        hint: `enable it with: tally webhooks update ${endpoint.id} --is-enabled`,
      });
    }
    const now = wireTimestamp(context.machineTime);
    await restartWebhookDelivery(context.tx, context.orgId, { id: delivery.id, now });
    return { body: { data: wireDelivery(await getDelivery(context, delivery.id)) } };
  },

  'webhooks.trigger': async (context, { params }) => {
    const type = webhookEventTypes.find((each) => each === params.eventType);
    if (type === undefined) {
      throw new NotFoundError('no event has this type', {
        hint: `the types are ${webhookEventTypes.join(', ')}`,
      });
    }
    const emitted = await emit(context, type, () => sampleData(type, context.timestamp));
    if (emitted === undefined) {
      throw new ConflictError(`no enabled endpoint receives ${type}`, {
        hint: 'register one with: tally webhooks create',
      });
    }
    return { body: { data: { ...emitted, type } } };
  },
};

/**
 * Refuses an address that nothing would be sent to (security 7, SEC-60). It looks names up, so it comes before the
 * transaction; every delivery looks them up again.
 */
export async function checkEndpointAddress(
  { checkWebhookUrl }: EngineDependencies,
  input: ParsedInput<Operation>,
): Promise<void> {
  const body: unknown = input.body;
  const { url, allowPrivate = false } = body as { readonly url?: string; readonly allowPrivate?: boolean };
  if (url === undefined) return;
  if (checkWebhookUrl === undefined) throw new UnavailableError('this program cannot check where webhooks go');
  const problem = await checkWebhookUrl(url, { allowPrivate });
  if (problem !== undefined) throw new InvalidInputError([{ path: 'url', message: problem }]);
}

async function getEndpoint(context: CallContext, id: string): Promise<WebhookEndpoint> {
  const endpoints = await listWebhookEndpoints(context.tx, context.orgId);
  const endpoint = endpoints.find((each) => each.id === id);
  return existing(endpoint, 'endpoint', 'webhooks list');
}

async function getDelivery({ tx, orgId }: CallContext, id: string): Promise<WebhookDelivery> {
  return existing(await findWebhookDelivery(tx, orgId, id), 'delivery', 'webhooks deliveries');
}

function newSecret(context: CallContext): string {
  return `whsec_${Buffer.from(context.randomBytes(secretBytes)).toString('base64')}`;
}

/** The old secret ends by the machine's clock, because deliveries are signed by that. */
function wireEndpoint(endpoint: WebhookEndpoint, { machineTime }: CallContext) {
  const { id, url, description, eventTypes, isEnabled, disabledReason, createdAt, updatedAt } = endpoint;
  const until = endpoint.previousSecretValidUntil;
  return {
    id,
    url,
    description,
    eventTypes: [...(eventTypes ?? webhookEventTypes)],
    isEnabled,
    disabledReason,
    previousSecretValidUntil: until !== null && wireTimestamp(machineTime) < until ? until : null,
    createdAt,
    updatedAt,
  };
}

function wireDelivery({ body, ...delivery }: WebhookDelivery, { withPayload } = { withPayload: false }) {
  return { ...delivery, ...(withPayload && { payload: payloadOf(body) }) };
}

/** The body is JSON that `emit` wrote. */
function payloadOf(body: string): Record<string, unknown> {
  return reviveExactJson(body) as Record<string, unknown>;
}
