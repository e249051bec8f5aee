import { describe, expect, test } from 'vitest';

import { takenBy } from '../../src/engine/usage-attribution.ts';

const coverage = (contractId: string, days: readonly [number, number], meterIds: readonly string[] = ['calls']) => ({
  contractId,
  fromEpochMs: days[0],
  toEpochMs: days[1],
  meterIds: new Set(meterIds),
});

describe('contracts take the usage of a meter that names none of them', () => {
  test.each([
    {
      words: 'apart',
      days: [
        [1, 2],
        [4, 6],
      ],
      taken: [
        [1, 2],
        [4, 6],
      ],
    },
    {
      words: 'one behind the other',
      days: [
        [1, 4],
        [4, 6],
      ],
      taken: [[1, 6]],
    },
    {
      words: 'at the same time',
      days: [
        [1, 4],
        [1, 4],
        [1, 4],
      ],
      taken: [[1, 4]],
    },
    {
      words: 'one within another',
      days: [
        [1, 9],
        [2, 3],
        [5, 9],
      ],
      taken: [[1, 9]],
    },
    {
      words: 'in another order than they were made',
      days: [
        [7, 9],
        [1, 3],
        [2, 7],
      ],
      taken: [[1, 9]],
    },
    {
      words: 'never, where one ended as it began',
      days: [
        [5, 5],
        [7, 6],
      ],
      taken: [],
    },
  ] as const)('$words', ({ days, taken }) => {
    const contracts = days.map((each, index) => coverage(`contract${index}`, each));
    const expected = taken.map(([fromEpochMs, toEpochMs]) => ({ fromEpochMs, toEpochMs }));
    expect(takenBy(contracts, 'calls')).toEqual(expected);
    // Contracts share what was found out of them.
    expect(takenBy(contracts, 'calls')).toEqual(expected);
  });

  test('of another meter they take nothing', () => {
    const contracts = [coverage('a', [1, 3], ['storage']), coverage('b', [2, 4]), coverage('c', [5, 7])];
    expect(takenBy(contracts, 'calls')).toEqual([
      { fromEpochMs: 2, toEpochMs: 4 },
      { fromEpochMs: 5, toEpochMs: 7 },
    ]);
  });
});
