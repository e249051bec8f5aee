/** Events, and what they cost (interface 4.18; semantics 1, 8, 11). */

import { reviveExactJson } from '../exact-json.ts';
import type { OperationTable } from '../operations/index.ts';
import type { ParsedInput } from '../operations/parse.ts';
import type { EventPropertyValue, usageOperations } from '../operations/usage.ts';
import type { EventQuery, StoredEvent } from '../store/event-store.ts';
import type { CallContext, HandlersOf } from './handler.ts';
import { listBody, pageOf } from './listing.ts';
import { usageBreakdown, usageCost } from './usage-cost.ts';
import { estimateCost } from './usage-estimate.ts';
import { refuseDropped } from './usage-frozen.ts';
import { recordEvents } from './usage-ingest.ts';
import { wireTimestamp } from './wire.ts';

type EventsInput = ParsedInput<OperationTable['usage.events']>['query'];

export const usageHandlers: HandlersOf<typeof usageOperations> = {
  'usage.cost': async (context, { body }) => ({ body: await usageCost(context, body) }),

  'usage.breakdown': async (context, { body }) => ({ body: await usageBreakdown(context, body) }),

  'usage.ingest': async (context, { body }) => {
    const { keys, requestId, ...told } = await recordEvents(context, [body], () => '');
    return { body: { status: 'accepted', idempotencyKey: keys[0] ?? '', requestId }, ...told };
  },

  'usage.ingestBatch': async (context, { body }) => {
    const { keys, requestId, ...told } = await recordEvents(context, body.events, (index) => `events[${index}].`);
    return { body: { status: 'accepted', count: keys.length, requestId }, ...told };
  },

  'usage.events': async (context, { query }) => {
    const page = pageOf(query);
    const found = await context.events.list(context.tx, { ...eventQuery(context, query), ...page });
    return { body: listBody(found, page, found.rows.map(wireEvent)) };
  },

  'usage.late': async (context, { query }) => {
    const page = pageOf(query);
    const found = await context.events.list(context.tx, { ...eventQuery(context, query), ...page, onlyLate: true });
    return { body: listBody(found, page, found.rows.map(wireEvent)) };
  },

  'pricing.estimate': async (context, { body }) => ({ body: await estimateCost(context, body) }),
};

/** A query without a start asks for what there is. With a start, what is left must not pass for all that there was. */
function eventQuery(context: CallContext, query: EventsInput): Omit<EventQuery, 'limit' | 'offset'> {
  const { eventName, customerId, start, end } = query;
  const fromEpochMs = epochMsOf(start);
  if (fromEpochMs !== undefined) refuseDropped(context, { epochMilliseconds: fromEpochMs }, 'events cannot be listed');
  return {
    orgId: context.orgId,
    eventName,
    customerId,
    fromEpochMs,
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
    timestamp: wireTimestamp({ epochMilliseconds: event.timestampEpochMs }),
    properties: reviveExactJson(event.propertiesJson) as Record<string, EventPropertyValue>,
    version,
    isLate,
    receivedAt: wireTimestamp({ epochMilliseconds: event.receivedAtEpochMs }),
  };
}
