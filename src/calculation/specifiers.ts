/** Which usage a grant pays for (semantics 9): OR inside a list, AND across members; nothing given means all usage. */

import { inNfc } from '../normal-text.ts';

/** As stored with a grant; texts are compared in NFC. A property may be given one value or a list of them. */
export interface Specifiers {
  readonly meterIds?: readonly string[] | undefined;
  readonly productIds?: readonly string[] | undefined;
  readonly pricingIds?: readonly string[] | undefined;
  readonly eventNames?: readonly string[] | undefined;
  readonly properties?: Readonly<Record<string, string | readonly string[]>> | undefined;
}

/** What is known of usage; `eventName` is empty where no specifier asks for it, and for an SQL meter. */
export interface SpecifiedUsage {
  readonly meterId: string | undefined;
  readonly productId: string;
  readonly pricingId: string;
  readonly eventName: string;
  readonly properties: Readonly<Record<string, string>>;
}

/** Whether a grant with these specifiers pays for this usage. An empty list names nothing, so nothing matches it. */
export function isSpecified(specifiers: Specifiers | undefined, usage: SpecifiedUsage): boolean {
  if (specifiers === undefined) return true;
  return knownRules.getOrInsertComputed(specifiers, ruleOf)(usage);
}

type UsageRule = (usage: SpecifiedUsage) => boolean;

/** Rules made so far: thousands of lines may be checked against each of thousands of grants. */
const knownRules = new WeakMap<Specifiers, UsageRule>();

function ruleOf(specifiers: Specifiers): UsageRule {
  const { meterIds, productIds, pricingIds, eventNames, properties = {} } = specifiers;
  const rules = [
    listedIn(meterIds, (usage) => usage.meterId),
    listedIn(productIds, (usage) => usage.productId),
    listedIn(pricingIds, (usage) => usage.pricingId),
    listedIn(eventNames, (usage) => usage.eventName),
    ...Object.entries(properties).map(([key, wanted]) =>
      listedIn(typeof wanted === 'string' ? [wanted] : wanted, (usage) => ownValue(usage.properties, key)),
    ),
  ].flatMap((rule) => rule ?? []);
  return (usage) => rules.every((rule) => rule(usage));
}

/** What readings must tell apart, so that specifiers and budgets can be applied to them. */
export interface UsageDimensions {
  readonly needsEventName: boolean;
  /** Sorted. */
  readonly propertyKeys: readonly string[];
}

/** The dimensions that these grants and budgets ask about. */
export function usageDimensionsOf(
  grants: readonly { readonly specifiers?: Specifiers | undefined }[],
  budgets: readonly { readonly eventPropertyKey: string }[],
): UsageDimensions {
  const keys = grants.flatMap((grant) => Object.keys(grant.specifiers?.properties ?? {}));
  return {
    needsEventName: grants.some((grant) => grant.specifiers?.eventNames !== undefined),
    propertyKeys: [...new Set([...keys, ...budgets.map((budget) => budget.eventPropertyKey)])].toSorted(),
  };
}

/** Undefined without a list, which lets all usage pass. */
function listedIn(
  list: readonly string[] | undefined,
  textOf: (usage: SpecifiedUsage) => string | undefined,
): UsageRule | undefined {
  if (list === undefined) return undefined;
  const wanted = new Set(list.map(inNfc));
  return (usage) => {
    const text = textOf(usage);
    return text !== undefined && wanted.has(inNfc(text));
  };
}

function ownValue(properties: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(properties, key) ? properties[key] : undefined;
}
