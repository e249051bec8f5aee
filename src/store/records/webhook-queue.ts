/** The deliveries of a whole database as their senders see them: which are due, who holds them, how they ended. */

import { expressionBuilder, sql } from 'kysely';

import { limits } from '../../limits.ts';
import type { DeliveryStatus } from '../../operations/webhooks.ts';
import type { Database, Transaction } from '../database.ts';
import { instantText, oneRow } from './row-values.ts';

/** A delivery that the caller holds. */
export interface HeldDelivery {
  readonly orgId: string;
  readonly id: string;
  readonly eventId: string;
  readonly body: string;
  readonly endpointId: string;
  readonly url: string;
  readonly allowPrivate: boolean;
  readonly secret: string;
  readonly previousSecret: string | null;
  readonly previousSecretValidUntil: string | null;
  readonly attempts: number;
}

/**
 * What a sender may still begin beside what it has begun: `perEndpoint` deliveries to one endpoint, and for one organization in
 * all no more than are `free`. So however many of an organization's endpoints fail to answer, some room is left for others.
 */
export interface SendingRoom {
  readonly free: number;
  readonly perEndpoint: number;
  /** Ids of the deliveries that it has begun, which it does not begin again. */
  readonly begun: readonly string[];
  readonly ofEndpoints: ReadonlyMap<string, number>;
  readonly ofOrganizations: ReadonlyMap<string, number>;
}

/** Whether any organization has a delivery that is due, held by nobody, and has room. */
export async function hasDueDelivery(tx: Transaction, now: string, room: SendingRoom): Promise<boolean> {
  return (await dueWithRoom(tx, now, room).limit(oneRow()).executeTakeFirst()) !== undefined;
}

/**
 * How many deliveries are due and held by nobody, and since when the longest-waiting one has been due: of one organization if
 * `orgId` is given, otherwise of all. Without an instant those that are not due yet count, too, and those that are held, which are
 * due again when that ends.
 */
export async function countDueDeliveries(
  tx: Transaction,
  now: string | undefined,
  orgId?: string,
): Promise<{ readonly count: number; readonly oldestDueAt: string | null }> {
  const { count, oldestDueAt } = await tx
    .selectFrom('webhookDeliveries as due')
    .innerJoin('webhookEndpoints as target', (join) =>
      join.onRef('target.orgId', '=', 'due.orgId').onRef('target.id', '=', 'due.endpointId'),
    )
    .where('due.status', '=', isPending())
    .where('target.isEnabled', '=', 1n)
    .$if(now !== undefined, (query) => query.where(isDue(now ?? '')))
    .$if(orgId !== undefined, (query) => query.where('due.orgId', '=', orgId ?? ''))
    .select((row) => [
      row.fn.countAll<bigint>().as('count'),
      (now === undefined
        ? row.fn.min(row.fn.coalesce('due.leaseUntil', 'due.nextAttemptAt', 'due.createdAt'))
        : row.fn.min(row.fn.coalesce('due.nextAttemptAt', 'due.createdAt'))
      ).as('oldestDueAt'),
    ])
    .executeTakeFirstOrThrow();
  return { count: Number(count), oldestDueAt };
}

/** From when to when deliveries are held, and with which room. */
export interface LeaseRequest {
  readonly now: string;
  readonly leaseUntil: string;
  readonly room: SendingRoom;
}

/** Holds due deliveries that have room, until `leaseUntil`: an endpoint that is slow to answer keeps no other waiting. */
export async function holdDueDeliveries(tx: Transaction, request: LeaseRequest): Promise<readonly HeldDelivery[]> {
  const held = await holdSome(tx, request);
  if (held.length === 0) return [];
  const rows = await tx
    .selectFrom('webhookDeliveries as delivery')
    .innerJoin('webhookEvents as event', (join) =>
      join.onRef('event.orgId', '=', 'delivery.orgId').onRef('event.id', '=', 'delivery.eventId'),
    )
    .innerJoin('webhookEndpoints as endpoint', (join) =>
      join.onRef('endpoint.orgId', '=', 'delivery.orgId').onRef('endpoint.id', '=', 'delivery.endpointId'),
    )
    .select([
      'delivery.orgId',
      'delivery.id',
      'delivery.eventId',
      'event.body',
      'delivery.endpointId',
      'endpoint.url',
      'endpoint.allowPrivate',
      'endpoint.secret',
      'endpoint.previousSecret',
      'endpoint.previousSecretValidUntil',
      'delivery.attempts',
    ])
    .where('delivery.seq', 'in', held)
    .orderBy('delivery.seq')
    .execute();
  return rows.map((row) => ({
    ...row,
    allowPrivate: row.allowPrivate === 1n,
    secret: row.secret ?? '',
    attempts: Number(row.attempts),
  }));
}

async function holdSome(tx: Transaction, { now, leaseUntil, room }: LeaseRequest): Promise<readonly bigint[]> {
  const held: bigint[] = [];
  const ofEndpoints = new Map(room.ofEndpoints);
  const ofOrganizations = new Map(room.ofOrganizations);
  let { free } = room;
  for (;;) {
    const left = { ...room, free, ofEndpoints, ofOrganizations };
    const due = await dueWithRoom(tx, now, left).limit(free).execute();
    const seqs: bigint[] = [];
    for (const { seq, orgId, endpointId } of due) {
      // An endpoint comes once, and only if it has room itself.
      const ofOrganization = ofOrganizations.get(orgId) ?? 0;
      if (ofOrganization >= free) continue;
      ofEndpoints.set(endpointId, (ofEndpoints.get(endpointId) ?? 0) + 1);
      ofOrganizations.set(orgId, ofOrganization + 1);
      free -= 1;
      seqs.push(seq);
    }
    if (seqs.length === 0) return held;
    await tx.updateTable('webhookDeliveries').set({ leaseUntil }).where('seq', 'in', seqs).execute();
    held.push(...seqs);
    // More deliveries may be due behind the first of an endpoint, and behind those without room.
    if (free === 0) return held;
  }
}

