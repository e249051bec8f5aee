/** Reliability 7, C2: a command is killed between every two of its statements; it is complete or absent, never half. */

import { join } from 'node:path';

import { beforeAll, describe, expect, test } from 'vitest';

import { newDirectory } from '../support/temporary-files.ts';
import { openBook, stepsOf } from './book.ts';
import { startChild } from './child.ts';
import { dump, placeImage, takeImage } from './database-image.ts';
import type { DatabaseImage } from './database-image.ts';
import { firstDifference, writeReferenceBook } from './reference-book.ts';
import type { ReferenceBook } from './reference-book.ts';
import { problemsOf } from './soundness.ts';
import { momentsOf } from './statements.ts';
import type { Moment } from './statements.ts';
import { inTier } from './tiers.ts';

const steps = stepsOf();
let directory: string;
let file: string;
let reference: ReferenceBook;

beforeAll(async () => {
  directory = newDirectory();
  file = join(directory, 'injured.db');
  reference = await writeReferenceBook(directory, steps);
});

/** The first step of each kind; in the long tier every step. */
const firstOfEachKind = [
  'round 0: grants to acme',
  'round 0: grants to globex',
  'round 0: finalizes the next invoice of acme',
  'round 0: finalizes the next invoice of initech',
  'round 0: records events of acme',
  'round 0: corrects an event of globex',
  'round 0: settles initech',
  'round 0: lapses the grant of acme',
  'round 0: arms the budget of acme anew',
  'round 0: signs another contract of acme',
  'round 0: cancels it',
  'makes the customer acme',
  'signs the contract of globex',
];
const every = steps.map(({ name }) => name);

function indexOf(name: string): number {
  const index = every.indexOf(name);
  if (index === -1) throw new Error(`the book has no step "${name}"`);
  return index;
}

/** Every state in which a kill between two statements of a step leaves the files, in their order. */
async function momentsOfStep(index: number): Promise<Moment[]> {
  placeImage(file, reference.images[index] ?? {});
  const book = await openBook(file, steps);
  const moments = await momentsOf(file, async () => await book.perform(index));
  await book.world.close();
  return moments;
}

/** What a book is found to be at its next opening, and what it is once the command was given again. */
async function afterwards(image: DatabaseImage, index: number): Promise<{ found: string; repeated: string }> {
  placeImage(file, image);
  const book = await openBook(file, steps);
  const rows = dump(file);
  const found = rows === reference.dumps[index] ? 'untouched' : rows === reference.dumps[index + 1] ? 'complete' : rows;
  if (found === 'untouched' || steps[index]?.isRepeatable === true) await book.perform(index);
  expect(await problemsOf(book.world)).toEqual([]);
  const difference = firstDifference(dump(file), reference.dumps[index + 1] ?? '');
  await book.world.close();
  return { found, repeated: difference ?? 'complete' };
}

describe('a command that is killed between any two of its statements', () => {
  test.each(inTier(firstOfEachKind, every))(
    'is untouched or complete, and is completed once when it is given again: %s',
    async (name) => {
      const index = indexOf(name);
      const moments = await momentsOfStep(index);
      const outcomes: string[] = [];
      for (const { image, statement, sql } of moments) {
        const { found, repeated } = await afterwards(image, index);
        if (found !== 'untouched' && found !== 'complete') {
          const difference = firstDifference(reference.dumps[index] ?? '', found);
          throw new Error(`half done ahead of statement ${statement} (${sql}): ${difference}`);
        }
        expect(repeated).toBe('complete');
        outcomes.push(found);
      }
      expect([...new Set(outcomes)]).toEqual(
        // A step that writes nothing, because nothing was due, is both at once.
        reference.dumps[index] === reference.dumps[index + 1] ? ['untouched'] : ['untouched', 'complete'],
      );
    },
  );

  test.each(['round 0: grants to acme', 'round 0: finalizes the next invoice of acme'])(
    'leaves just the files that the moment showed: %s, by a real kill',
    async (name) => {
      const index = indexOf(name);
      const moments = await momentsOfStep(index);
      // The first statement behind COMMIT.
      const behind = moments.at(-1)?.statement ?? 0;
      const all = Array.from({ length: behind }, (_value, place) => place + 1);
      const chosen = inTier([1, Math.ceil(behind / 2), behind - 1, behind], all);
      for (const statement of chosen) {
        placeImage(file, reference.images[index] ?? {});
        const words = [file, String(index), String(index + 1), String(statement)];
        const { ended, errors } = startChild('book-process.ts', words);
        expect(await ended).toMatchObject(process.platform === 'win32' ? { code: 1 } : { signal: 'SIGKILL' });
        expect(await errors).toBe('');
        const left = takeImage(file);
        const { found, repeated } = await afterwards(left, index);
        const expected = await afterwards(momentAt(moments, statement).image, index);
        expect({ statement, found, repeated }).toEqual({ statement, ...expected });
      }
    },
    inTier(30_000, 300_000),
  );
});

/** The state of the files ahead of a statement. */
function momentAt(moments: readonly Moment[], statement: number): Moment {
  const moment = moments.findLast((each) => each.statement <= statement);
  if (moment === undefined) throw new Error(`there is no statement ${statement}`);
  return moment;
}

describe('a log that was cut short, as power loss may leave it', () => {
  test.each(['round 0: grants to acme', 'round 0: finalizes the next invoice of acme'])(
    'holds the command whole or not at all, wherever it was cut: %s',
    async (name) => {
      const index = indexOf(name);
      const whole = (await momentsOfStep(index)).at(-1)?.image ?? {};
      const log = whole['-wal'] ?? Buffer.alloc(0);
      const step = inTier(4096 + 17, 509);
      const outcomes = new Set<string>();
      for (let length = 0; length <= log.length; length = Math.min(length + step, Math.max(log.length, length + 1))) {
        const { found, repeated } = await afterwards({ ...whole, '-wal': log.subarray(0, length) }, index);
        expect(['untouched', 'complete']).toContain(found);
        expect(repeated).toBe('complete');
        outcomes.add(found);
      }
      expect([...outcomes]).toEqual(['untouched', 'complete']);
    },
    inTier(30_000, 300_000),
  );
});
