/** Events in: whose they are, whether they may still come, and what they bring about (semantics 1, 8, 10). */

import type { AnswerFacts } from '../answer-facts.ts';
import { startOfDay } from '../calculation/billing-period.ts';
import { canonicalJson } from '../canonical-json.ts';
import { ConflictError, type InputIssue, namesNoMessage } from '../errors.ts';
import { limits } from '../limits.ts';
import { onceEach } from '../once.ts';
import { listed } from '../operations/listed.ts';
import type { EventInput } from '../operations/usage.ts';
import type { AppendOutcome, NewEvent, StoredEvent } from '../store/event-store.ts';
import { findCustomerIds, findCustomerIdsByExternalId } from '../store/records/event-owners.ts';
import { serviceEndOf } from './contract-terms.ts';
import type { CallContext } from './handler.ts';
import { exhaustBudgets } from './usage-exhaust.ts';
import { type EventOwners, loadEventOwners, wasFinalized } from './usage-finalized.ts';
import { refuse } from './refuse.ts';
import { isWithin } from './usage-attribution.ts';
import { droppedError, isDropped } from './usage-frozen.ts';

type Properties = NonNullable<EventInput['properties']>;

/** An event that is about to be recorded. */
interface Incoming {
  readonly event: NewEvent;
  readonly properties: Properties;
  /** The sender gave no timestamp: the instant of the first arrival holds, however often it is sent. */
  readonly isTimeless: boolean;
}

/** What is answered: the keys of events, the id of the request, how many were not new, and how many nobody is billed for. */
interface Recorded extends Pick<AnswerFacts, 'knownEvents' | 'outsideContractCount' | 'lateCount'> {
  readonly keys: readonly string[];
  readonly requestId: string;
}

/**
 * Records events, all or none, and returns what is answered about them.
 * `prefixOf` is the path of an event in the request. Throws InvalidInputError for an unknown customer, a contract that is not
 * the customer's and a timestamp more than an hour ahead; ConflictError for an event that would change a finalized period,
 * and for one with the time or the key of dropped events.
 */
export async function recordEvents(
  context: CallContext,
  inputs: readonly EventInput[],
  prefixOf: (index: number) => string,
): Promise<Recorded> {
  const customerIds = await resolveCustomers(context, inputs, prefixOf);
  const owners = await loadEventOwners(context, [...new Set(customerIds)]);
  // A key of its own, even where the request has an id: should a server give one id twice, no event takes another's place.
  const own = context.newId();
  const incoming = inputs.map((input, index) =>
    incomingOf(context, input, { keyWithoutOne: `${own}-${index}`, customerId: customerIds[index] ?? '' }),
  );
  checkRules(context, { incoming, owners, prefixOf });
  const events = incoming.map(({ event, properties }) => {
    const isLate = owners.hasFinalized(event.customerId) && owners.isFinalized({ ...event, properties });
    return isLate ? { ...event, isLate } : event;
  });
  const { knownEvents, lateCount } = await append(context, { events, incoming, owners, prefixOf });
  await exhaustBudgets(context, incoming, owners);
  const keys = events.map((event) => event.idempotencyKey);
  const outsideContractCount = countOutside(incoming, owners);
  return {
    keys,
    requestId: context.caller.requestId ?? own,
    knownEvents,
    ...(outsideContractCount === 0 ? {} : { outsideContractCount }),
    ...(lateCount === 0 ? {} : { lateCount }),
  };
}

/** Events outside of the contract that they name are billed nowhere: no other contract may bill them (semantics 8). */
function countOutside(incoming: readonly Incoming[], owners: EventOwners): number {
  const named = Map.groupBy(incoming, ({ event }) => event.contractId);
  named.delete(null);
  let count = 0;
  for (const [contractId, own] of named) {
    const contract = owners.contractOf(own[0]?.event.customerId ?? '', contractId ?? '');
    if (contract === undefined) continue;
    const fromEpochMs = startOfDay(contract.startDate).epochMilliseconds;
    const toEpochMs = serviceEndOf(contract)?.epochMilliseconds ?? Number.POSITIVE_INFINITY;
    count += own.filter(({ event }) => !isWithin({ fromEpochMs, toEpochMs }, event.timestampEpochMs)).length;
  }
  return count;
}

async function resolveCustomers(
  { tx, orgId }: CallContext,
  inputs: readonly EventInput[],
  prefixOf: (index: number) => string,
): Promise<string[]> {
  const ids = distinct(inputs.map((input) => input.customerId));
  const externalIds = distinct(inputs.map((input) => input.externalCustomerId));
  const known = await findCustomerIds(tx, orgId, ids);
  const external = await findCustomerIdsByExternalId(tx, orgId, externalIds);
  const issues: InputIssue[] = [];
  const resolved = inputs.map(({ customerId, externalCustomerId }, index) => {
    if (customerId !== undefined && known.has(customerId)) return customerId;
    const found = external.get(externalCustomerId ?? '');
    if (customerId === undefined && found !== undefined) return found;
    const field = customerId === undefined ? 'externalCustomerId' : 'customerId';
    issues.push({ path: `${prefixOf(index)}${field}`, message: namesNoMessage('customer') });
    return '';
  });
  refuse(issues);
  return resolved;
}

