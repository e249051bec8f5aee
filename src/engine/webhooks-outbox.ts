/** What the sender takes from the outbox and brings back: leases, attempts, and when the next one is due (semantics 13). */

import { limits } from '../limits.ts';
import type { DeliveryOutcome, SentTo, WebhookOutbox } from '../operations/webhook-outbox.ts';
import {
  type AttemptRecord,
  type SendingRoom,
  countDueDeliveries,
  disableEndpoint,
  hasDueDelivery,
  hasUrl,
  holdDueDeliveries,
  recordAttempt,
} from '../store/records/webhook-queue.ts';
import type { Store } from '../store/store.ts';
import { isOnlyRead } from './only-read.ts';
import { wireTimestamp } from './wire.ts';

export interface OutboxDependencies {
  readonly store: Store;
  /** The real clock, even where the database has a simulated one: receivers compare it with theirs. */
  readonly now: () => Temporal.Instant;
  /** From 0 up to 1: spreads the attempts. */
  readonly random: () => number;
}

const goneStatus = 410;
/** Senders take turns with each other, and with nobody else. */
const deliveries = 'deliveries';

/** The outbox of every organization of a database. */
export function createWebhookOutbox({ store, now, random }: OutboxDependencies): WebhookOutbox {
  return {
    async lease(count, underWay = []) {
      const at = wireTimestamp(now());
      const room = roomFor(count, underWay);
      // Looked for without the writer's lock: most of the time nothing is due.
      if (!(await store.read(async (tx) => await hasDueDelivery(tx, at, room)))) return [];
      if (await isOnlyRead(store)) return [];
      const leaseUntil = wireTimestamp(now().add({ seconds: limits.webhookLeaseSeconds }));
      const held = await store.write(async (tx) => await holdDueDeliveries(tx, { now: at, leaseUntil, room }), {
        turn: deliveries,
      });
      return held.map(({ orgId, id, eventId, endpointId, url, allowPrivate, body, attempts, ...secrets }) => ({
        organizationId: orgId,
        deliveryId: id,
        eventId,
        endpointId,
        url,
        allowPrivate,
        body,
        secrets: liveSecrets(secrets, at),
        attempts,
      }));
    },

    async record({ organizationId: orgId, deliveryId, endpointId, url, attempts }, outcome) {
      const endpoint = { orgId, id: endpointId };
      const at = now();
      const attempt = attempts + 1;
      return await store.write(
        async (tx) => {
          // If the endpoint had another address when the attempt began, the answer says nothing about its address now.
          const isGone = outcome.responseStatus === goneStatus && (await hasUrl(tx, endpoint, url));
          const ended = endOf(outcome, { attempt, at, random, isGone });
          if ((await recordAttempt(tx, { orgId, id: deliveryId }, { ...ended, attempt })) && isGone) {
            await disableEndpoint(tx, endpoint, { reason: `answered ${goneStatus}: gone`, at: wireTimestamp(at) });
          }
          return ended.status === 'pending' ? 'retrying' : ended.status;
        },
        { turn: deliveries },
      );
    },

    async waiting() {
      const { count, oldestDueAt } = await store.read(async (tx) => await countDueDeliveries(tx, undefined));
      return { count, nextDueAt: oldestDueAt };
    },
  };
}

function roomFor(free: number, underWay: Iterable<SentTo>): SendingRoom {
  const ofEndpoints = new Map<string, number>();
  const ofOrganizations = new Map<string, number>();
  const begun: string[] = [];
  for (const { deliveryId, endpointId, organizationId } of underWay) {
    begun.push(deliveryId);
    ofEndpoints.set(endpointId, (ofEndpoints.get(endpointId) ?? 0) + 1);
    ofOrganizations.set(organizationId, (ofOrganizations.get(organizationId) ?? 0) + 1);
  }
  return { free, perEndpoint: limits.webhookConcurrencyPerEndpoint, begun, ofEndpoints, ofOrganizations };
}

interface Attempt {
  readonly attempt: number;
  readonly at: Temporal.Instant;
  readonly random: () => number;
  /** The endpoint's address, still the same, answered that it is gone. */
  readonly isGone: boolean;
}

function endOf(outcome: DeliveryOutcome, { attempt, at, random, isGone }: Attempt): AttemptRecord {
  const facts = {
    lastAttemptAt: wireTimestamp(at),
    responseStatus: outcome.responseStatus ?? null,
    responseBody: outcome.responseBody ?? null,
    error: outcome.error ?? null,
  };
  if (outcome.error === undefined) return { ...facts, status: 'delivered', nextAttemptAt: null };
  const seconds = limits.webhookRetrySeconds[attempt - 1];
  if (seconds === undefined || isGone) {
    return { ...facts, status: 'failed', nextAttemptAt: null };
  }
  const spread = 1 + limits.webhookRetrySpread * (2 * random() - 1);
  const nextAttemptAt = wireTimestamp(at.add({ milliseconds: Math.round(seconds * 1000 * spread) }));
  return { ...facts, status: 'pending', nextAttemptAt };
}

function liveSecrets(
  endpoint: {
    readonly secret: string;
    readonly previousSecret: string | null;
    readonly previousSecretValidUntil: string | null;
  },
  at: string,
): string[] {
  const { secret, previousSecret, previousSecretValidUntil } = endpoint;
  const isLive = previousSecret !== null && previousSecretValidUntil !== null && at < previousSecretValidUntil;
  return isLive ? [secret, previousSecret] : [secret];
}
