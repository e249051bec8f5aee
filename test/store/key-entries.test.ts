import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import {
  bytesOf,
  type Entries,
  entriesOf,
  hashesOf,
  merged,
  noEntries,
  seqsOf,
} from '../../src/store/backends/sqlite/events/key-entries.ts';

type Pair = readonly [hash: number, seq: number];

/** Few hashes, so that some stand more than once; seqs of all 48 bits. */
const pairs = fc
  .uniqueArray(
    fc.tuple(
      fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 2 ** 52, max: 2 ** 53 - 1 })),
      fc.integer({ min: 1, max: 2 ** 48 - 1 }),
    ),
    { selector: ([, seq]) => seq, maxLength: 40 },
  )
  .map(sorted);

function sorted(found: readonly Pair[]): Pair[] {
  return found.toSorted(([a, one], [b, other]) => a - b || one - other);
}

function entriesFrom(found: readonly Pair[]): Entries {
  return {
    hashes: Float64Array.from(found, ([hash]) => hash),
    seqs: Float64Array.from(found, ([, seq]) => seq),
  };
}

describe('entries of keys', () => {
  test('come back from their bytes as they were', () => {
    fc.assert(
      fc.property(pairs, (found) => {
        const entries = entriesFrom(found);
        const bytes = bytesOf(entries);
        expect(bytes).toHaveLength(14 * found.length);
        expect(entriesOf(bytes)).toEqual(entries);
        expect(hashesOf(bytes)).toEqual(entries.hashes);
      }),
    );
  });

  test('are found in their bytes by hash, all of one and none of another', () => {
    fc.assert(
      fc.property(pairs, fc.nat({ max: 6 }), (found, absent) => {
        const bytes = bytesOf(entriesFrom(found));
        for (const wanted of [absent, ...found.map(([hash]) => hash)]) {
          expect(seqsOf(bytes, wanted)).toEqual(found.filter(([hash]) => hash === wanted).map(([, seq]) => seq));
        }
      }),
    );
  });

  test('of a part of an array have the bytes of that part', () => {
    const whole = entriesFrom([
      [1, 10],
      [2, 2 ** 40],
      [3, 30],
    ]);
    const part = { hashes: whole.hashes.subarray(1), seqs: whole.seqs.subarray(1) };
    expect(entriesOf(bytesOf(part))).toEqual({ hashes: Float64Array.of(2, 3), seqs: Float64Array.of(2 ** 40, 30) });
  });

  test('merged are those of both, in order', () => {
    fc.assert(
      fc.property(pairs, pairs, (one, other) => {
        expect(merged(entriesFrom(one), entriesFrom(other))).toEqual(entriesFrom(sorted([...one, ...other])));
      }),
    );
    expect(merged(noEntries, noEntries)).toEqual(noEntries);
  });
});
