/** What must hold over all contracts of an organization (reliability 5, invariants 17, 18 and 25), and what is worth a look. */

import { counted } from '../../counted.ts';
import { limits } from '../../limits.ts';
import { countOfLegalNumber } from '../../operations/invoice-number.ts';
import type { EventFault, UpkeepFault } from '../../store/event-store.ts';
import type { OrganizationFacts, Problem } from './check.ts';

/** Legal numbers are 1 to n, in the order of finalization. */
export function numberProblems({ organizationId, numbers: { invoices, next } }: OrganizationFacts): Problem[] {
  const ordered = invoices
    .map((invoice) => ({ ...invoice, count: countOfLegalNumber(invoice.number) ?? Number.NaN }))
    .toSorted((a, b) => a.count - b.count);
  const problems = ordered.flatMap(({ id, number, count, finalizedAt }, index) => {
    if (count !== index + 1)
      return [{ objectId: id, problem: `invoice ${number} stands where number ${index + 1} is due` }];
    const before = ordered[index - 1];
    if (before === undefined || before.finalizedAt <= finalizedAt) return [];
    return [{ objectId: id, problem: `invoice ${number} was finalized before ${before.number}` }];
  });
  if (next === ordered.length + 1) return problems;
  const problem = `the next invoice would get number ${next}, after ${counted(ordered.length, 'finalized one')}`;
  return [...problems, { objectId: organizationId, problem }];
}

const faultWords: Readonly<Record<EventFault['fault'], string>> = {
  versions: 'lacks a version that it superseded',
  owner: "names another customer's contract",
  properties: 'has properties that are not JSON',
  gone: 'is missing from its organization, and so is its key',
};

/** Every version of an event is kept, and it belongs to its customer. */
export function eventProblems({ eventFaults }: OrganizationFacts): Problem[] {
  return eventFaults.map(({ idempotencyKey, fault }) => ({
    objectId: idempotencyKey,
    problem: `event ${idempotencyKey} ${faultWords[fault]}`,
  }));
}

const upkeepWords: Readonly<Record<UpkeepFault['fault'], (objectId: string) => string>> = {
  rollUp: (customerId) => `the data kept to meter customer ${customerId} quickly does not match the events`,
  key: (key) => `event ${key} is not found by its key, so that it would count twice if it were sent again`,
};

/** What is kept beside the events agrees with them. */
export function rollUpProblems({ upkeepFaults }: OrganizationFacts): Problem[] {
  return upkeepFaults.map(({ objectId, fault }) => ({ objectId, problem: upkeepWords[fault](objectId) }));
}

/** Only what a finalized invoice would bill is late: all other events are billed. */
export function lateFlagProblems({ lateEvents }: OrganizationFacts): Problem[] {
  return lateEvents.unjustified.map((key) => ({
    objectId: key,
    problem: `event ${key} is marked late, so nothing bills it, but its period is not finalized`,
  }));
}

/** All late events together are one problem of the organization. */
export function lateEventProblems({ organizationId, lateEvents: { count } }: OrganizationFacts): Problem[] {
  if (count === 0) return [];
  return [
    {
      objectId: organizationId,
      problem: `${counted(count, 'event')} came after ${count === 1 ? 'its' : 'their'} period was finalized: nothing is billed for that`,
    },
  ];
}

/** Rows that an interrupted drop has left. */
export function droppedEventProblems({ organizationId, droppedRowsLeft: count }: OrganizationFacts): Problem[] {
  if (count === 0) return [];
  return [
    {
      objectId: organizationId,
      problem: `${counted(count, 'row')} of events that were dropped ${count === 1 ? 'is' : 'are'} still stored`,
    },
  ];
}

/** A delivery has been due for longer than `limits.outboxDelaySeconds`. */
export function outboxProblems({ organizationId, oldestDueDelivery, clock }: OrganizationFacts): Problem[] {
  if (oldestDueDelivery === undefined) return [];
  const seconds = Math.floor((clock.epochMilliseconds - oldestDueDelivery.epochMilliseconds) / 1000);
  if (seconds <= limits.outboxDelaySeconds) return [];
  return [{ objectId: organizationId, problem: `a webhook delivery has been due for ${seconds} seconds` }];
}

/** The clock is further behind than `limits.clockLagSeconds`. */
export function clockProblems({ organizationId, lastCreatedAt, clock }: OrganizationFacts): Problem[] {
  const seconds = Math.floor((lastCreatedAt.epochMilliseconds - clock.epochMilliseconds) / 1000);
  if (seconds <= limits.clockLagSeconds) return [];
  return [{ objectId: organizationId, problem: `the clock is ${seconds} seconds behind the newest row` }];
}
