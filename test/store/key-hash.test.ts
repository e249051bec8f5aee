import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { createKeyFilter, type KeyFilter } from '../../src/store/backends/sqlite/events/key-filter.ts';
import { createKeyHash, createKeyHashes } from '../../src/store/backends/sqlite/events/key-hash.ts';

describe('the number of a key', () => {
  // Databases hold these: a change would lose every key that is stored.
  test.each([
    ['org-a', 'k', 6_766_745_131_489_899],
    ['org-b', 'k', 8_995_126_081_333_722],
    ['01900000-0000-7000-8000-000000000001', 'request-1', 1_038_507_244_682_263],
    ['o', 'é\u{1F600}', 1_232_069_879_497_885],
    ['', '', 3_338_908_027_751_811],
  ])('of %j and %j is what it has always been', (orgId, key, hash) => {
    expect(createKeyHash(orgId)(key)).toBe(hash);
    expect(createKeyHashes()(orgId, key)).toBe(hash);
  });

  test('is a whole number of 53 bits, and other for other keys', () => {
    const hash = createKeyHash('org');
    const seen = new Set(Array.from({ length: 100_000 }, (_, index) => hash(`key-${index}`)));
    expect(seen.size).toBe(100_000);
    expect([...seen].every((each) => Number.isSafeInteger(each) && each >= 0)).toBe(true);
  });
});

describe('a filter of keys', () => {
  const hash = createKeyHash('org');
  /** How many of 20,000 that were not added. */
  const takenOf = ({ mayHave }: KeyFilter): number =>
    Array.from({ length: 20_000 }, (_, index) => mayHave(hash(`stranger-${index}`))).filter(Boolean).length;

  test('never forgets what was added, however far it grows', () => {
    const key = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
    fc.assert(
      fc.property(fc.array(key), (keys) => {
        const filter = createKeyFilter(0);
        for (const each of keys) filter.add(each);
        expect(keys.every(filter.mayHave)).toBe(true);
      }),
    );
  });

  test('takes few for known that were not added, and none when it is empty', () => {
    const filter = createKeyFilter(0);
    expect(filter.mayHave(hash('stranger'))).toBe(false);
    for (let index = 0; index < 1_100_000; index += 1) filter.add(hash(`key-${index}`));
    expect(filter.mayHave(hash('key-0')) && filter.mayHave(hash('key-1099999'))).toBe(true);
    expect(takenOf(filter)).toBeLessThan(200);
  });

  test.each([
    ['in their order', (hashes: Float64Array) => hashes.sort()],
    ['in any order', (hashes: Float64Array) => hashes],
  ])('takes few strangers for known where all that it expected were added %s', (_order, arranged) => {
    const expected = 1_200_000;
    const filter = createKeyFilter(expected);
    const hashes = Float64Array.from({ length: expected }, (_, index) => hash(`key-${index}`));
    for (const each of arranged(hashes)) filter.add(each);
    expect(hashes.every(filter.mayHave)).toBe(true);
    expect(takenOf(filter)).toBeLessThan(100);
  });

  test('forgets neither the smallest nor the largest of numbers', () => {
    const filter = createKeyFilter(1_300_001);
    const ends = [0, 1, Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER];
    for (const each of ends) filter.add(each);
    expect(ends.every(filter.mayHave)).toBe(true);
  });
});
