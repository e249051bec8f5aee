import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { planSettlement } from '../../src/calculation/settlement-plan.ts';
import { burn, draw, free, rated } from './burn-down-fixtures.ts';
import { at, atom, grant } from './fixtures.ts';

describe('any burn-down', () => {
  const days = fc.constantFrom('2026-01-05', '2026-01-15', '2026-01-25', '2026-02-01');
  const grants = fc.array(
    fc.record({
      cents: fc.bigInt({ min: 1n, max: 500n }),
      kind: fc.constantFrom('rated', 'dollars', 'free'),
      rate: fc.bigInt({ min: 1n, max: 30n }),
      isPromotional: fc.boolean(),
      expiresAt: fc.option(days.map(at), { nil: undefined }),
      specifiers: fc.constantFrom(undefined, { properties: { team: 'red' } }, { meterIds: ['meter'] }),
    }),
    { maxLength: 5 },
  );
  const usages = fc.array(
    fc.record({
      cents: fc.bigInt({ min: 1n, max: 400n }),
      lineKey: fc.constantFrom('a', 'b'),
      periodIndex: fc.constantFrom(0, 1),
      team: fc.constantFrom('red', 'blue'),
      phaseEnd: days.map(at),
    }),
    { maxLength: 8 },
  );
  const caps = fc.option(fc.bigInt({ min: 0n, max: 600n }), { nil: undefined });

  test('draws what there is and no more, keeps no dust, respects caps, and is repeated to the cent', () => {
    fc.assert(
      fc.property(grants, usages, caps, (givenGrants, givenUsage, maxCreditsCents) => {
        const wallet = givenGrants.map(({ cents, kind, rate, ...fields }, index) => {
          const grantId = `g${index}`;
          if (kind === 'rated') return rated(grantId, cents, rate, fields);
          return { ...(kind === 'free' ? free(grantId, cents) : grant({ grantId, originalCents: cents })), ...fields };
        });
        const usage = givenUsage.map(({ cents, team, periodIndex, ...fields }) =>
          atom(cents, { ...fields, periodIndex, invoiceId: `i${periodIndex}`, properties: { team } }),
        );
        const budgets = [
          {
            eventPropertyKey: 'team',
            eventPropertyValue: 'red',
            maxCreditsCents,
            consumedBeforeCents: 0n,
          },
        ];
        const input = { usage, grants: wallet, budgets, valuationRateCents: 7n };
        const draws = burn(input);
        for (const state of wallet) {
          const own = draws.filter((one) => one.grantId === state.grantId);
          const cents = own.reduce((sum, one) => sum + one.amountCents, 0n);
          const micros = own.reduce((sum, one) => sum + one.creditMicros, 0n);
          expect(own.every((one) => one.appliedCents > 0n && one.creditMicros >= 0n)).toBe(true);
          expect(cents <= state.originalCents && micros <= state.originalMicros).toBe(true);
          if (state.creditRateCents > 0n) expect(cents === state.originalCents).toBe(micros === state.originalMicros);
        }
        for (const [invoiceId, own] of Map.groupBy(usage, (one) => one.invoiceId)) {
          const paid = draws.filter((one) => one.invoiceId === invoiceId);
          const open = own.reduce((sum, one) => sum + one.cents, 0n);
          expect(paid.reduce((sum, one) => sum + one.appliedCents, 0n) <= open).toBe(true);
        }
        const redOnly = burn({ ...input, usage: usage.filter((one) => one.properties.team === 'red') });
        const redSpent = redOnly.reduce((sum, one) => sum + one.appliedCents, 0n);
        expect(maxCreditsCents === undefined || redSpent <= maxCreditsCents).toBe(true);
        expect(burn({ ...input, grants: wallet.toReversed() })).toEqual(draws);
        const openDraws = draws.map((one) => draw({ ...one, entries: [] }));
        expect(planSettlement(burn({ ...input, openDraws }), openDraws)).toEqual({ reversals: [], usage: [] });
      }),
      { numRuns: 200 },
    );
  });

  test('never passes over an earlier grant that could pay', () => {
    fc.assert(
      fc.property(grants, fc.bigInt({ min: 1n, max: 2000n }), (givenGrants, cents) => {
        const wallet = givenGrants.map((one, index) =>
          grant({ grantId: `g${index}`, originalCents: one.cents, expiresAt: one.expiresAt }),
        );
        const draws = burn({ grants: wallet, usage: [atom(cents, { phaseEnd: at('2026-01-05') })] });
        const whole = wallet.reduce((sum, one) => sum + one.originalCents, 0n);
        const spent = draws.reduce((sum, one) => sum + one.appliedCents, 0n);
        expect(spent).toBe(whole < cents ? whole : cents);
        const partial = draws.filter((one) =>
          wallet.some((state) => state.grantId === one.grantId && one.amountCents < state.originalCents),
        );
        expect(partial.every((one) => one === draws.at(-1))).toBe(true);
      }),
      { numRuns: 100 },
    );
  });
});
