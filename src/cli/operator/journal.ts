/** The operator journal of this user: one file for all profiles and databases, appended to by every write. */

import { join } from 'node:path';

import { BillingError } from '../../errors.ts';
import { once } from '../../once.ts';
import { createGrantHistory } from './grant-history.ts';
import type { GrantHistory } from './grant-history.ts';
import { createJournalFile } from './journal-file.ts';
import type { Follower } from './journal-file.ts';
import { lineOf, readLine } from './journal-line.ts';
import type { Clean, JournalFacts } from './journal-line.ts';
import type { Machine } from '../target/private-file.ts';
import { redact, withoutSecrets } from '../terminal/redact.ts';
import { valueAt } from '../wire/rows.ts';

export interface Journal {
  /** Throws a usage error if nothing could be written, before there is something to write. */
  prepare(): Promise<void>;
  /** Resolves once the line is on the disk. */
  record(facts: JournalFacts): Promise<void>;
  /** The same, decided from all earlier lines while no other process can write. Rejects with what `facts` throws. */
  decide(facts: (history: GrantHistory) => JournalFacts): Promise<void>;
  /** What is known up to now. */
  history(): Promise<GrantHistory>;
}

/** Where the journal of a data directory is. */
export function journalPath(dataDirectory: string): string {
  return join(dataDirectory, 'journal', 'journal.jsonl');
}

/**
 * Bytes of lines that are read again and again before what they tell is kept anew: some hundred grants, or in a long journal
 * such a part of it that what is written grows no faster than the journal.
 */
const mostReadAgain = (allBytes: number): number => Math.max(256 * 1024, allBytes / 16);

interface Waiting {
  readonly facts: (history: GrantHistory) => JournalFacts | undefined;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Lines that wait at the same time are written together, to avoid a wait for the disk per line in bulk work. */
export function createJournal(path: string, machine: Machine, secrets: readonly string[] = []): Journal {
  const file = createJournalFile(path, machine);
  const keptPath = `${path}.known`;
  let history = createGrantHistory();
  const clean: Clean = (text, isName = false) => (isName ? withoutSecrets(text, secrets) : redact(text, secrets));
  let waiting: Waiting[] = [];
  let isWriting = false;
  let follower: Follower | undefined;
  let hasWritten = false;

  async function write(): Promise<void> {
    isWriting = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        const settled = await writeTogether(batch);
        for (const settle of settled) settle();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isWriting = false;
  }

  async function writeTogether(batch: readonly Waiting[]): Promise<(() => void)[]> {
    const settled: (() => void)[] = [];
    const following = follower;
    await file.hold((append) => {
      for (const { facts, resolve, reject } of batch) {
        try {
          const line = facts(history);
          if (line?.state === 'begun') refuseUnkept(line, clean);
          if (line !== undefined) append((previous) => lineOf(line, previous, clean));
          if (line !== undefined && following !== undefined) {
            history.observe(line);
            hasWritten = true;
          }
          settled.push(resolve);
        } catch (error) {
          settled.push(() => reject(error));
        }
      }
    }, following);
    return settled;
  }

  const follow = once(async () => {
    const { keepHistory, readKeptHistory } = await import('./kept-history.ts');
    const kept = readKeptHistory(keptPath, machine);
    if (kept !== undefined && file.startAfter(kept.mark)) history = createGrantHistory(kept.known);
    follower = {
      onLine(text) {
        const line = readLine(text);
        if (line !== undefined) history.observe(line);
      },
      onShown(bytes, mark) {
        // Later it also knows lines of its own as they were before secrets were removed.
        if (hasWritten || mark === undefined || bytes <= mostReadAgain(mark.bytes)) return;
        keepHistory(keptPath, { mark, known: history.known });
      },
    };
  });

  async function enqueue(facts: Waiting['facts']): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      waiting.push({ facts, resolve, reject });
      if (!isWriting) void write();
    });
  }

  return {
    prepare: async () => await enqueue(() => undefined),
    record: async (facts) => await enqueue(() => facts),
    async decide(facts) {
      await follow();
      await enqueue(facts);
    },
    async history() {
      await follow();
      await enqueue(() => undefined);
      return history;
    },
  };
}

/** Throws a usage error if a call could not be sent again as it was: with another external id it would be made twice. */
function refuseUnkept({ externalId, body }: JournalFacts, clean: Clean): void {
  const kept = JSON.stringify([externalId, valueAt(body, 'specifiers')]);
  if (clean(kept) === kept) return;
  const what = clean(externalId ?? '') === (externalId ?? '') ? 'a specifier' : 'the external id';
  throw new BillingError('usage', `${what} has the form of a key, which the journal does not keep: nothing was sent`, {
    hint: 'use another: an unfinished grant is sent again as it stands in the journal',
  });
}
