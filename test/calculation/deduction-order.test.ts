import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareDeduction, explainDeductionOrder } from '../../src/calculation/deduction-order.ts';
import { isSpecified, usageDimensionsOf } from '../../src/calculation/specifiers.ts';
import { at, atom, grant } from './fixtures.ts';

const march = at('2026-03-01');

test.each([
  ['soonest expiry first', { expiresAt: march }, { expiresAt: at('2026-04-01') }],
  ['no expiry last', { expiresAt: march, isPromotional: false }, { expiresAt: undefined }],
  ['promotional before paid of the same expiry', { isPromotional: true }, { isPromotional: false }],
  [
    'the cheaper of two paid',
    { isPromotional: false, purchaseRateCents: 5n },
    { isPromotional: false, purchaseRateCents: 9n },
  ],
  ['the older of two alike', {}, { createdAt: at('2026-01-02') }],
  ['by id in the end', { grantId: 'a' }, { grantId: 'b' }],
  [
    'an early paid one before a late promotional one',
    { isPromotional: false, expiresAt: march },
    { expiresAt: at('2026-04-01') },
  ],
])('%s', (_, first, second) => {
  // Their ids alone would put them the other way round.
  const wanted = [grant({ grantId: 'b', ...first }), grant({ grantId: 'a', ...second })];
  expect(wanted.toReversed().toSorted(compareDeduction)).toEqual(wanted);
});

test('the explanation names the rule that put a grant behind the one before', () => {
  const paid = { isPromotional: false, expiresAt: march };
  const grants = [
    grant({ ...paid, grantId: 'dear', purchaseRateCents: 9n }),
    grant({ grantId: 'endless' }),
    grant({ ...paid, grantId: 'paid', purchaseRateCents: 5n }),
    grant({ grantId: 'twin', expiresAt: march, createdAt: at('2026-01-02') }),
    grant({ grantId: 'later', expiresAt: march, createdAt: at('2026-01-02') }),
    grant({ grantId: 'free', expiresAt: march }),
  ];
  expect(explainDeductionOrder(grants).map(({ rank, grant, reason }) => [rank, grant.grantId, reason])).toEqual([
    [1, 'free', 'first in the order'],
    [2, 'later', 'otherwise equal, but granted 2026-01-02T00:00:00Z, after 2026-01-01T00:00:00Z'],
    [3, 'twin', 'equal and granted at the same instant: ordered by id'],
    [4, 'paid', 'same expiry, but paid: promotional credits go first'],
    [5, 'dear', 'same expiry and kind, bought at 9 cents a credit, above 5'],
    [6, 'endless', 'expires never, after 2026-03-01T00:00:00Z'],
  ]);
});

test('the order is total: any shuffle of any grants ends the same', () => {
  const grants = fc.array(
    fc.record({
      grantId: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      expiresAt: fc.constantFrom(undefined, march, at('2026-04-01')),
      isPromotional: fc.boolean(),
      purchaseRateCents: fc.constantFrom(0n, 5n),
      createdAt: fc.constantFrom(march, at('2026-01-02')),
    }),
    { maxLength: 6 },
  );
  fc.assert(
    fc.property(grants, (given) => {
      const unique = [...new Map(given.map((one) => [one.grantId, one])).values()];
      expect(unique.toReversed().toSorted(compareDeduction)).toEqual(unique.toSorted(compareDeduction));
    }),
    { numRuns: 100 },
  );
});

test.each([
  ['nothing given', undefined, true],
  ['no member', {}, true],
  ['the meter', { meterIds: ['other', 'meter'] }, true],
  ['another meter', { meterIds: ['other'] }, false],
  ['an empty list', { meterIds: [] }, false],
  ['meter and another product', { meterIds: ['meter'], productIds: ['other'] }, false],
  ['another pricing', { pricingIds: ['other'] }, false],
  ['pricing and event name', { pricingIds: ['pricing'], eventNames: ['call'] }, true],
  ['one property value', { properties: { team: 'red' } }, true],
  ['one of several values', { properties: { team: ['blue', 'red'] } }, true],
  ['two properties, one missing', { properties: { team: 'red', region: 'eu' } }, false],
  ['a name that every object has', { properties: { constructor: 'x' } }, false],
])('a grant limited by %s pays for red usage: %s', (_, specifiers, isPaid) => {
  expect(isSpecified(specifiers, atom(1n, { properties: { team: 'red' } }))).toBe(isPaid);
});

test('readings are told apart by what specifiers and budgets ask about', () => {
  const grants = [
    grant({ grantId: 'a', specifiers: { properties: { team: 'red', region: ['eu'] } } }),
    grant({ grantId: 'b', specifiers: { eventNames: ['call'] } }),
  ];
  const budgets = [{ eventPropertyKey: 'model' }, { eventPropertyKey: 'team' }];
  expect(usageDimensionsOf(grants, budgets)).toEqual({
    needsEventName: true,
    propertyKeys: ['model', 'region', 'team'],
  });
  expect(usageDimensionsOf([grant({ grantId: 'c' })], [])).toEqual({ needsEventName: false, propertyKeys: [] });
});
