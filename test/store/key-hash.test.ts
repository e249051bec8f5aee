import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { createKeyFilter } from '../../src/store/backends/sqlite/events/key-filter.ts';
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
    const hash = createKeyHash('org');
    const filter = createKeyFilter(0);
    expect(filter.mayHave(hash('stranger'))).toBe(false);
    for (let index = 0; index < 1_100_000; index += 1) filter.add(hash(`key-${index}`));
    expect(filter.mayHave(hash('key-0')) && filter.mayHave(hash('key-1099999'))).toBe(true);
    const taken = Array.from({ length: 20_000 }, (_, index) => filter.mayHave(hash(`stranger-${index}`)));
    expect(taken.filter(Boolean).length).toBeLessThan(200);
  });
});
