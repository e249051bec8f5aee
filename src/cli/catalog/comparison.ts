/** When two definitions say the same: decimals compare as numbers, lists without a meaningful order as sets, absent as empty. */

import { Big } from 'big.js';
import { isJsonObject } from '../../exact-json.ts';
import { compareText } from '../../text-order.ts';

const decimalFields: ReadonlySet<string> = new Set([
  'unitAmount',
  'flatAmount',
  'fallbackUnitAmount',
  'maxQty',
  'defaultQuantity',
]);
const unorderedFields: ReadonlySet<string> = new Set(['include', 'exclude', 'groupKeys', 'propertyFilters']);

export function saySame(one: object, other: object): boolean {
  return keyOf(one) === keyOf(other);
}

/** The same text for definitions that say the same. */
export function keyOf(definition: object): string {
  return JSON.stringify(comparable(definition));
}

export interface Difference {
  /** `unitAmount`, `metadata.invoiceSendMethod`. */
  readonly field: string;
  /** The value as it is written; null for nothing. */
  readonly from: unknown;
  readonly to: unknown;
}

/** Fields that say what something costs or gives away. */
const moneyFields: ReadonlySet<string> = new Set([
  'unitAmount',
  'flatAmount',
  'pricingTiers',
  'rates',
  'fallbackUnitAmount',
  'metadata.defaultCreditGrantCents',
]);

/** The amounts of something created, as differences from nothing: what a person who agrees to it has to see. */
export function amountsOf(definition: object): Difference[] {
  return differences({ metadata: {} }, definition).filter(({ field }) => moneyFields.has(field));
}

/** The fields in which two definitions of one thing differ, sorted by name. */
export function differences(from: object, to: object, within = ''): Difference[] {
  const names = [...new Set([...Object.keys(from), ...Object.keys(to)])].toSorted();
  return names.flatMap((name): Difference[] => {
    const [before, after] = [valueOf(from, name), valueOf(to, name)];
    if (JSON.stringify(comparable(before, name)) === JSON.stringify(comparable(after, name))) return [];
    const field = `${within}${name}`;
    if (isJsonObject(before) && isJsonObject(after)) return differences(before, after, `${field}.`);
    return [{ field, from: before ?? null, to: after ?? null }];
  });
}

function comparable(value: unknown, field = ''): unknown {
  if (typeof value === 'string') return decimalFields.has(field) ? new Big(value).toFixed() : value;
  if (Array.isArray(value)) {
    const elements = value.map((each) => comparable(each, field));
    if (elements.length === 0) return undefined;
    return unorderedFields.has(field) ? elements.map((each) => JSON.stringify(each)).toSorted() : elements;
  }
  return isJsonObject(value) ? comparableObject(value, field) : value;
}

function comparableObject(value: object, field: string): unknown {
  // People name dimensions, and may call one `include`.
  const nameOf = (name: string) => (field === 'dimensions' ? '' : name);
  const members = Object.entries(value)
    .map(([name, each]) => [name, comparable(each, nameOf(name))] as const)
    .filter(([, each]) => each !== undefined)
    .toSorted(([one], [other]) => compareText(one, other));
  return members.length === 0 ? undefined : members;
}

function valueOf(object: object, name: string): unknown {
  return Object.hasOwn(object, name) ? (object as Readonly<Record<string, unknown>>)[name] : undefined;
}
