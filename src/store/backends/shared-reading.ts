/**
 * Shared reading: reads that wait together share one snapshot, because beginning and ending a transaction costs more than most
 * reads do. The snapshot is taken after the last of them has arrived, so that none sees less than it would have seen alone.
 */

import { limits } from '../../limits.ts';
import { turnOver } from '../../turns.ts';
import type { Transaction } from '../database.ts';

interface Member {
  /** Never rejects; gives the function that answers the reader. */
  readonly run: (tx: Transaction) => Promise<() => void>;
  readonly fail: (error: unknown) => void;
}

export interface SharedReadingOptions {
  /** One transaction. */
  readonly transact: (work: (tx: Transaction) => Promise<void>) => Promise<void>;
  /** Whether the running transaction is no longer one snapshot. */
  readonly isSpoilt: () => boolean;
}

/** Gives a function that runs a query in the next transaction. */
export function createSharedReading({ transact, isSpoilt }: SharedReadingOptions) {
  const waiting: Member[] = [];
  let isUnderWay = false;

  async function runTurns(): Promise<void> {
    isUnderWay = true;
    while (waiting.length > 0) {
      // All reads that arrive in one turn of the event loop share a snapshot.
      await turnOver();
      await runGroup();
    }
    isUnderWay = false;
  }

  async function runGroup(): Promise<void> {
    let members: Member[] | undefined;
    const answers: (() => void)[] = [];
    try {
      await transact(async (tx) => {
        members = waiting.splice(0, limits.readsPerSnapshot);
        for (let member = members.shift(); member !== undefined; member = isSpoilt() ? undefined : members.shift()) {
          answers.push(await member.run(tx));
        }
      });
    } catch (error) {
      // The transaction could not even begin. Later errors are the answer of a single reader.
      if (members === undefined) for (const member of waiting.splice(0)) member.fail(error);
    }
    waiting.unshift(...(members ?? []));
    // After the end, when nothing is open any more; and all at once, because readers then go on to work other than reading.
    for (const answer of answers) answer();
  }

  return <T>(query: (tx: Transaction) => Promise<T>): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      waiting.push({
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
      if (!isUnderWay) void runTurns();
    });
}
