/**
 * The rates that a contract froze, for the contract that replaces it. The contract's own rates come before those of the rate
 * card at that time, and nothing marks where the card begins.
 */

import { limits } from '../../limits.ts';
import { keyOf, saySame } from '../catalog/comparison.ts';
import type { RateCardDefinition } from '../catalog/definitions.ts';
import type { CatalogFile } from '../catalog/file.ts';
import type { LiveCatalog, LivePrice } from '../catalog/live.ts';
import type { HistoricContract } from './history.ts';
import type { HistoricCard, HistoryCatalog } from './history-catalog.ts';

type Rate = RateCardDefinition['rates'][number];

/** The rate card that a meter needs when the contract is created, and the contract's overrides. */
export interface MeterRates {
  readonly meterId: string;
  readonly card: Pick<RateCardDefinition, 'rates' | 'fallbackUnitAmount'>;
  readonly overrides: readonly Rate[];
  /** What had to be guessed. */
  readonly note: string | undefined;
}

export interface RatePlace {
  readonly live: LiveCatalog;
  /** Prices of the new contract's plan at the new service. */
  readonly prices: readonly LivePrice[];
  readonly other: CatalogFile | undefined;
}

/** By meter of the plan: all that the contract froze, or what it agreed on besides a card that the other catalog has. */
export function ratesOf(
  { contract }: HistoricContract,
  catalog: HistoryCatalog,
  { live, prices, other }: RatePlace,
): MeterRates[] {
  const meters = new Map(
    prices.flatMap(({ meterId, definition: { meter } }) =>
      meter === undefined || meterId === undefined ? [] : [[meter, meterId] as const],
    ),
  );
  return [...meters].map(([code, meterId]): MeterRates => {
    const items = contract.terms.items.filter(({ pricingId }) => catalog.prices.get(pricingId)?.meter === code);
    // Prices on one meter have the same rates; in a mirror, those with tiers show none.
    const item = items.find(({ rates }) => rates.length > 0) ?? items[0];
    const listed = live.rateCards.find(({ id }) => id === meterId)?.definition ?? { rates: [] };
    if (item === undefined) return { meterId, card: listed, overrides: [], note: undefined };
    const { rates } = item;
    const today = catalog.cards.get(code) ?? { rates: [] };
    const { least, most } = beginOfCard(rates, today, contract.createdAt);
    const overrides = rates.slice(0, least);
    if (other?.catalog.rateCards.some(({ meter }) => meter === code) !== true) {
      const isOverridden = amongCombinations(overrides);
      const rest = rates.slice(least).filter((rate) => !isOverridden(rate));
      const card = { rates: rest, fallbackUnitAmount: item.fallbackUnitAmount ?? undefined };
      return { meterId, card, overrides, note: undefined };
    }
    const open = rates.slice(least, most);
    const isOfToday = amongCombinations(today.rates);
    const kept = open.filter((rate) => !isOfToday(rate));
    // A rate that the new card has too needs no guess. A mirror shows no card, and says so itself.
    const alike = new Set(listed.rates.map(keyOf));
    const guessed = today.updatedAt === undefined ? [] : open.filter((rate) => !alike.has(keyOf(rate)));
    return {
      meterId,
      card: listed,
      overrides: [...overrides, ...kept],
      note: guessed.length === 0 ? undefined : noteOf(contract.id, code, { guessed, today }),
    };
  });
}

/**
 * The range of places at which the rate card may begin. A combination that occurs twice was overridden first, and a card has
 * no rate without a combination. A card that has not been set since is the card of that time, if it can begin where it would.
 */
function beginOfCard(
  rates: readonly Rate[],
  today: HistoricCard,
  createdAt: string,
): { readonly least: number; readonly most: number } {
  const places = new Map<string, number>();
  let least = Math.max(0, rates.length - limits.rateCardRates);
  let most = rates.length;
  for (const [index, { dimensions }] of rates.entries()) {
    const key = keyOf({ dimensions });
    const earlier = places.get(key);
    if (earlier === undefined) places.set(key, index);
    else most = Math.min(most, index);
    const overridden = Object.keys(dimensions).length === 0 ? index : earlier;
    if (overridden !== undefined) least = Math.max(least, overridden + 1);
  }
  const begin = rates.length - today.rates.length;
  const isKnown = begin >= least && begin <= most && isOfThen(rates, today, createdAt);
  return isKnown ? { least: begin, most: begin } : { least, most };
}

/** Whether today's card is that of then. Compares rates too: a simulated clock can stand still while the card is set twice. */
function isOfThen(rates: readonly Rate[], { rates: listed, updatedAt }: HistoricCard, createdAt: string): boolean {
  if (updatedAt === undefined || (updatedAt !== null && updatedAt > createdAt)) return false;
  return saySame({ rates: rates.slice(Math.max(0, rates.length - listed.length)) }, { rates: listed });
}

/** Whether one of these rates has the same combination. */
function amongCombinations(rates: readonly Rate[]): (rate: Rate) => boolean {
  const known = new Set(rates.map(({ dimensions }) => keyOf({ dimensions })));
  return ({ dimensions }) => known.has(keyOf({ dimensions }));
}

function noteOf(
  contractId: string,
  code: string,
  { guessed, today }: { readonly guessed: readonly Rate[]; readonly today: HistoricCard },
): string {
  const ofCard = guessed.filter(amongCombinations(today.rates)).length;
  return `contract ${contractId}: the rate card of ${code} has changed since, and its rates do not tell which of them were agreed on: those that the card has today are taken to be of the card (${ofCard}), the others to be agreed on (${guessed.length - ofCard})`;
}
