/**
 * Group commit: writes that wait together share one transaction, each in a savepoint of its own, because a commit that
 * survives power loss costs more than most writes. None is answered before the commit that covers it: what one of them
 * reads may be what another has just written. One that fails takes nothing with it.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';

import { limits } from '../../limits.ts';
import type { Transaction } from '../database.ts';
import type { SqliteConnection } from './sqlite-connection.ts';

interface Member {
  /** Rejects only when the whole transaction is lost. */
  readonly run: (tx: Transaction) => Promise<void>;
  readonly answer: () => void;
  readonly fail: (error: unknown) => void;
}

/** Gives a function that runs a change in the next shared transaction; `transact` runs one transaction for writing. */
export function createGroupCommit(
  connection: SqliteConnection,
  transact: (work: (tx: Transaction) => Promise<void>) => Promise<void>,
): <T>(change: (tx: Transaction) => Promise<T>) => Promise<T> {
  const waiting: Member[] = [];
  let isRunning = false;

  async function runGroups(): Promise<void> {
    isRunning = true;
    // What arrives in one turn of the event loop is worth one commit.
    await nextTurn();
    while (waiting.length > 0) await runGroup();
    isRunning = false;
  }

  async function runGroup(): Promise<void> {
    const here = waiting.length;
    const members: Member[] = [];
    try {
      await transact(async (tx) => {
        while (members.length < limits.writesPerCommit) {
          const member = waiting.shift();
          if (member === undefined) return;
          members.push(member);
          await member.run(tx);
        }
      });
    } catch (error) {
      // Where it could not even begin, those that waited for it have waited as long as they may.
      for (const member of members.length > 0 ? members : waiting.splice(0, here)) member.fail(error);
      return;
    }
    for (const member of members) member.answer();
  }

  return async (change) =>
    await new Promise((resolve, reject) => {
      let answer = (): void => {};
      waiting.push({
        run: async (tx) => {
          connection.prepare('SAVEPOINT "member"').run();
          try {
            const value = await change(tx);
            answer = () => resolve(value);
          } catch (error) {
            if (!connection.isTransaction || connection.isBroken) throw error;
            connection.prepare('ROLLBACK TO "member"').run();
            answer = () => reject(error);
          }
          connection.prepare('RELEASE "member"').run();
        },
        answer: () => answer(),
        fail: reject,
      });
      if (!isRunning) void runGroups();
    });
}
