/** Which usage a grant pays for (semantics 9): OR inside a list, AND across members; nothing given means all usage. */

/** As they are stored with a grant; texts are compared in NFC. A property may be given one value or a list of them. */
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
  return (
    isListed(specifiers.meterIds, usage.meterId) &&
    isListed(specifiers.productIds, usage.productId) &&
    isListed(specifiers.pricingIds, usage.pricingId) &&
    isListed(specifiers.eventNames, usage.eventName) &&
    Object.entries(specifiers.properties ?? {}).every(([key, wanted]) =>
      isListed(typeof wanted === 'string' ? [wanted] : wanted, ownValue(usage.properties, key)),
    )
  );
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

function isListed(list: readonly string[] | undefined, text: string | undefined): boolean {
  if (list === undefined) return true;
  if (text === undefined) return false;
  const sought = text.normalize('NFC');
  return list.some((wanted) => wanted.normalize('NFC') === sought);
}

function ownValue(properties: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(properties, key) ? properties[key] : undefined;
}
