import { describe, expect, test } from 'vitest';

import type { Draw } from '../../src/calculation/ledger.ts';
import { type Drawn, explainLinePayments, type LinePaymentInput } from '../../src/calculation/line-payment.ts';
import { at, atom, grant, million } from './fixtures.ts';

function draw(grantId: string, cents: bigint, fields: Partial<Draw> = {}): Draw {
  return {
    invoiceId: 'invoice',
    lineKey: 'line',
    grantId,
    appliedCents: cents,
    amountCents: cents,
    creditMicros: 0n,
    ...fields,
  };
}

const drawn = (amountCents: bigint, creditMicros = 0n): Drawn => ({ amountCents, creditMicros });

function whys(input: Partial<LinePaymentInput>): string[] {
  return explainLinePayments({
    atoms: [atom(100n)],
    grants: [],
    draws: [],
    drawnBefore: new Map(),
    drawnInAll: new Map(),
    budgets: [],
    valuationRateCents: 1n,
    asOf: Temporal.Instant.from('2026-06-01T00:00:00Z'),
    ...input,
  }).map((payment) => payment.why);
}

const [small, large] = [
  grant({ grantId: 'small', originalCents: 40n }),
  grant({ grantId: 'large', originalCents: 500n }),
];
const budget = { eventPropertyKey: 'model', eventPropertyValue: 'x' };

describe('a grant that paid', () => {
  test.each<[string, Partial<LinePaymentInput>, string[]]>([
    ['all', { grants: [large], draws: [draw('large', 100n)] }, ['paid all of it']],
    [
      'what another left open',
      { grants: [small, large], draws: [draw('small', 40n), draw('large', 60n)] },
      ['paid until it was used up', 'paid what was still open'],
    ],
    [
      'with what earlier lines had left',
      { grants: [small], draws: [draw('small', 10n)], drawnBefore: new Map([['small', drawn(30n)]]) },
      ['paid until it was used up'],
    ],
    [
      'with what a later line left, which came to it in an earlier phase',
      { grants: [small], draws: [draw('small', 10n)], drawnInAll: new Map([['small', drawn(40n)]]) },
      ['paid until it was used up'],
    ],
    [
      'all that a cap leaves, and the rest to a later line',
      {
        grants: [small],
        draws: [draw('small', 10n)],
        drawnInAll: new Map([['small', drawn(40n)]]),
        atoms: [atom(100n, { properties: { model: 'x' } })],
        budgets: [budget],
      },
      ['paid the part that credits may pay'],
    ],
    ['a part alone', { grants: [large], draws: [draw('large', 15n)] }, ['paid the part that credits may pay']],
  ])('%s', (_case, input, expected) => {
    expect(whys(input)).toEqual(expected);
  });
});

describe('a grant that paid nothing', () => {
  const early = grant({ grantId: 'early', expiresAt: at('2026-01-15') });
  const free = grant({ grantId: 'free', originalCents: 0n, originalMicros: 5n * million });
  test.each<[string, Partial<LinePaymentInput>, string]>([
    ['of a line without cents', { atoms: [], grants: [large] }, 'there is nothing to pay'],
    ['had expired', { grants: [early] }, 'expired before this usage ended'],
    [
      'is for other usage',
      { grants: [grant({ grantId: 'other', specifiers: { eventNames: ['login'] } })] },
      'limited to other usage',
    ],
    [
      'is free, without a rate',
      { grants: [free], valuationRateCents: undefined },
      'free credits have no value here: the contract has no credit rate',
    ],
    ['was empty', { grants: [small], drawnBefore: new Map([['small', drawn(40n)]]) }, 'had nothing left'],
    [
      'was emptied by a later line, which came to it in an earlier phase',
      { grants: [small], drawnInAll: new Map([['small', drawn(40n)]]) },
      'had nothing left',
    ],
    [
      'is free, and empty',
      { grants: [free], drawnBefore: new Map([['free', drawn(0n, 5n * million)]]) },
      'had nothing left',
    ],
    [
      'is free, with less than half a cent left',
      { grants: [free], drawnBefore: new Map([['free', drawn(0n, 5n * million - 499_999n)]]) },
      'had credits left that are worth no cent',
    ],
    [
      'has a rate, and credits that are worth no cent',
      { grants: [grant({ grantId: 'dust', originalCents: 0n, originalMicros: 1n, creditRateCents: 10n })] },
      'had credits left that are worth no cent',
    ],
    [
      'met a cap',
      { grants: [large], atoms: [atom(100n, { properties: { model: 'x' } })], budgets: [budget] },
      'a budget caps the credits that this usage may take',
    ],
    [
      'met one of two caps, for a part of its usage',
      {
        grants: [large],
        atoms: [atom(60n), atom(40n, { properties: { model: 'x' } })],
        budgets: [budget, { ...budget, eventPropertyValue: 'y' }],
      },
      'a budget caps the credits that this usage may take',
    ],
    [
      'met no cap, since the budget is for other usage, but had lapsed',
      {
        grants: [
          grant({ grantId: 'old', originalCents: 500n, expiresAt: Temporal.Instant.from('2026-06-01T00:00:00Z') }),
        ],
        budgets: [budget],
      },
      'had lapsed before this usage came in',
    ],
    [
      'has not lapsed, and met no cap',
      { grants: [large], budgets: [budget] },
      'was granted after the invoice was finalized',
    ],
  ])('%s', (_case, input, expected) => {
    expect(whys(input)).toEqual([expected]);
  });

  test('stands behind grants that paid all of it', () => {
    const grants = [grant({ grantId: 'first' }), large];
    expect(whys({ grants, draws: [draw('first', 100n)] })).toEqual(['paid all of it', 'earlier grants paid all of it']);
  });

  test('may pay a part that grants before it have paid', () => {
    const atoms = [atom(60n), atom(40n, { phaseEnd: at('2026-03-01') })];
    const grants = [
      grant({ grantId: 'first', originalCents: 60n }),
      grant({ grantId: 'early', expiresAt: at('2026-02-01') }),
    ];
    expect(whys({ atoms, grants, draws: [draw('first', 60n)] })).toEqual([
      'paid until it was used up',
      'earlier grants paid all of it',
    ]);
  });
});

test('what was drawn is looked at for the grant that it was drawn on, and for no other', () => {
  let timesRead = 0;
  const draws = Array.from({ length: 50 }, (_, index) => ({
    ...draw(`grant ${index}`, 2n),
    get grantId() {
      timesRead += 1;
      return `grant ${index}`;
    },
  }));
  const grants = draws.map(({ grantId }) => grant({ grantId, originalCents: 9n }));
  timesRead = 0;
  expect(new Set(whys({ grants, draws }))).toEqual(new Set(['paid what was still open']));
  expect(timesRead).toBe(draws.length);
});
