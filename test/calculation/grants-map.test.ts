import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { noGrants } from '../../src/calculation/grants-map.ts';
import { newTotals } from '../../src/calculation/ledger.ts';
import type { GrantTotals } from '../../src/calculation/ledger.ts';
import { entry } from './fixtures.ts';

/** What is set in one copy, each behind the one before. */
const copies = fc.array(fc.array(fc.record({ id: fc.nat(40), cents: fc.nat(9) }), { maxLength: 6 }), { maxLength: 30 });

function totalsOf(id: string, cents: number): GrantTotals {
  return newTotals(entry({ id, type: 'grant', amountCents: BigInt(cents) }));
}

describe('grants that are gone on from', () => {
  test('are those of a map that is copied whole, in its order', () => {
    fc.assert(
      fc.property(copies, (steps) => {
        let map = new Map<string, GrantTotals>();
        let grants = noGrants;
        for (const step of steps) {
          map = new Map(map);
          const next = grants.copy();
          for (const { id, cents } of step) {
            map.set(`g${id}`, totalsOf(`g${id}`, cents));
            next.set(`g${id}`, totalsOf(`g${id}`, cents));
          }
          grants = next;
          expect([...grants.values()]).toEqual([...map.values()]);
          expect(grants.size).toBe(map.size);
        }
        for (let id = 0; id <= 40; id += 1) expect(grants.get(`g${id}`)).toEqual(map.get(`g${id}`));
      }),
    );
  });

  test('stay as they are when a copy is changed', () => {
    fc.assert(
      fc.property(copies, copies, (before, after) => {
        const setAll = (steps: typeof before, from: typeof noGrants) =>
          steps.reduce((grants, step) => {
            const next = grants.copy();
            for (const { id, cents } of step) next.set(`g${id}`, totalsOf(`g${id}`, cents));
            return next;
          }, from);
        const grants = setAll(before, noGrants);
        const was = [...grants.values()];
        setAll(after, grants);
        expect([...grants.values()]).toEqual(was);
      }),
    );
  });

  test('may be changed while they are gone through: each is met once', () => {
    const first = noGrants.copy();
    for (const id of ['a', 'b', 'c', 'd', 'e']) first.set(id, totalsOf(id, 1));
    const grants = first.copy().copy();
    const met: string[] = [];
    for (const { grant } of grants.values()) {
      met.push(grant.id);
      grants.set(grant.id, totalsOf(grant.id, 2));
    }
    expect(met).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect([...grants.values()].every((each) => each.remainingCents === 2n)).toBe(true);
  });
});
