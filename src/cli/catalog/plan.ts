/**
 * What must be done for a service to say what a file says, worked out from the two alone: nothing is done here.
 *
 * A price is never changed: another is made and the old one archived, and the plans that contain it are made anew, those
 * that the file does not list too. What hangs on a product or meter that is replaced must go first (see steps.ts). Nothing
 * outside the file is made anew in that case: once it is archived, nobody would know what it said, should the rest fail.
 */

import { ConflictError, InvalidInputError } from '../../errors.ts';
import { changesOf, inOrder } from './change.ts';
import type { Change } from './change.ts';
import { saySame } from './comparison.ts';
import { planKey, planLabel, priceKey, priceLabel } from './definitions.ts';
import type { Catalog, MeterDefinition, PriceDefinition, ProductDefinition, Section } from './definitions.ts';
import type { CatalogFile } from './file.ts';
import type { Live, LiveCatalog, LivePlan, LivePrice } from './live.ts';
import { goneOf, matchByKey, matchOf, matchPlans, settled, stayingOf, supersededOf } from './matching.ts';
import type { PlanMatching, Settled } from './matching.ts';
import { planRateCards } from './plan-rate-cards.ts';
import { referenceIssues } from './references.ts';
import type { Archived, Known, Steps } from './steps.ts';

export interface CatalogPlan {
  readonly changes: readonly Change[];
  /** Entries of the file that the service has already. */
  readonly unchanged: number;
  /** What the service has beside the file, and keeps. */
  readonly unlisted: number;
  readonly steps: Steps;
  readonly known: Known;
}

type Products = Settled<ProductDefinition, Live<ProductDefinition>>;
type Meters = Settled<MeterDefinition, Live<MeterDefinition>>;
type Pricing = Settled<PriceDefinition, LivePrice>;
type Plans = Settled<Catalog['plans'][number], LivePlan>;

/**
 * Throws InvalidInputError for names in the file that stand for nothing, and ConflictError where something outside the file
 * is in the way.
 */
export function planCatalog(file: CatalogFile, live: LiveCatalog, { prune }: { readonly prune: boolean }): CatalogPlan {
  const { catalog, issueAt } = file;
  const isPruned = (section: Section) => prune && file.sections.has(section);
  const isSound = () => true;
  const products: Products = settled(
    matchByKey(catalog.products, live.products, { keyOf: ({ name }) => name, isSound }),
    isPruned('products'),
  );
  const meters: Meters = settled(
    matchByKey(catalog.meters, live.meters, { keyOf: ({ code }) => code, isSound }),
    isPruned('meters'),
  );
  const bases = ids([...goneOf(products), ...goneOf(meters)]);
  const hangs = (on: ReadonlySet<string>) => (row: LivePrice) => on.has(row.productId) || on.has(row.meterId ?? '');
  const pricing: Pricing = settled(
    matchByKey(catalog.pricing, live.pricing, { keyOf: priceKey, isSound: (row) => !hangs(bases)(row) }),
    isPruned('pricing'),
  );
  const prices = ids(goneOf(pricing));
  const matching = matchPlans(catalog.plans, live.plans, (row) => !contains(prices)(row));

  const names = {
    products: [...catalog.products, ...products.left.map(({ definition }) => definition)],
    meters: [...catalog.meters, ...meters.left.map(({ definition }) => definition)],
    pricing: [...catalog.pricing, ...pricing.left.map(({ definition }) => definition)],
  };
  const issues = [
    ...referenceIssues(file, names),
    ...matching.issues.map(({ index, message }) => issueAt(['plans', index], message)),
  ];
  if (issues.length > 0) throw new InvalidInputError(issues);

  const early = ids(goneOf(pricing).filter(hangs(ids([...supersededOf(products), ...supersededOf(meters)]))));
  const plans = isPruned('plans')
    ? { ...settled(matching, true), obstacles: [] }
    : withPlansOutside(matching, { prices, early, names: names.pricing.map(priceKey) });
  const cards = planRateCards(catalog.rateCards, live.rateCards, { meters, isPruned: isPruned('rateCards') });
  const obstacles = [...strandedPrices(pricing, hangs(bases)), ...cards.obstacles, ...plans.obstacles];
  if (obstacles.length > 0) throw new ConflictError(obstacles.join('; '), { hint: obstacleHint });

  const sections = { products, meters, pricing, plans };
  const keptCount = [products, meters, pricing, matching].reduce(
    (sum, { matches }) => sum + matches.filter(({ kept }) => kept !== undefined).length,
    0,
  );
  return {
    changes: inOrder([...sectionChanges(sections), ...cards.changes]),
    unchanged: keptCount + cards.unchanged,
    unlisted: [products, meters, pricing, plans].reduce((sum, each) => sum + each.left.length, 0),
    steps: stepsOf(sections, { early, cards: cards.set }),
    known: {
      products: new Map(stayingOf(products).map(({ id, definition }) => [definition.name, id])),
      meters: new Map(stayingOf(meters).map(({ id, definition }) => [definition.code, id])),
      pricing: new Map(stayingOf(pricing).map(({ id, definition }) => [priceKey(definition), id])),
    },
  };
}

