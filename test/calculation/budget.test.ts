import { describe, expect, test } from 'vitest';
import { budgetCapCents, type BudgetCaps, budgetUse, isOfBudget } from '../../src/calculation/budget.ts';
import { decimalText } from '../../src/calculation/money.ts';

describe('budget use', () => {
  test.each<[string, BudgetCaps, bigint, bigint | undefined, string, string, boolean]>([
    ['a cap in cents', { maxCreditsCents: 1000n }, 250n, 10n, '25', '25', false],
    ['a cap in credits', { maxCredits: '100' }, 250n, 10n, '25', '25', false],
    ['a cap that is just reached', { maxCreditsCents: 1000n }, 1000n, 10n, '100', '100', true],
    ['a cap that is exceeded', { maxCreditsCents: 300n }, 1000n, 10n, '100', '333.33', true],
    ['both caps: credits first', { maxCredits: '10', maxCreditsCents: 1000n }, 100n, 10n, '10', '100', true],
    ['both caps: cents first', { maxCredits: '100', maxCreditsCents: 100n }, 100n, 10n, '10', '100', true],
    ['a cap of 0', { maxCreditsCents: 0n }, 0n, 10n, '0', '100', true],
    ['no cap', { maxCredits: null, maxCreditsCents: null }, 5000n, 10n, '500', '0', false],
    ['no credit rate', { maxCredits: '1' }, 5000n, undefined, '0', '0', false],
    ['a cap of 0 credits without a credit rate', { maxCredits: '0' }, 0n, undefined, '0', '100', true],
    ['a cap in parts of a cent', { maxCredits: '0.35' }, 3n, 10n, '0.3', '85.71', false],
    ['thirds', { maxCreditsCents: 3n }, 2n, 3n, '0.666667', '66.67', false],
  ])('of %s', (_, caps, cents, rate, units, percent, isReached) => {
    const use = budgetUse(caps, cents, rate);
    expect([decimalText(use.consumedUnits), decimalText(use.percentConsumed), use.isReached]).toEqual([
      units,
      percent,
      isReached,
    ]);
  });

  test.each<[BudgetCaps, bigint | undefined, bigint | undefined]>([
    [{}, 10n, undefined],
    [{ maxCredits: '0.35' }, 10n, 3n],
    [{ maxCredits: '2', maxCreditsCents: 30n }, 10n, 20n],
    [{ maxCredits: '4', maxCreditsCents: 30n }, 10n, 30n],
    [{ maxCredits: '4' }, undefined, undefined],
    [{ maxCredits: '0' }, undefined, 0n],
  ])('%o at %s cents a credit lets credits pay %s cents', (caps, rate, cents) => {
    expect(budgetCapCents(caps, rate)).toBe(cents);
  });
});

test.each([
  [{ team: 'red' }, 'meter', undefined, true],
  [{ team: 'red' }, 'meter', null, true],
  [{ team: 'red' }, 'meter', 'meter', true],
  [{ team: 'red' }, 'other', 'meter', false],
  [{ team: 'blue' }, 'meter', undefined, false],
  [{}, 'meter', undefined, false],
])('usage of %j on %s is of a budget for team red and meter %s: %s', (properties, meterId, budgetMeter, expected) => {
  const budget = { eventPropertyKey: 'team', eventPropertyValue: 'red', meterId: budgetMeter };
  expect(isOfBudget(budget, { meterId, properties })).toBe(expected);
});
