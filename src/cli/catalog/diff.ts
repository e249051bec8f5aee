/**
 * Works out what must be done for a service to match a file, from the two alone: nothing is done here.
 *
 * A price is never changed: a new one is created and the old one archived, and the plans that contain it are created anew,
 * including those that the file does not list. Whatever depends on a replaced product or meter must go first (see steps.ts).
 * In that case nothing outside the file is created anew: once archived, its definition would be lost if the rest failed.
 */

import { ConflictError, InvalidInputError } from '../../errors.ts';
import { changesOf, inOrder } from './change.ts';
import type { Change } from './change.ts';
import { planLabel, priceKey, priceLabel } from './definitions.ts';
import type { Section } from './definitions.ts';
import type { CatalogFile } from './file.ts';
import type { LiveCatalog } from './live.ts';
import { goneOf, matchByKey, matchPlans, decided, stayingOf, supersededOf } from './matching.ts';
import { diffRateCards } from './diff-rate-cards.ts';
import { withPlansOutside } from './plans-outside.ts';
import { referenceIssues } from './references.ts';
import { contains, hangsOn, idsOf } from './sections.ts';
import type { Sections } from './sections.ts';
import { stepsOf } from './step-order.ts';
import type { Known, Steps } from './steps.ts';

export interface CatalogDiff {
  readonly changes: readonly Change[];
  /** Entries of the file that the service has already. */
  readonly unchanged: number;
  /** Things that the service has besides the file, and keeps. */
  readonly unlisted: number;
  readonly steps: Steps;
  readonly known: Known;
}

/**
 * Throws InvalidInputError for names in the file that stand for nothing, and ConflictError if something outside the file is in
 * the way. `prune` archives what the file leaves out, in the sections that it has.
 */
export function diffOf(file: CatalogFile, live: LiveCatalog, { prune }: { readonly prune: boolean }): CatalogDiff {
  const isPruned = (section: Section) => prune && file.sections.has(section);
  const { sections, early, obstacles } = decide(file, live, isPruned);
  const { meters } = sections;
  const cards = diffRateCards(file.catalog.rateCards, live.rateCards, { meters, isPruned: isPruned('rateCards') });
  const inTheWay = [...obstacles, ...cards.obstacles].toSorted();
  if (inTheWay.length > 0) {
    throw new ConflictError(inTheWay.join('; '), {
      hint: 'add it to the file: it would have to be created again, which only entries of the file can be',
    });
  }
  const all = [sections.products, sections.meters, sections.pricing, sections.plans];
  const changes = inOrder([...sectionChanges(sections), ...cards.changes]);
  return {
    changes,
    unchanged: keptCount(file, sections) + cards.unchanged,
    unlisted: all.reduce((sum, { left }) => sum + left.length, 0),
    steps: stepsOf(sections, { early, rateCards: cards.set }),
    known: knownOf(sections),
  };
}

interface Decision {
  readonly sections: Sections;
  /** Prices that must go before their successors are created, because their product or meter is replaced. */
  readonly early: ReadonlySet<string>;
  /** Things outside the file that would have to go and cannot be created anew. */
  readonly obstacles: readonly string[];
}

/** Decided in the order of references, because whatever refers to something that goes cannot stay. */
function decide(file: CatalogFile, live: LiveCatalog, isPruned: (section: Section) => boolean): Decision {
  const { catalog, issueAt } = file;
  const isSound = () => true;
  const byName = matchByKey(catalog.products, live.products, { keyOf: ({ name }) => name, isSound });
  const products = decided(byName, isPruned('products'));
  const byCode = matchByKey(catalog.meters, live.meters, { keyOf: ({ code }) => code, isSound });
  const meters = decided(byCode, isPruned('meters'));
  const isStranded = hangsOn(idsOf([...goneOf(products), ...goneOf(meters)]));
  const byKey = matchByKey(catalog.pricing, live.pricing, { keyOf: priceKey, isSound: (row) => !isStranded(row) });
  const pricing = decided(byKey, isPruned('pricing'));
  const prices = idsOf(goneOf(pricing));
  const isStale = contains(prices);
  const matching = matchPlans(catalog.plans, live.plans, (row) => !isStale(row));

  const names = {
    products: [...catalog.products, ...definitionsOf(products.left)],
    meters: [...catalog.meters, ...definitionsOf(meters.left)],
    pricing: [...catalog.pricing, ...definitionsOf(pricing.left)],
  };
  const ambiguous = matching.issues.map(({ index, message }) => issueAt(['plans', index], message));
  const issues = [...referenceIssues(file, names), ...ambiguous];
  if (issues.length > 0) throw new InvalidInputError(issues);

  const isEarly = hangsOn(idsOf([...supersededOf(products), ...supersededOf(meters)]));
  const early = idsOf(goneOf(pricing).filter(isEarly));
  const plans = isPruned('plans')
    ? { ...decided(matching, true), obstacles: [] }
    : withPlansOutside(matching, { prices, early, names: names.pricing.map(priceKey) });
  const stranded = pricing.left
    .filter(isStranded)
    .map(
      ({ definition }) =>
        `the price ${priceLabel(definition)} belongs to a product or meter that goes, and is not in the file`,
    );
  return { sections: { products, meters, pricing, plans }, early, obstacles: [...stranded, ...plans.obstacles] };
}

function definitionsOf<D>(rows: readonly { readonly definition: D }[]): D[] {
  return rows.map(({ definition }) => definition);
}

/** Plans outside the file come after those in it. */
function keptCount({ catalog }: CatalogFile, { products, meters, pricing, plans }: Sections): number {
  const listed = [products, meters, pricing, { matches: plans.matches.slice(0, catalog.plans.length) }];
  return listed.reduce((sum, { matches }) => sum + matches.filter(({ kept }) => kept !== undefined).length, 0);
}

function knownOf({ products, meters, pricing }: Sections): Known {
  return {
    products: new Map(stayingOf(products).map(({ id, definition }) => [definition.name, id])),
    meters: new Map(stayingOf(meters).map(({ id, definition }) => [definition.code, id])),
    pricing: new Map(stayingOf(pricing).map(({ id, definition }) => [priceKey(definition), id])),
  };
}

function sectionChanges({ products, meters, pricing, plans }: Sections): Change[] {
  const replacedProducts = idsOf(supersededOf(products));
  const replacedMeters = idsOf(supersededOf(meters));
  const replacedPrices = new Map(supersededOf(pricing).map(({ id, definition }) => [id, priceLabel(definition)]));
  return [
    ...changesOf('product', products, { labelOf: ({ name }) => name }),
    ...changesOf('meter', meters, { labelOf: ({ code }) => code }),
    ...changesOf('price', pricing, {
      labelOf: priceLabel,
      reasonOf: ({ productId, meterId, definition }) => {
        if (replacedProducts.has(productId)) return `the product ${definition.product} is replaced`;
        return replacedMeters.has(meterId ?? '') ? `the meter ${definition.meter} is replaced` : undefined;
      },
    }),
    ...changesOf('plan', plans, {
      labelOf: planLabel,
      reasonOf: ({ pricingIds }) => {
        const replaced = pricingIds.flatMap((id) => replacedPrices.get(id) ?? []);
        return replaced.length === 0 ? undefined : `contains ${replaced.join(', ')}, replaced`;
      },
    }),
  ];
}
