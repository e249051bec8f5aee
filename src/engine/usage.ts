/** Events, and what they cost (interface 4.18; semantics 1, 8, 11). */

import { reviveExactJson } from '../exact-json.ts';
import type { OperationTable } from '../operations/index.ts';
import type { ParsedInput } from '../operations/parse.ts';
import type { EventPropertyValue, usageOperations } from '../operations/usage.ts';
import type { EventQuery, StoredEvent } from '../store/event-store.ts';
import type { HandlersOf } from './handler.ts';
import { listBody, pageOf } from './listing.ts';
import { usageBreakdown, usageCost } from './usage-cost.ts';
import { estimateCost } from './usage-estimate.ts';
import { recordEvents } from './usage-ingest.ts';
import { wireTimestamp } from './wire.ts';

type EventsInput = ParsedInput<OperationTable['usage.events']>['query'];

export const usageHandlers: HandlersOf<typeof usageOperations> = {
  'usage.cost': async (context, { body }) => ({ body: await usageCost(context, body) }),

  'usage.breakdown': async (context, { body }) => ({ body: await usageBreakdown(context, body) }),

  'usage.ingest': async (context, { body }) => {
    const { keys, requestId } = await recordEvents(context, [body], () => '');
    return { body: { status: 'accepted', idempotencyKey: keys[0] ?? '', requestId } };
  },

  'usage.ingestBatch': async (context, { body }) => {
    const { keys, requestId } = await recordEvents(context, body.events, (index) => `events[${index}].`);
    return { body: { status: 'accepted', count: keys.length, requestId } };
  },

  'usage.events': async ({ tx, events, orgId }, { query }) => {
    const page = pageOf(query);
    const found = await events.list(tx, { ...eventQuery(orgId, query), ...page });
    return { body: listBody(found, page, found.rows.map(wireEvent)) };
  },

  'usage.late': async ({ tx, events, orgId }, { query }) => {
    const page = pageOf(query);
    const found = await events.listLate(tx, { ...eventQuery(orgId, query), ...page });
    return { body: listBody(found, page, found.rows.map(wireEvent)) };
  },

  'pricing.estimate': async (context, { body }) => ({ body: await estimateCost(context, body) }),
};

function eventQuery(orgId: string, query: EventsInput): Omit<EventQuery, 'limit' | 'offset'> {
  const { eventName, customerId, start, end } = query;
  return {
    orgId,
    eventName: eventName?.normalize('NFC'),
    customerId,
    fromEpochMs: epochMsOf(start),
    toEpochMs: epochMsOf(end),
  };
}

function epochMsOf(timestamp: string | undefined): number | undefined {
  return timestamp === undefined ? undefined : Temporal.Instant.from(timestamp).epochMilliseconds;
}

function wireEvent(event: StoredEvent) {
  const { id, eventName, customerId, contractId, idempotencyKey, version, isLate } = event;
  return {
    id,
    eventName,
    customerId,
    contractId,
    idempotencyKey,
    timestamp: wireTimestamp(Temporal.Instant.fromEpochMilliseconds(event.timestampEpochMs)),
    properties: reviveExactJson(event.propertiesJson) as Record<string, EventPropertyValue>,
    version,
    isLate,
    receivedAt: wireTimestamp(Temporal.Instant.fromEpochMilliseconds(event.receivedAtEpochMs)),
  };
}
