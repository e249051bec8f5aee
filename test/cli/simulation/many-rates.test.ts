/** Rates of many contracts and of long rate cards: none is compared with every other. */

import { describe, expect, test } from 'vitest';

import { ratesOf } from '../../../src/cli/simulation/frozen-rates.ts';
import type { RatePlace } from '../../../src/cli/simulation/frozen-rates.ts';
import type { HistoricContract } from '../../../src/cli/simulation/history.ts';
import type { HistoryCatalog } from '../../../src/cli/simulation/history-catalog.ts';
import { cardOf } from '../../../src/cli/simulation/mirror-prices.ts';
import type { BilledPrice } from '../../../src/cli/simulation/mirror-prices.ts';

describe('the rate card that lines of contracts show', () => {
  /** A price of a contract whose lines show these amounts by model; counts how often they are looked at. */
  const billed = (amounts: Readonly<Record<string, string>>, onLook = () => undefined as void) => {
    const lines = Object.entries(amounts).map(([model, unitPrice]) => ({
      kind: 'metered',
      groups: { model },
      unitPrice,
    }));
    return {
      price: { tiering: 'NONE', unitAmount: '9' },
      usualUnitAmount: '9',
      get lines() {
        onLook();
        return lines;
      },
    } as unknown as BilledPrice;
  };

  test('has what every contract is billed by that shows the combination', () => {
    const card = cardOf([
      billed({ large: '3', small: '1' }),
      billed({ large: '3', small: '9', tiny: '0.5' }),
      billed({ large: '4', huge: '7' }),
    ]);
    expect(card).toEqual([
      { dimensions: { model: 'large' }, unitAmount: '4' },
      { dimensions: { model: 'tiny' }, unitAmount: '0.5' },
      { dimensions: { model: 'huge' }, unitAmount: '7' },
    ]);
  });

  test('has a rate by which all lines of another contract are billed', () => {
    const card = cardOf([billed({ small: '1' }), billed({ large: '3', small: '1' }), billed({ large: '3' })]);
    expect(card.map(({ dimensions }) => dimensions['model'])).toEqual(['large', 'small']);
  });

  test('is found by looking at each contract some times, however many there are', () => {
    let looks = 0;
    const contracts = Array.from({ length: 100 }, () => billed({ large: '3', small: '1' }, () => void (looks += 1)));
    expect(cardOf(contracts)).toHaveLength(2);
    expect(looks).toBeLessThan(20 * contracts.length);
  });
});

test('what a contract agreed on beside a rate card is found by looking at each rate some times', () => {
  const count = 100;
  let looks = 0;
  const cardAt = (unitAmount: string) =>
    Array.from({ length: count }, (_, index) => ({
      unitAmount,
      get dimensions() {
        looks += 1;
        return { model: `model ${index}` };
      },
    }));
  const contract = {
    id: 'c',
    createdAt: '2026-01-01T00:00:00.000Z',
    terms: { items: [{ pricingId: 'p', rates: cardAt('1') }] },
  };
  const catalog = {
    prices: new Map([['p', { meter: 'TOKENS' }]]),
    cards: new Map([['TOKENS', { rates: cardAt('2'), updatedAt: '2026-02-01T00:00:00.000Z' }]]),
  };
  const place = {
    live: { rateCards: [{ id: 'm', definition: { meter: 'TOKENS', rates: cardAt('3') } }] },
    prices: [{ meterId: 'm', definition: { meter: 'TOKENS' } }],
    other: { catalog: { rateCards: [{ meter: 'TOKENS' }] } },
  };
  const [found] = ratesOf(
    { contract } as unknown as HistoricContract,
    catalog as unknown as HistoryCatalog,
    place as unknown as RatePlace,
  );
  expect([found?.overrides, found?.note?.includes(`(${count})`)]).toEqual([[], true]);
  expect(looks).toBeLessThan(20 * count);
});
