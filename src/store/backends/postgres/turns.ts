/**
 * NamedTurns: work of one turn is done one after another, work of different turns side by side, and work without a turn alone. In
 * the order in which it came, but that what cannot begin yet does not hold up what is of another turn.
 */

export interface NamedTurns {
  /** Does `work` when its turn has come; undefined waits until nothing else is done. */
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

  function beginNext(): void {
    const still: Waiting[] = [];
    let isHeld = isAlone;
    for (const each of waiting) {
      const { turn } = each;
      const isFree = turn === undefined ? running.size === 0 : !running.has(turn);
      if (!isHeld && isFree) {
        if (turn === undefined) isAlone = isHeld = true;
        else running.add(turn);
        each.begin();
        continue;
      }
      still.push(each);
      // Behind work that waits to be alone nothing begins, or it would wait for ever.
      if (turn === undefined) isHeld = true;
    }
    waiting = still;
  }

  return {
    isFree: (turn) =>
      !isAlone && waiting.length === 0 && (turn === undefined ? running.size === 0 : !running.has(turn)),
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
