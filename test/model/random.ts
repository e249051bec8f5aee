/** Numbers that follow from a seed alone, and choices made with them. */

export interface Random {
  /** A whole number from 0 up to `bound`, which is excluded. */
  readonly below: (bound: number) => number;
  readonly chance: (percent: number) => boolean;
  readonly pick: <T>(list: readonly T[]) => T;
  readonly pickOr: <T>(list: readonly T[], otherwise: T) => T;
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const below = (bound: number): number => next() % bound;
  const pickOr = <T>(list: readonly T[], otherwise: T): T =>
    list.length === 0 ? otherwise : (list[below(list.length)] as T);
  return {
    below,
    chance: (percent) => below(100) < percent,
    pick: (list) => {
      if (list.length === 0) throw new TypeError('nothing to pick from');
      return list[below(list.length)] as (typeof list)[number];
    },
    pickOr,
  };
}
