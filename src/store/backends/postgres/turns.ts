/**
 * NamedTurns: work of one turn runs one after another, work of different turns side by side, and work without a turn alone.
 * Work begins in order of arrival, except that work that has to wait does not hold up other turns.
 */

export interface NamedTurns {
  /** Does `work` when its turn has come; with an undefined turn, when nothing else is running. */
  take<T>(turn: string | undefined, work: () => Promise<T>): Promise<T>;
  /** Whether work of this turn would begin at once. */
  isFree(turn: string | undefined): boolean;
}

interface Waiting {
  readonly turn: string | undefined;
  readonly begin: () => void;
}

export function createNamedTurns(): NamedTurns {
  const running = new Set<string>();
  let isAlone = false;
  let waiting: Waiting[] = [];

  /** Whether nothing that runs is in the way of a turn, but for work that is alone. */
  const isIdle = (turn: string | undefined): boolean => (turn === undefined ? running.size === 0 : !running.has(turn));

  function beginNext(): void {
    const still: Waiting[] = [];
    let isHeld = isAlone;
    for (const each of waiting) {
      const { turn } = each;
      if (!isHeld && isIdle(turn)) {
        if (turn === undefined) isAlone = isHeld = true;
        else running.add(turn);
        each.begin();
        continue;
      }
      still.push(each);
      // Nothing begins behind work that waits to be alone, or that work would wait for ever.
      if (turn === undefined) isHeld = true;
    }
    waiting = still;
  }

  return {
    isFree: (turn) => !isAlone && waiting.length === 0 && isIdle(turn),
    async take(turn, work) {
      await new Promise<void>((resolve) => {
        waiting.push({ turn, begin: resolve });
        beginNext();
      });
      try {
        return await work();
      } finally {
        if (turn === undefined) isAlone = false;
        else running.delete(turn);
        beginNext();
      }
    },
  };
}
