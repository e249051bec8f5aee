/** What a meter would read for a customer or contract, and what it skips and why. */

import { type ServicePeriod, startOfDay } from '../calculation/billing-period.ts';
import { type GroupTrace, noEvents, type UsageTrace } from '../calculation/usage-trace.ts';
import type { OperationTable, ResponseBody } from '../operations/index.ts';
import type { ParsedInput } from '../operations/parse.ts';
import type { Contract } from '../store/records/contracts.ts';
import type { Meter } from '../store/records/meters.ts';
import { serviceEndOf } from './contract-terms.ts';
import {
  readQuery,
  type TraceSubject,
  traceUsage,
  wireEventCounts,
  wireMeterFacts,
  wireTracedEvent,
} from './explain-usage.ts';
import type { CallContext } from './handler.ts';
import { refuseDropped } from './usage-frozen.ts';
import { resolveSubject } from './usage-subject.ts';
import { wireDecimal } from './wire.ts';

type TestInput = ParsedInput<OperationTable['meters.test']>['body'];

/** Answers `meters.test`; throws InvalidInputError for identifiers that are unknown or contradict each other. */
export async function testMeter(
  context: CallContext,
  meter: Meter,
  input: TestInput,
): Promise<ResponseBody<'meters.test'>> {
  const owner = await resolveSubject(context, input);
  const range = { start: Temporal.Instant.from(input.startDate), end: Temporal.Instant.from(input.endDate) };
  refuseDropped(context, range.start, 'a meter cannot be tested');
  const subject = { owner, range: billedWithin(range, owner.contract, meter) };
  const trace = await traceUsage(context, meter, subject);
  const groups = await groupsOf(context, meter, { trace, subject });
  return {
    data: {
      ...wireMeterFacts(meter),
      customerId: owner.customerId,
      ...(owner.contract === undefined ? {} : { contractId: owner.contract.id }),
      startDate: input.startDate,
      endDate: input.endDate,
      matchedCount: trace.matchedCount,
      unmatchedCount: trace.unmatchedCount,
      lateCount: await countLateEvents(context, { customerId: owner.customerId, ...range }),
      groups: groups.map((group) => ({
        dimensions: { ...group.groupValues },
        quantity: wireDecimal(group.quantity),
        ...wireEventCounts(group),
        ...(group.decidedBy === undefined ? {} : { decidedBy: wireTracedEvent(group.decidedBy) }),
      })),
      skipped: trace.skipped.map((event) => ({ ...wireTracedEvent(event), reason: event.reason })),
    },
  };
}

/**
 * The part of a range within the contract's service. Outside of it nothing is billed on the contract, not even events that name
 * it. Empty for a meter that the contract has no price for.
 */
function billedWithin(range: ServicePeriod, contract: Contract | undefined, { id }: Meter): ServicePeriod {
  if (contract === undefined) return range;
  if (!contract.items.some(({ meterId }) => meterId === id)) return { start: range.start, end: range.start };
  const bounded = (instant: Temporal.Instant): Temporal.Instant => {
    const first = startOfDay(contract.startDate);
    const end = serviceEndOf(contract) ?? instant;
    if (Temporal.Instant.compare(instant, first) < 0) return first;
    return Temporal.Instant.compare(instant, end) > 0 ? end : instant;
  };
  return { start: bounded(range.start), end: bounded(range.end) };
}

/** A meter without group keys reads one quantity, even from no events. */
async function groupsOf(
  context: CallContext,
  meter: Meter,
  { trace, subject }: { readonly trace: UsageTrace; readonly subject: TraceSubject },
): Promise<readonly GroupTrace[]> {
  if (meter.sql !== null) {
    const quantity = await readQuery(context, { ...meter, sql: meter.sql }, subject);
    return [{ ...(trace.groups[0] ?? noEvents), quantity }];
  }
  return trace.groups.length === 0 && meter.groupKeys.length === 0 ? [noEvents] : trace.groups;
}

/** Events of a customer that came after their period was finalized, on any contract. */
export async function countLateEvents(
  { tx, events, orgId }: Pick<CallContext, 'tx' | 'events' | 'orgId'>,
  { customerId, start, end }: { customerId: string; start: Temporal.Instant; end: Temporal.Instant },
): Promise<number> {
  const page = await events.list(tx, {
    orgId,
    customerId,
    onlyLate: true,
    fromEpochMs: start.epochMilliseconds,
    toEpochMs: end.epochMilliseconds,
    limit: 1,
    offset: 0,
  });
  return page.total;
}
