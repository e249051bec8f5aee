/**
 * A hand-written check of events, because a schema costs more than storing them. It takes only what plainly keeps to the
 * schema: whatever is unusual or wrong is left to the schema, so that there is one set of rules and errors.
 */

import { isForbiddenName } from '../exact-json.ts';
import { limits } from '../limits.ts';
import { utcTimestamp } from './field-rules.ts';

type Members = Readonly<Record<string, unknown>>;

const fieldChecks: Readonly<Record<string, (value: unknown) => boolean>> = {
  eventName: (value) => isPlainText(value, limits.nameCharacters),
  customerId: isReference,
  externalCustomerId: isReference,
  contractId: isReference,
  idempotencyKey: (value) => isPlainText(value, limits.idempotencyKeyCharacters),
  timestamp: (value) => typeof value === 'string' && utcTimestamp(value) === value,
  properties: hasPlainProperties,
};

/** The body `{events}` as its schema gives it out; undefined where the schema must judge. */
export function acceptEvents(body: unknown): Members | undefined {
  if (!isMembers(body) || !Array.isArray(body['events']) || Object.keys(body).length !== 1) return undefined;
  const events: readonly unknown[] = body['events'];
  if (events.length === 0 || events.length > limits.eventsPerBatch || !events.every(isPlainEvent)) return undefined;
  return { events };
}

function isPlainEvent(event: unknown): boolean {
  if (!isMembers(event) || (event['customerId'] === undefined) === (event['externalCustomerId'] === undefined))
    return false;
  for (const name in event) {
    if (!Object.hasOwn(fieldChecks, name) || fieldChecks[name]?.(event[name]) !== true) return false;
  }
  return event['eventName'] !== undefined;
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** Nothing that Unicode could write in two ways, and no control character. */
const plainText = /^[ -~]+$/;

function isPlainText(value: unknown, characters: number): boolean {
  return typeof value === 'string' && value.length <= characters && plainText.test(value);
}

function isReference(value: unknown): boolean {
  return isPlainText(value, limits.externalIdCharacters);
}

function hasPlainProperties(properties: unknown): boolean {
  if (!isMembers(properties)) return false;
  let count = 0;
  for (const name in properties) {
    count += 1;
    if (!isPlainText(name, limits.eventPropertyKeyCharacters) || isForbiddenName(name)) return false;
    if (!isPlainValue(properties[name])) return false;
  }
  return count <= limits.eventPropertyKeys;
}

/** A number of this size is written with fewer digits than the schema allows. */
function isPlainValue(value: unknown): boolean {
  if (typeof value === 'string') return value === '' || isPlainText(value, limits.eventPropertyValueCharacters);
  if (typeof value === 'number') return value === 0 || (Math.abs(value) >= 1e-6 && Math.abs(value) < 1e15);
  return typeof value === 'boolean' || value === null;
}