function distinct(ids: readonly (string | undefined)[]): string[] {
  return [...new Set(ids.filter((id) => id !== undefined))];
}

function incomingOf(
  { now, newId }: CallContext,
  { eventName, contractId, idempotencyKey, timestamp, properties = {} }: EventInput,
  { keyWithoutOne, customerId }: { readonly keyWithoutOne: string; readonly customerId: string },
): Incoming {
  const receivedAtEpochMs = now.epochMilliseconds;
  const event: NewEvent = {
    id: newId(),
    idempotencyKey: idempotencyKey ?? keyWithoutOne,
    customerId,
    contractId: contractId ?? null,
    eventName,
    // Parsing has put it in UTC with milliseconds, which takes no calendar to read.
    timestampEpochMs: timestamp === undefined ? receivedAtEpochMs : Date.parse(timestamp),
    propertiesJson: canonicalJson(properties),
    receivedAtEpochMs,
    isLate: false,
  };
  return { event, properties, isTimeless: timestamp === undefined };
}

interface Batch {
  readonly incoming: readonly Incoming[];
  readonly owners: EventOwners;
  readonly prefixOf: (index: number) => string;
}

function checkRules(context: CallContext, { incoming, owners, prefixOf }: Batch): void {
  const latest = context.now.epochMilliseconds + limits.eventFutureSeconds * 1000;
  const issues: InputIssue[] = [];
  for (const [index, { event }] of incoming.entries()) {
    if (event.timestampEpochMs > latest) {
      const message = `must be at most one hour in the future, and now is ${context.timestamp}`;
      issues.push({ path: `${prefixOf(index)}timestamp`, message });
    }
    if (event.contractId === null || owners.contractOf(event.customerId, event.contractId) !== undefined) continue;
    issues.push({ path: `${prefixOf(index)}contractId`, message: namesNoMessage('contract of this customer') });
  }
  refuse(issues);
  const old = incoming.find(({ event }) => isDropped(context, event.timestampEpochMs));
  if (old === undefined) return;
  throw droppedError(
    context,
    `the event "${old.event.idempotencyKey}" cannot be recorded`,
    'leave it out; to bill its usage all the same, send it with a later timestamp',
  );
}

async function append(
  context: CallContext,
  { events, incoming, owners, prefixOf }: Batch & { readonly events: readonly NewEvent[] },
): Promise<Required<Pick<AnswerFacts, 'knownEvents' | 'lateCount'>>> {
  const timeless = new Set(incoming.filter((each) => each.isTimeless).map(({ event }) => event.id));
  const refused = new Set<string>();
  const ownersOf = createOwnerSearch(context, owners);
  const outcomes = await context.events.append(context.tx, context.orgId, events, async (previous, next) => {
    if (timeless.has(next.id) && differsInTimeAlone(previous, next)) return false;
    const isFinal = next.isLate || wasFinalized(await ownersOf(previous.customerId), previous);
    if (isFinal) refused.add(next.id);
    return !isFinal;
  });
  const dropped = events[outcomes.indexOf('dropped')];
  if (dropped !== undefined) {
    throw new ConflictError(`the event "${dropped.idempotencyKey}" was recorded before, and has been dropped`, {
      hint: 'it was counted when it first came; send a new event under another key',
    });
  }
  if (refused.size > 0) refuseReplacements(events, refused, prefixOf);
  const countOf = (outcome: AppendOutcome) => outcomes.filter((each) => each === outcome).length;
  const replaced = countOf('replaced');
  const unchanged = outcomes.length - replaced - countOf('new');
  // One that is sent again was perhaps billed with the period that is finalized now.
  const lateCount = events.filter(({ isLate }, index) => isLate && outcomes[index] === 'new').length;
  return { knownEvents: { replaced, unchanged }, lateCount };
}

/** In a batch, each event is named by its place as well, as in other refusals of events. */
function refuseReplacements(
  events: readonly NewEvent[],
  refused: ReadonlySet<string>,
  prefixOf: Batch['prefixOf'],
): never {
  const problems = events.flatMap(({ id, idempotencyKey }, index) => {
    if (!refused.has(id)) return [];
    const place = prefixOf(index).replace(/\.$/, ': ');
    return [
      `${place}the event "${idempotencyKey}" differs from the one recorded under this key, and its billing period is finalized`,
    ];
  });
  const words = listed(problems, (rest) => rest).join('; ');
  throw new ConflictError(words, { hint: 'send the correction as a new event with its own key' });
}

function differsInTimeAlone(previous: StoredEvent, next: NewEvent): boolean {
  return (
    previous.customerId === next.customerId &&
    previous.contractId === next.contractId &&
    previous.eventName === next.eventName &&
    previous.propertiesJson === next.propertiesJson
  );
}

/** The version before may belong to a customer that the batch does not name, and so may those of many events. */
function createOwnerSearch(
  context: CallContext,
  owners: EventOwners,
): (customerId: string) => EventOwners | Promise<EventOwners> {
  const ownersOfOther = onceEach(async (customerId: string) => await loadEventOwners(context, [customerId]));
  return (customerId) => (owners.contractsOf(customerId).length > 0 ? owners : ownersOfOther(customerId));
}
