/**
 * Maps a JSON record to an event: one in the form of the interface, a CloudEvent (specification 1.0), or a plain record whose
 * members are mapped like the columns of a table.
 */

import { canonicalJson } from '../../canonical-json.ts';
import { isJsonObject } from '../../exact-json.ts';
import { createRowIdentity, shortDigest } from '../wire/row-identity.ts';
import { valueAt } from '../wire/rows.ts';
import {
  constantsOf,
  createTimestampReader,
  refuseTwoValues,
  whySetTwice,
  noTimestamp,
  splitProperties,
  usualTimestamp,
  whyNoInstant,
} from './mapping.ts';
import type { MappedRow, MappingOptions } from './mapping.ts';

type Members = Readonly<Record<string, unknown>>;

/** The parts of a record, before the flags are applied. */
interface Parts {
  readonly eventName: unknown;
  readonly timestamp: unknown;
  readonly customerId?: unknown;
  readonly externalCustomerId?: unknown;
  readonly contractId?: unknown;
  readonly idempotencyKey?: unknown;
  /** The members that become properties. */
  readonly fields: Members;
  /** The members that flags may name, if those are more. */
  readonly columns?: Members;
}

/** An event of the interface is sent with these members only. */
const eventMembers = ['eventName', 'customerId', 'externalCustomerId', 'contractId', 'idempotencyKey', 'timestamp'];
const sentMembers: ReadonlySet<string> = new Set([...eventMembers, 'properties']);
/** Further members in lists of events, which are not sent. */
const listedMembers: ReadonlySet<string> = new Set(['id', 'version', 'isLate', 'receivedAt']);

/** Throws a usage error for flags that contradict each other. */
export function createRecordMapping(
  options: MappingOptions,
  { isCloudEvents }: { readonly isCloudEvents: boolean },
): (record: unknown) => MappedRow {
  refuseTwoValues(options);
  const toTimestamp = createTimestampReader(options.timeZone);
  const identify = createRowIdentity();
  const chosen = splitProperties(options.properties);
  const constants = constantsOf(
    options.constants ?? [],
    chosen.map(([name]) => name),
  );
  const constantNames = Object.keys(constants);
  const named = [options.timestampColumn, options.eventNameColumn, options.customerColumn, options.keyColumn];
  const used = new Set(named.filter((name) => name !== undefined));

  return (record) => {
    if (!isJsonObject(record)) return { reason: 'is not a JSON object' };
    const isCloudEvent = record['specversion'] !== undefined;
    if (isCloudEvents && !isCloudEvent) return { reason: 'is not a CloudEvent: it has no specversion' };
    const parts = isCloudEvent ? partsOfCloudEvent(record) : partsOf(record, options);
    if ('reason' in parts) return parts;
    const { fields, columns = fields } = parts;
    const pick = (column: string | undefined, own: unknown) => (column === undefined ? own : fieldAt(columns, column));
    const eventName = options.eventName ?? pick(options.eventNameColumn, parts.eventName);
    if (typeof eventName !== 'string' || eventName === '') return { reason: 'has no event name' };
    const given = pick(options.timestampColumn, parts.timestamp);
    const timestamp = typeof given === 'string' ? toTimestamp(given) : undefined;
    if (timestamp === undefined) {
      if (typeof given === 'string') return { reason: whyNoInstant(given, options.timeZone) };
      return { reason: given === undefined ? 'has no timestamp' : `${JSON.stringify(given)} ${noTimestamp}` };
    }
    const customer = customerOf(parts, options, pick);
    if (customer === undefined) return { reason: 'has no customer' };
    if (customer === 'two') return { reason: 'exactly one of customerId and externalCustomerId is required' };
    const key = pick(options.keyColumn, parts.idempotencyKey);
    if (options.keyColumn !== undefined && (typeof key !== 'string' || key === '')) {
      return { reason: `${options.keyColumn}: is not text` };
    }
    const contractId = options.contractId ?? parts.contractId ?? undefined;
    const own = propertiesOf(fields, { chosen, columns, used });
    const twice = constantNames.find((name) => Object.hasOwn(own, name));
    if (twice !== undefined) return { reason: whySetTwice(twice) };
    const content = () =>
      JSON.stringify([options.source ?? '', eventName, Object.values(customer), canonicalJson(record)]);
    return {
      // Mostly in the order of the names, in which the journal hashes them.
      event: {
        ...(contractId === undefined ? {} : { contractId }),
        eventName,
        ...customer,
        idempotencyKey: key ?? identify(content()),
        properties: constantNames.length > 0 ? { ...constants, ...own } : own,
        timestamp,
      },
    };
  };
}

