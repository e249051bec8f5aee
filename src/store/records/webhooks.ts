/** Webhook endpoints, the events to be sent, and their deliveries. */

import { assert } from '../../assert.ts';
import type { Selectable } from 'kysely';

import type { DeliveryStatus } from '../../operations/webhooks.ts';
import type { WebhookEventType } from '../../operations/wire-values.ts';
import type { Database, Transaction } from '../database.ts';
import { type OfOrganization, prepared, preparedRows } from '../prepared.ts';
import { countOf, type Page, pageOf, readPage, type Rows } from './page.ts';

/** An endpoint that is not removed. */
export interface WebhookEndpoint {
  readonly id: string;
  readonly url: string;
  readonly description: string | null;
  /** Null for every kind of event. */
  readonly eventTypes: readonly WebhookEventType[] | null;
  readonly isEnabled: boolean;
  /** Why the service disabled it. */
  readonly disabledReason: string | null;
  readonly allowPrivate: boolean;
  readonly secret: string;
  readonly previousSecret: string | null;
  /** Present exactly if `previousSecret` is. */
  readonly previousSecretValidUntil: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** What is sent to endpoints; `body` is the JSON text, byte for byte. */
export interface WebhookEvent {
  readonly id: string;
  readonly type: WebhookEventType;
  readonly body: string;
  readonly createdAt: string;
}

/** An event on its way to one endpoint; the response fields are those of the latest attempt. */
export interface WebhookDelivery {
  readonly id: string;
  readonly eventId: string;
  readonly eventType: WebhookEventType;
  readonly endpointId: string;
  readonly url: string;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly nextAttemptAt: string | null;
  readonly lastAttemptAt: string | null;
  readonly responseStatus: number | null;
  readonly responseBody: string | null;
  readonly error: string | null;
  /** The event, as sent. */
  readonly body: string;
  readonly createdAt: string;
}

/** The endpoints of an organization that were not removed, newest first. */
export async function listWebhookEndpoints(tx: Transaction, orgId: string): Promise<readonly WebhookEndpoint[]> {
  return (await endpointsOfOrganization(tx, { orgId })).map(toEndpoint);
}

const endpointsOfOrganization = prepared(
  (tx, { orgId }: OfOrganization) =>
    tx
      .selectFrom('webhookEndpoints')
      .selectAll()
      .where('orgId', '=', orgId)
      .where('removedAt', 'is', null)
      .orderBy('createdAt', 'desc')
      .orderBy('seq', 'desc'),
  { name: 'webhook endpoints', isOfEveryCall: true, of: () => [{ orgId: '' }] },
);

/** Null for `eventTypes` includes kinds of the future. */
export async function insertWebhookEndpoint(tx: Transaction, orgId: string, endpoint: WebhookEndpoint): Promise<void> {
  const { eventTypes, ...plain } = endpoint;
  await tx
    .insertInto('webhookEndpoints')
    .values({ ...plain, orgId, eventTypes: eventTypes && JSON.stringify(eventTypes), removedAt: null })
    .execute();
}

/** Changes the given fields. */
export async function updateWebhookEndpoint(
  tx: Transaction,
  orgId: string,
  {
    id,
    eventTypes,
    ...changes
  }: Pick<WebhookEndpoint, 'id' | 'updatedAt'> & Partial<Omit<WebhookEndpoint, 'id' | 'createdAt'>>,
): Promise<void> {
  await tx
    .updateTable('webhookEndpoints')
    .set({ ...changes, eventTypes: eventTypes && JSON.stringify(eventTypes) })
    .where('orgId', '=', orgId)
    .where('id', '=', id)
    .execute();
}

/** Erases an endpoint's secrets, and gives up its pending deliveries. */
export async function removeWebhookEndpoint(
  tx: Transaction,
  orgId: string,
  { id, removedAt, error }: { readonly id: string; readonly removedAt: string; readonly error: string },
): Promise<void> {
  await tx
    .updateTable('webhookEndpoints')
    .set({
      isEnabled: false,
      secret: null,
      previousSecret: null,
      previousSecretValidUntil: null,
      removedAt,
      updatedAt: removedAt,
    })
    .where('orgId', '=', orgId)
    .where('id', '=', id)
    .execute();
  await tx
    .updateTable('webhookDeliveries')
    .set({ status: 'failed', nextAttemptAt: null, leaseUntil: null, error })
    .where('orgId', '=', orgId)
    .where('endpointId', '=', id)
    .where('status', '=', 'pending')
    .execute();
}

/** An event to be kept, with a delivery to each endpoint that takes it. */
export interface NewWebhookEvent extends WebhookEvent {
  readonly deliveries: readonly { readonly id: string; readonly endpointId: string }[];
}

/** Inserts events in their order, with their deliveries, which are due at once. */
export async function insertWebhookEvents(
  tx: Transaction,
  orgId: string,
  events: readonly NewWebhookEvent[],
): Promise<void> {
  await eventInsertion(
    tx,
    events.map(({ deliveries: _deliveries, ...event }) => ({ ...event, orgId })),
  );
  await deliveryInsertion(
    tx,
    events.flatMap(({ id: eventId, createdAt, deliveries }) =>
      deliveries.map((delivery) => ({ ...delivery, orgId, eventId, createdAt })),
    ),
  );
}

const eventInsertion = preparedRows<WebhookEvent & OfOrganization>(
  (tx, rows) => tx.insertInto('webhookEvents').values(rows),
  {
    name: 'new webhook event',
    isOfEveryCall: true,
    of: () => [{ orgId: '', id: '', type: '' as WebhookEvent['type'], body: '', createdAt: '' }],
  },
);

const deliveryInsertion = preparedRows<OfOrganization<'id' | 'eventId' | 'endpointId' | 'createdAt'>>(
  (tx, rows) =>
    tx.insertInto('webhookDeliveries').values(
      rows.map((row) => ({
        ...row,
        status: 'pending',
        attempts: 0,
        nextAttemptAt: null,
        leaseUntil: null,
        lastAttemptAt: null,
        responseBody: null,
        error: null,
      })),
    ),
  {
    name: 'new delivery',
    isOfEveryCall: true,
    of: () => [{ orgId: '', id: '', eventId: '', endpointId: '', createdAt: '' }],
  },
);

/** All given fields must match. */
export interface DeliveryFilter {
  readonly status?: DeliveryStatus | undefined;
  readonly endpointId?: string | undefined;
}

/** A page of deliveries, newest first. */
export async function listWebhookDeliveries(
  tx: Transaction,
  orgId: string,
  { status, endpointId, limit, offset }: DeliveryFilter & Page,
): Promise<Rows<WebhookDelivery>> {
  let query = deliveriesOf(tx, orgId);
  if (status !== undefined) query = query.where('webhookDeliveries.status', '=', status);
  if (endpointId !== undefined) query = query.where('webhookDeliveries.endpointId', '=', endpointId);
  const selected = withEvents(query).select([...deliveryColumns, 'webhookDeliveries.seq']);
  const { rows, total } = await readPage(tx, {
    name: `deliveries ${JSON.stringify({ orgId, status, endpointId })}`,
    page: { limit, offset },
    read: async (start) => await pageOf(selected, 'webhookDeliveries', start).execute(),
    count: async () => await countOf(query).execute(),
  });
  return { rows: rows.map(({ seq: _seq, ...row }) => toDelivery(row)), total };
}

/** Undefined for an id that the organization does not have. */
export async function findWebhookDelivery(
  tx: Transaction,
  orgId: string,
  id: string,
): Promise<WebhookDelivery | undefined> {
  const row = await withEvents(deliveriesOf(tx, orgId))
    .select(deliveryColumns)
    .where('webhookDeliveries.id', '=', id)
    .executeTakeFirst();
  return row === undefined ? undefined : toDelivery(row);
}

/** Makes a delivery pending and due from now on, and counts its attempts anew; the outcome of the latest stays readable. */
export async function restartWebhookDelivery(
  tx: Transaction,
  orgId: string,
  { id, now }: { readonly id: string; readonly now: string },
): Promise<void> {
  await tx
    .updateTable('webhookDeliveries')
    .set({ status: 'pending', attempts: 0, nextAttemptAt: now, leaseUntil: null })
    .where('orgId', '=', orgId)
    .where('id', '=', id)
    .execute();
}

const deliveryColumns = [
  'webhookDeliveries.id',
  'webhookDeliveries.eventId',
  'webhookEvents.type as eventType',
  'webhookEvents.body',
  'webhookDeliveries.endpointId',
  'webhookEndpoints.url',
  'webhookDeliveries.status',
  'webhookDeliveries.attempts',
  'webhookDeliveries.nextAttemptAt',
  'webhookDeliveries.lastAttemptAt',
  'webhookDeliveries.responseStatus',
  'webhookDeliveries.responseBody',
  'webhookDeliveries.error',
  'webhookDeliveries.createdAt',
] as const;

function deliveriesOf(tx: Transaction, orgId: string) {
  return tx.selectFrom('webhookDeliveries').where('webhookDeliveries.orgId', '=', orgId);
}

/** Every delivery has both an event and an endpoint, so counting needs no joins. */
function withEvents(deliveries: ReturnType<typeof deliveriesOf>) {
  return deliveries
    .innerJoin('webhookEvents', (join) =>
      join
        .onRef('webhookEvents.orgId', '=', 'webhookDeliveries.orgId')
        .onRef('webhookEvents.id', '=', 'webhookDeliveries.eventId'),
    )
    .innerJoin('webhookEndpoints', (join) =>
      join
        .onRef('webhookEndpoints.orgId', '=', 'webhookDeliveries.orgId')
        .onRef('webhookEndpoints.id', '=', 'webhookDeliveries.endpointId'),
    );
}

function toDelivery(
  row: Omit<WebhookDelivery, 'attempts' | 'responseStatus'> & {
    readonly attempts: bigint;
    readonly responseStatus: bigint | null;
  },
): WebhookDelivery {
  return {
    ...row,
    attempts: Number(row.attempts),
    responseStatus: row.responseStatus === null ? null : Number(row.responseStatus),
  };
}

function toEndpoint(row: Selectable<Database['webhookEndpoints']>): WebhookEndpoint {
  const { orgId: _orgId, seq: _seq, removedAt: _removedAt, secret, ...plain } = row;
  assert(secret !== null, `endpoint ${row.id} is not removed, so it has a secret`);
  return {
    ...plain,
    secret,
    eventTypes: row.eventTypes === null ? null : (JSON.parse(row.eventTypes) as WebhookEventType[]),
    isEnabled: row.isEnabled === 1n,
    allowPrivate: row.allowPrivate === 1n,
  };
}