const obstacleHint = 'add it to the file: it would have to be made anew, and only what a file says can be';

function ids(rows: readonly { readonly id: string }[]): Set<string> {
  return new Set(rows.map(({ id }) => id));
}

/** Whether a plan contains one of these prices. */
function contains(prices: ReadonlySet<string>): (row: LivePlan) => boolean {
  return ({ pricingIds }) => pricingIds.some((id) => prices.has(id));
}

function strandedPrices({ left }: Pricing, hangs: (row: LivePrice) => boolean): string[] {
  return left
    .filter(hangs)
    .map(({ definition }) => `the price ${priceLabel(definition)} hangs on what goes, and is not in the file`);
}

interface Surroundings {
  /** Prices that go, and those among them that go before their successors come. */
  readonly prices: ReadonlySet<string>;
  readonly early: ReadonlySet<string>;
  /** Keys of the prices that there will be; one that stands for two prices twice. */
  readonly names: readonly string[];
}

/** Plans that the file does not list are made anew as they are, where a price in them is replaced. */
function withPlansOutside(
  { matches, unlisted }: PlanMatching<LivePlan>,
  { prices, early, names }: Surroundings,
): Plans & { readonly obstacles: readonly string[] } {
  const isStale = contains(prices);
  const countOf = new Map([...Map.groupBy(names, (key) => key)].map(([key, same]) => [key, same.length]));
  const outside: Plans['matches'][number][] = [];
  const obstacles: string[] = [];
  for (const group of Map.groupBy(unlisted.filter(isStale), ({ definition }) => planKey(definition)).values()) {
    const [newest] = group;
    if (newest === undefined) continue;
    const { definition } = newest;
    const isResolved = definition.items.every(
      ({ product, price: name }) => countOf.get(priceKey({ product, name })) === 1,
    );
    if (!isResolved || group.some((row) => contains(early)(row) || !saySame(row.definition, definition))) {
      obstacles.push(`the plan ${planLabel(definition)} contains a price that goes, and is not in the file`);
    }
    const rows = unlisted.filter(
      (row) => planKey(row.definition) === planKey(definition) && (isStale(row) || saySame(row.definition, definition)),
    );
    outside.push(matchOf(definition, rows, (row) => !isStale(row)));
  }
  const touched = new Set(outside.flatMap(({ kept, superseded }) => [kept, ...superseded]));
  return {
    matches: [...matches, ...outside],
    pruned: [],
    left: unlisted.filter((row) => !touched.has(row)),
    obstacles,
  };
}

interface Sections {
  readonly products: Products;
  readonly meters: Meters;
  readonly pricing: Pricing;
  readonly plans: Plans;
}

function sectionChanges({ products, meters, pricing, plans }: Sections): Change[] {
  const replacedProducts = ids(supersededOf(products));
  const replacedMeters = ids(supersededOf(meters));
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

function stepsOf(
  { products, meters, pricing, plans }: Sections,
  { early, cards }: { readonly early: ReadonlySet<string>; readonly cards: Steps['create']['rateCards'] },
): Steps {
  const isEarlyPrice = ({ id }: LivePrice) => early.has(id);
  const isEarlyPlan = contains(early);
  const archivedPlans = (rows: readonly LivePlan[]) =>
    rows.map(({ id, definition }): Archived => ({
      operation: 'plans.archive',
      id,
      name: `plan ${planLabel(definition)}`,
    }));
  const archivedPrices = (rows: readonly LivePrice[]) =>
    rows.map(({ id, definition }): Archived => ({
      operation: 'pricing.archive',
      id,
      name: `price ${priceLabel(definition)}`,
    }));
  const archivedMeters = (rows: readonly Live<MeterDefinition>[]) =>
    rows.map(({ id, definition }): Archived => ({ operation: 'meters.archive', id, name: `meter ${definition.code}` }));
  const archivedProducts = (rows: readonly Live<ProductDefinition>[]) =>
    rows.map(({ id, definition }): Archived => ({
      operation: 'products.archive',
      id,
      name: `product ${definition.name}`,
    }));
  return {
    first: [
      ...archivedPlans(goneOf(plans).filter(isEarlyPlan)),
      ...archivedPrices(goneOf(pricing).filter(isEarlyPrice)),
      ...archivedMeters(supersededOf(meters)),
      ...archivedProducts(supersededOf(products)),
    ],
    create: {
      products: createdOf(products),
      meters: createdOf(meters),
      rateCards: cards,
      pricing: createdOf(pricing),
      plans: createdOf(plans),
    },
    last: [
      ...archivedPlans(goneOf(plans).filter((row) => !isEarlyPlan(row))),
      ...archivedPrices(goneOf(pricing).filter((row) => !isEarlyPrice(row))),
      ...archivedMeters(meters.pruned),
      ...archivedProducts(products.pruned),
    ],
  };
}

function createdOf<D>({ matches }: Pick<Settled<D, unknown>, 'matches'>): D[] {
  return matches.flatMap(({ definition, kept }) => (kept === undefined ? [definition] : []));
}
