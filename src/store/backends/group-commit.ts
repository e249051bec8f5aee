/**
 * Group commit: writes that wait together share one transaction, because a commit that survives power loss costs
 * more than most writes. One that fails takes nothing with it, and none is answered before the commit that covers it: what
 * one of them reads may be what another has just written. Most groups have none that fails, and savepoints cost a sixth of a
 * small write: so a group is begun without them, and where one fails it is taken back and run again, each in a savepoint.
 */

import { CompiledQuery } from 'kysely';

import { limits } from '../../limits.ts';
import { turnOver } from '../../turns.ts';
import type { Transaction } from '../database.ts';
import { prepared } from '../prepared.ts';

interface Member {
  /** Rejects only where the whole transaction has to end. */
  readonly run: (tx: Transaction, place: Place) => Promise<void>;
  readonly answer: () => void;
  readonly fail: (error: unknown) => void;
}

/** What a member knows of those that it shares a transaction with. */
interface Place {
  readonly isAlone: boolean;
  /** What it writes can be taken back by itself. */
  readonly isGuarded: boolean;
}

/** Thrown where a member that is not guarded has failed. */
class NeedsGuard extends Error {}

/** So many groups behind one that had to be run again are guarded from the beginning: who fails often, fails soon again. */
const guardedGroups = 8;

export interface GroupCommitOptions {
  /** One transaction of a turn; may run the work several times, and keeps what the last time did. */
  readonly transact: (turn: string | undefined, work: (tx: Transaction) => Promise<void>) => Promise<void>;
  /** Whether what runs now cannot be committed any more, whatever is taken back. */
  readonly isSpoilt: () => boolean;
}

/** Gives a function that runs a change in the next transaction of its turn. */
export function createGroupCommit({ transact, isSpoilt }: GroupCommitOptions) {
  const waitingOf = new Map<string | undefined, Member[]>();
  /** How many groups are still guarded from the beginning. */
  let guarded = 0;
  let membersBefore = 1;

  async function runTurn(turn: string | undefined, waiting: Member[]): Promise<void> {
    // What arrives in one turn of the event loop is worth one commit.
    await turnOver();
    while (waiting.length > 0) {
      // Where several write at a time, more are on their way. A single writer waits for nobody.
      if (waiting.length > 1 || membersBefore > 1) await gather(waiting);
      await runGroup(turn, waiting);
    }
    waitingOf.delete(turn);
  }

  async function runGroup(turn: string | undefined, waiting: Member[]): Promise<void> {
    const here = waiting.length;
    const members: Member[] = [];
    const attempt = async (isGuarded: boolean): Promise<void> => {
      await transact(turn, async (tx) => {
        // The same ones again where the server found a conflict, or one of them has failed.
        for (let index = 0; index < limits.writesPerCommit; index += 1) {
          if (index === members.length) members.push(...waiting.splice(0, 1));
          const member = members[index];
          if (member === undefined) return;
          await member.run(tx, { isAlone: members.length === 1 && waiting.length === 0, isGuarded });
        }
      });
    };
    try {
      await guardedWhereNeeded(attempt);
    } catch (error) {
      // Where it could not even begin, those that waited for it have waited as long as they may.
      for (const member of members.length > 0 ? members : waiting.splice(0, here)) member.fail(error);
      return;
    }
    for (const member of members) member.answer();
    membersBefore = members.length;
  }

  async function guardedWhereNeeded(attempt: (isGuarded: boolean) => Promise<void>): Promise<void> {
    if (guarded > 0) {
      guarded -= 1;
      await attempt(true);
      return;
    }
    try {
      await attempt(false);
    } catch (error) {
      if (!(error instanceof NeedsGuard)) throw error;
      guarded = guardedGroups;
      await attempt(true);
    }
  }

  return async <T>(turn: string | undefined, change: (tx: Transaction) => Promise<T>): Promise<T> =>
    await new Promise<T>((resolve, reject) => {
      let answer = (): void => {};
      const member: Member = {
        run: async (tx, { isAlone, isGuarded }) => {
          const hasSavepoint = isGuarded && !isAlone;
          if (hasSavepoint) await savepoint.set(tx);
          try {
            const value = await change(tx);
            answer = () => resolve(value);
          } catch (error) {
            if (isAlone || isSpoilt()) throw error;
            if (!hasSavepoint) throw new NeedsGuard('a write of a group has failed', { cause: error });
            await savepoint.takeBack(tx);
            answer = () => reject(error);
          }
          if (hasSavepoint) await savepoint.release(tx);
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

/** Waits as long as others keep coming, and there is room for them. */
async function gather(waiting: readonly Member[]): Promise<void> {
  for (let quietTurns = 0; quietTurns < limits.quietTurns && waiting.length < limits.writesPerCommit;) {
    const before = waiting.length;
    await turnOver();
    quietTurns = waiting.length > before ? 0 : quietTurns + 1;
  }
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
