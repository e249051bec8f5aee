/**
 * Group commit: writes of one turn that wait together share one transaction, because a commit that survives power loss costs
 * more than most writes. Each has a savepoint of its own, so that one that fails takes nothing with it, and none is answered
 * before the commit that covers it: what one of them reads may be what another has just written.
 */

import { CompiledQuery } from 'kysely';

import { limits } from '../../limits.ts';
import { turnOver } from '../../turns.ts';
import type { Transaction } from '../database.ts';
import { prepared } from '../prepared.ts';

interface Member {
  /** Rejects only where the whole transaction has to end. */
  readonly run: (tx: Transaction, isAlone: boolean) => Promise<void>;
  readonly answer: () => void;
  readonly fail: (error: unknown) => void;
}

export interface GroupCommitOptions {
  /** One transaction of a turn; may run the work several times, and keeps what the last time did. */
  readonly transact: (turn: string | undefined, work: (tx: Transaction) => Promise<void>) => Promise<void>;
  /** Whether what runs now cannot be committed any more, whatever is taken back. */
  readonly isSpoilt: () => boolean;
}

/** Gives a function that runs a change in the next transaction of its turn. */
export function createGroupCommit({ transact, isSpoilt }: GroupCommitOptions) {
  const waitingOf = new Map<string | undefined, Member[]>();

  async function runTurn(turn: string | undefined, waiting: Member[]): Promise<void> {
    // What arrives in one turn of the event loop is worth one commit.
    await turnOver();
    while (waiting.length > 0) await runGroup(turn, waiting);
    waitingOf.delete(turn);
  }

  async function runGroup(turn: string | undefined, waiting: Member[]): Promise<void> {
    const here = waiting.length;
    const members: Member[] = [];
    try {
      await transact(turn, async (tx) => {
        // The same ones again where the server found a conflict.
        for (let index = 0; index < limits.writesPerCommit; index += 1) {
          if (index === members.length) members.push(...waiting.splice(0, 1));
          const member = members[index];
          if (member === undefined) return;
          await member.run(tx, members.length === 1 && waiting.length === 0);
        }
      });
    } catch (error) {
      // Where it could not even begin, those that waited for it have waited as long as they may.
      for (const member of members.length > 0 ? members : waiting.splice(0, here)) member.fail(error);
      return;
    }
    for (const member of members) member.answer();
  }

  return async <T>(turn: string | undefined, change: (tx: Transaction) => Promise<T>): Promise<T> =>
    await new Promise<T>((resolve, reject) => {
      let answer = (): void => {};
      const member: Member = {
        run: async (tx, isAlone) => {
          if (!isAlone) await savepoint.set(tx);
          try {
            const value = await change(tx);
            answer = () => resolve(value);
          } catch (error) {
            if (isAlone || isSpoilt()) throw error;
            await savepoint.takeBack(tx);
            answer = () => reject(error);
          }
          if (!isAlone) await savepoint.release(tx);
        },
        answer: () => answer(),
        fail: reject,
      };
      const waiting = waitingOf.get(turn);
      if (waiting !== undefined) {
        waiting.push(member);
        return;
      }
      const first = [member];
      waitingOf.set(turn, first);
      void runTurn(turn, first);
    });
}

const savepoint = {
  set: statement('SAVEPOINT "member"'),
  takeBack: statement('ROLLBACK TO "member"'),
  release: statement('RELEASE "member"'),
};

function statement(text: string): (tx: Transaction) => Promise<unknown> {
  const run = prepared(() => ({ compile: () => CompiledQuery.raw(text) }));
  return async (tx) => await run(tx, {});
}