/**
 * An event of the interface is recognized by its properties. A record without them that names an event and a customer as the
 * interface does is flat: its other members are properties. The members of any other record have no meaning yet, nor
 * has one called timestamp where a flag names the time.
 */
function partsOf(record: Members, { timestampColumn }: MappingOptions): Parts | { readonly reason: string } {
  const { eventName, timestamp, customerId, externalCustomerId, contractId, idempotencyKey, properties } = record;
  const own = { eventName, timestamp, customerId, externalCustomerId, contractId, idempotencyKey };
  const names = Object.keys(record);
  if (typeof eventName === 'string' && isJsonObject(properties)) {
    const other = names.find((name) => !sentMembers.has(name) && !listedMembers.has(name));
    return other === undefined ? { ...own, fields: properties } : { reason: `${other}: unknown field` };
  }
  const isOfCustomer = customerId !== undefined || externalCustomerId !== undefined;
  const isFlat = typeof eventName === 'string' && properties === undefined && isOfCustomer;
  const usual = isFlat && timestamp !== undefined ? 'timestamp' : usualTimestamp(names);
  const time = timestampColumn === undefined ? usual : undefined;
  const others = Object.entries(record).filter(([name]) => name !== time && !(isFlat && sentMembers.has(name)));
  return {
    ...(isFlat ? own : { eventName: undefined }),
    timestamp: time === undefined ? undefined : record[time],
    fields: Object.fromEntries(others),
    columns: record,
  };
}

/** The subject is the customer, as in other usage meters that take CloudEvents; source and id together identify an event. */
function partsOfCloudEvent(record: Members): Parts | { readonly reason: string } {
  const { specversion, id, source, type, subject, time, data } = record;
  if (specversion !== '1.0') return { reason: `specversion: ${JSON.stringify(specversion)} is not "1.0"` };
  for (const [name, value] of Object.entries({ id, source, type })) {
    if (typeof value !== 'string' || value === '') return { reason: `${name}: is required in a CloudEvent` };
  }
  if (data !== undefined && !isJsonObject(data)) return { reason: 'data: must be a JSON object' };
  if (record['data_base64'] !== undefined) return { reason: 'data_base64: use data instead, with a JSON object' };
  return {
    eventName: type,
    timestamp: time,
    externalCustomerId: subject,
    idempotencyKey: `ce:${shortDigest(JSON.stringify([source, id]))}`,
    fields: data ?? {},
  };
}

function customerOf(
  { customerId, externalCustomerId }: Parts,
  options: MappingOptions,
  pick: (column: string | undefined, own: unknown) => unknown,
): { readonly customerId: string } | { readonly externalCustomerId: string } | 'two' | undefined {
  if (options.customerId !== undefined) return { customerId: options.customerId };
  const isOfFlags = options.customer !== undefined || options.customerColumn !== undefined;
  if (!isOfFlags && isSaid(customerId) && isSaid(externalCustomerId)) return 'two';
  const external = options.customer ?? pick(options.customerColumn, externalCustomerId);
  if (typeof external === 'string' && external !== '') return { externalCustomerId: external };
  return !isOfFlags && typeof customerId === 'string' && customerId !== '' ? { customerId } : undefined;
}

/** A program that writes the same members in every row leaves one of these empty. */
function isSaid(id: unknown): boolean {
  return id !== undefined && id !== null && id !== '';
}

/** The member with the name, or at the path, that a flag gives. */
function fieldAt(fields: Members, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : valueAt(fields, name);
}

function propertiesOf(
  fields: Members,
  {
    chosen,
    columns,
    used,
  }: {
    readonly chosen: readonly (readonly [string, string])[];
    readonly columns: Members;
    readonly used: ReadonlySet<string>;
  },
): Members {
  if (chosen.length === 0 && used.size === 0) return fields;
  if (chosen.length === 0) return Object.fromEntries(Object.entries(fields).filter(([name]) => !used.has(name)));
  const found = chosen.map(([name, column]) => [name, fieldAt(columns, column)] as const);
  return Object.fromEntries(found.filter(([, value]) => value !== undefined));
}