/** How an attempt ended; `pending` if another will follow. */
export interface AttemptRecord {
  readonly status: DeliveryStatus;
  readonly nextAttemptAt: string | null;
  readonly lastAttemptAt: string;
  readonly responseStatus: number | null;
  readonly responseBody: string | null;
  readonly error: string | null;
}

/**
 * Records how an attempt ended and releases the delivery. Gives whether it did: a failed attempt changes nothing if another
 * sender, or somebody by hand, has moved the delivery on meanwhile.
 */
export async function recordAttempt(
  tx: Transaction,
  held: Reference,
  { attempt, ...ended }: AttemptRecord & { readonly attempt: number },
): Promise<boolean> {
  let query = tx
    .updateTable('webhookDeliveries')
    .set({ ...ended, attempts: attempt, leaseUntil: null })
    .where('orgId', '=', held.orgId)
    .where('id', '=', held.id)
    .where('status', '!=', 'delivered');
  if (ended.status !== 'delivered') {
    query = query.where('status', '=', 'pending').where('attempts', '=', BigInt(attempt - 1));
  }
  const { numUpdatedRows } = await query.executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** A delivery, or an endpoint, of an organization. */
export interface Reference {
  readonly orgId: string;
  readonly id: string;
}

/** Whether the endpoint still has this URL. */
export async function hasUrl(tx: Transaction, { orgId, id }: Reference, url: string): Promise<boolean> {
  const endpoint = tx.selectFrom('webhookEndpoints').select('url').where('orgId', '=', orgId).where('id', '=', id);
  return (await endpoint.executeTakeFirst())?.url === url;
}

/** Disables an endpoint, which keeps its deliveries. */
export async function disableEndpoint(
  tx: Transaction,
  { orgId, id }: Reference,
  { reason, at }: { readonly reason: string; readonly at: string },
): Promise<void> {
  await tx
    .updateTable('webhookEndpoints')
    .set({ isEnabled: false, disabledReason: reason, updatedAt: at })
    .where('orgId', '=', orgId)
    .where('id', '=', id)
    .execute();
}

/**
 * The first due delivery of each endpoint that has room: first those never attempted, then those waiting longest. A disabled
 * endpoint gets nothing. The deliveries behind the first are not read: an endpoint that does not answer may have a hundred
 * thousand.
 */
function dueWithRoom(
  tx: Transaction,
  now: string,
  { free, perEndpoint, begun, ofEndpoints, ofOrganizations }: SendingRoom,
) {
  const endpoints = fullOf(ofEndpoints, perEndpoint);
  const organizations = fullOf(ofOrganizations, free);
  let targets = tx.selectFrom('webhookEndpoints as target').where('target.isEnabled', '=', 1n);
  if (endpoints.length > 0) targets = targets.where('target.id', 'not in', endpoints);
  if (organizations.length > 0) targets = targets.where('target.orgId', 'not in', organizations);
  const firstOfEach = targets.select((row) =>
    row
      .selectFrom('webhookDeliveries as due')
      .select('due.seq')
      .whereRef('due.orgId', '=', 'target.orgId')
      .whereRef('due.endpointId', '=', 'target.id')
      .where('due.status', '=', isPending())
      .where(isDue(now))
      .$if(begun.length > 0, (query) => query.where('due.id', 'not in', begun))
      .orderBy('due.nextAttemptAt', (order) => order.asc().nullsFirst())
      .orderBy('due.seq')
      .limit(oneRow())
      .as('seq'),
  );
  return tx
    .selectFrom(firstOfEach.as('first'))
    .innerJoin('webhookDeliveries as due', 'due.seq', 'first.seq')
    .select(['due.seq', 'due.orgId', 'due.endpointId'])
    .orderBy('due.nextAttemptAt', (order) => order.asc().nullsFirst())
    .orderBy('due.seq');
}

function fullOf(taken: ReadonlyMap<string, number>, most: number): string[] {
  return [...taken].flatMap(([id, count]) => (count < most ? [] : [id]));
}

/** A literal rather than a bound value, so that the index of pending deliveries serves. */
const isPending = () => sql.lit('pending' as const);

/**
 * Due and held by nobody. An instant further away than any pause was noted by a clock that ran ahead; without this condition
 * the delivery would wait until that day.
 */
function isDue(now: string) {
  const longestPause = { seconds: 2 * Math.max(...limits.webhookRetrySeconds) };
  const furthest = instantText(Temporal.Instant.from(now).add(longestPause));
  const row = expressionBuilder<{ due: Database['webhookDeliveries'] }, 'due'>();
  return row.and(
    (['due.nextAttemptAt', 'due.leaseUntil'] as const).map((instant) =>
      row.or([row(instant, 'is', null), row(instant, '<=', now), row(instant, '>', furthest)]),
    ),
  );
}
