/** Checks names in a file that must stand for something in the file, or that the service has and keeps. */

import type { InputIssue } from '../../errors.ts';
import { itemKey, priceKey } from './definitions.ts';
import type { MeterDefinition, PriceDefinition, ProductDefinition } from './definitions.ts';
import type { CatalogFile } from './file.ts';

/** Everything that can be referred to, by name. */
export interface Names {
  readonly products: readonly ProductDefinition[];
  readonly meters: readonly MeterDefinition[];
  /** Entries of the file, and what stays outside it; a name of two prices occurs twice. */
  readonly pricing: readonly PriceDefinition[];
}

const nowhere = 'is neither in the file nor in the service';

export function referenceIssues({ catalog, issueAt }: CatalogFile, names: Names): InputIssue[] {
  const products = new Set(names.products.map(({ name }) => name));
  const meters = new Map(names.meters.map((meter) => [meter.code, meter]));
  const prices = Map.groupBy(names.pricing, priceKey);
  return [
    ...catalog.rateCards.flatMap(({ meter: code, rates }, index): InputIssue[] => {
      const meter = meters.get(code);
      const path = ['rateCards', index];
      if (meter === undefined) return [issueAt([...path, 'meter'], `names a meter that ${nowhere}`)];
      const keys = meter.groupKeys ?? [];
      return rates.flatMap(({ dimensions }, rate) =>
        Object.keys(dimensions)
          .filter((name) => !keys.includes(name))
          .map((name) =>
            issueAt(
              [...path, 'rates', rate, 'dimensions', name],
              `is not a group key of meter ${code}; it has ${keys.join(', ') || 'none'}`,
            ),
          ),
      );
    }),
    ...catalog.pricing.flatMap(({ product, meter }, index) => [
      ...(products.has(product) ? [] : [issueAt(['pricing', index, 'product'], `names a product that ${nowhere}`)]),
      ...(meter === undefined || meters.has(meter)
        ? []
        : [issueAt(['pricing', index, 'meter'], `names a meter that ${nowhere}`)]),
    ]),
    ...catalog.plans.flatMap(({ items }, index) =>
      items.flatMap((named, item): InputIssue[] => {
        const found = prices.get(itemKey(named)) ?? [];
        if (found.length === 1) return [];
        const words =
          found.length === 0 ? `names a price of ${named.product} that ${nowhere}` : 'is the name of several prices';
        return [issueAt(['plans', index, 'items', item, 'price'], words)];
      }),
    ),
  ];
}
