import { join } from 'node:path';

import { expect, test } from 'vitest';

import { createContract, createCustomer, createMeter, createPrice, send } from '../../support/usage-scenario.ts';
import { saved, stage, useStage } from '../../support/use-stage.ts';
import { createWorld } from '../../support/world.ts';

interface Compared {
  readonly customers: readonly Record<string, unknown>[];
  readonly notes: readonly { readonly customer: string; readonly note: string }[];
}

useStage('embedded');

const newCard = {
  rates: [
    { dimensions: { model: 'large' }, unitAmount: '4' },
    { dimensions: { model: 'small' }, unitAmount: '2' },
  ],
  fallbackUnitAmount: '2',
};

/** January: 10 tokens each of large, small and tiny, at 3.00 USD for large and 1.00 for the others; less where that was agreed on. */
async function january(
  name: string,
  { isCardChanged, isCardEmptied = false }: { readonly isCardChanged: boolean; readonly isCardEmptied?: boolean },
): Promise<string> {
  const database = join(stage.directory, name);
  const world = await createWorld({ database });
  await world.call('clock.set', { body: { to: '2026-01-02' } });
  const meterId = await createMeter(world, 'TOKENS', { groupKeys: ['model'] });
  const pricingIds = [await createPrice(world, meterId, { unitAmount: '9' })];
  const card = { rates: [{ dimensions: { model: 'large' }, unitAmount: '3' }], fallbackUnitAmount: '1' };
  await world.call('meters.setRateCard', { params: { meterId }, body: card });
  for (const [customer, model, unitAmount] of [
    ['acme'],
    ['globex', 'large', '2.5'],
    ['initech', 'tiny', '0.5'],
  ] as const) {
    const customerId = await createCustomer(world, customer);
    const overrides = model === undefined ? [] : [{ meterId, dimensions: { model }, unitAmount }];
    await createContract(world, { customerId, pricingIds, overrides });
    const used = ['large', 'small', 'tiny'].map((each) => ({ tokens: 10, model: each }));
    await send(world, ...used.map((properties) => ({ customerId, properties, timestamp: '2026-01-02T00:00:00Z' })));
  }
  if (isCardEmptied) await world.call('meters.setRateCard', { params: { meterId }, body: { rates: [] } });
  await world.call('clock.advance', { body: { to: '2026-02-01T01:00:00Z' } });
  if (isCardChanged) await world.call('meters.setRateCard', { params: { meterId }, body: newCard });
  await world.close();
  return database;
}

async function compared(database: string, ...flags: string[]): Promise<Compared> {
  const only = ['--to', '2026-02-01', '--database', database];
  const { stdout } = await stage.tally(['simulate', 'compare', ...only, ...flags, '-o', 'json']);
  return (JSON.parse(stdout) as { data: Compared }).data;
}
const catalog = (content: object) => {
  const path = saved('catalog.json', JSON.stringify(content));
  return ['--catalog', path];
};
const rows = ({ customers }: Compared) =>
  customers.map((row) => [row['customer'], row['billedCents'], row['beforeCents'], row['afterCents']]);

test('a contract is billed by the rates that it froze, whatever the rate card has become and a catalog leaves out', async () => {
  const useless = ['--grant', 'amount-cents=1,at=2026-01-01,expires-at=2026-01-01T00:00:00.001Z'];
  const unrelated = { products: [{ name: 'Seats' }] };
  for (const isCardChanged of [false, true]) {
    const database = await january(`frozen-${isCardChanged}.db`, { isCardChanged });
    for (const flags of [useless, catalog({}), catalog(unrelated)]) {
      const found = await compared(database, ...flags);
      expect(rows(found)).toEqual([
        ['acme', 5000, 5000, 5000],
        ['globex', 4500, 4500, 4500],
        ['initech', 4500, 4500, 4500],
      ]);
      expect(found.notes).toEqual([]);
    }
  }
});

test('under another rate card the rates stay that a contract agreed on, also of a combination that the card lists', async () => {
  const database = await january('agreed.db', { isCardChanged: false });
  const found = await compared(database, ...catalog({ rateCards: [{ meter: 'TOKENS', ...newCard }] }));
  // 40.00 for large, and 20.00 for each of the others.
  expect(rows(found)).toEqual([
    ['acme', 5000, 5000, 8000],
    ['globex', 4500, 4500, 6500],
    ['initech', 4500, 4500, 6500],
  ]);
  expect(found.notes).toEqual([]);
});

test('where the card has changed since, what a contract agreed on is guessed by what the card lists, and said', async () => {
  const database = await january('guessed.db', { isCardChanged: true });
  const found = await compared(database, ...catalog({ rateCards: [{ meter: 'TOKENS', ...newCard }] }));
  expect(rows(found)).toEqual([
    ['acme', 5000, 5000, 8000],
    ['globex', 4500, 4500, 6500],
    ['initech', 4500, 4500, 6500],
  ]);
  const guesses = found.notes.map(({ customer, note }) => [customer, note.slice(note.indexOf('those that'))]);
  expect(guesses).toEqual([
    ['acme', 'those that the card has today are taken to be of the card (1), the others to be agreed on (0)'],
    ['initech', 'those that the card has today are taken to be of the card (1), the others to be agreed on (1)'],
  ]);
});

test('a card that was emptied at the instant of its contracts, as a simulated clock allows, leaves none of them out', async () => {
  const database = await january('emptied.db', { isCardChanged: false, isCardEmptied: true });
  const found = await compared(database, ...catalog({}));
  expect(rows(found)).toEqual([
    ['acme', 5000, 5000, 5000],
    ['globex', 4500, 4500, 4500],
    ['initech', 4500, 4500, 4500],
  ]);
  expect(found.notes).toEqual([]);
});
