/**
 * Shared reading: reads that wait together share one snapshot, because to begin and to end a transaction costs more than most
 * of them do. It is taken after the last of them has come, so that none sees less than it would have seen alone.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';

import type { Transaction } from '../database.ts';

interface Member {
  /** Never rejects; gives what answers the reader. */
  readonly run: (tx: Transaction) => Promise<() => void>;
  readonly fail: (error: unknown) => void;
}

export interface SharedReadingOptions {
  /** One transaction. */
  readonly transact: (work: (tx: Transaction) => Promise<void>) => Promise<void>;
  /** Whether what runs now is no longer one snapshot. */
  readonly isSpoilt: () => boolean;
}

/** Gives a function that runs a query in the next transaction. */
export function createSharedReading({ transact, isSpoilt }: SharedReadingOptions) {
  let waiting: Member[] = [];

  function join(...members: readonly Member[]): void {
    waiting.push(...members);
    if (waiting.length === members.length) void runGroup();
  }

  async function runGroup(): Promise<void> {
    // What arrives in one turn of the event loop is worth one snapshot.
    await nextTurn();
    let members: Member[] | undefined;
    let answer = (): void => {};
    try {
      await transact(async (tx) => {
        [members, waiting] = [waiting, []];
        for (let member = members.shift(); member !== undefined; member = isSpoilt() ? undefined : members.shift()) {
          answer();
          answer = await member.run(tx);
        }
      });
    } catch (error) {
      // Where it could not even begin. What went wrong later is the answer of a reader.
      if (members === undefined) for (const member of waiting.splice(0)) member.fail(error);
    }
    // After the end: where nobody else reads, nothing is open any more.
    answer();
    if (members !== undefined && members.length > 0) join(...members);
  }

  return <T>(query: (tx: Transaction) => Promise<T>): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      join({
        run: async (tx) => {
          try {
            const value = await query(tx);
            return () => resolve(value);
          } catch (error) {
            return () => reject(error);
          }
        },
        fail: reject,
      });
    });
}
