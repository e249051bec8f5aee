/** Reliability 7, C1: a process is killed while it writes; what it had acknowledged is there, and nothing is half there. */

import { join } from 'node:path';

import { beforeAll, expect, test } from 'vitest';

import { newDirectory } from '../support/temporary-files.ts';
import { openBook, stepsOf } from './book.ts';
import { startChild } from './child.ts';
import { dump, placeImage } from './database-image.ts';
import { firstDifference, writeReferenceBook } from './reference-book.ts';
import type { ReferenceBook } from './reference-book.ts';
import { damageOf, problemsOf } from './soundness.ts';
import { drawn, inTier, seeds } from './tiers.ts';

let directory: string;
let reference: ReferenceBook;

beforeAll(async () => {
  directory = newDirectory();
  reference = await writeReferenceBook(directory, stepsOf());
});

/** Lets a process write the book from `from` on, and kills it after so many acknowledgements. */
async function acknowledgedBeforeKill(file: string, from: number, seed: number): Promise<number> {
  const left = reference.steps.length - from;
  const kill = { behind: 1 + drawn(seed, 'acknowledgements', left), turns: drawn(seed, 'turns', 40) };
  const { process: child, output, errors, ended } = startChild('book-process.ts', [file, String(from)]);
  let seen = 0;
  const onData = (chunk: Buffer): void => {
    seen += chunk.toString().split('\n').length - 1;
    if (seen < kill.behind) return;
    child.stdout.off('data', onData);
    void killAfterTurns(() => child.kill('SIGKILL'), kill.turns);
  };
  child.stdout.on('data', onData);
  await ended;
  expect(await errors).toBe('');
  return (await output).split('\n').length - 1;
}

/** A moment that no statement decides: the child goes on while this process takes its turns. */
async function killAfterTurns(kill: () => void, turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  kill();
}

const half = Math.floor(stepsOf().length / 2);

test.each(seeds(inTier(8, 200)))(
  'a killed process loses nothing acknowledged, leaves nothing half done, and the work goes on (seed %i)',
  async (seed) => {
    const file = join(directory, `killed-${seed}.db`);
    const from = drawn(seed, 'from', half);
    placeImage(file, reference.images[from] ?? {});
    const acknowledged = from + (await acknowledgedBeforeKill(file, from, seed));

    const { steps, dumps } = reference;
    const book = await openBook(file, steps);
    const found = dump(file);
    const done = found === dumps[acknowledged] ? acknowledged : acknowledged + 1;
    expect(firstDifference(found, dumps[done] ?? '')).toBeUndefined();
    expect(await problemsOf(book.world)).toEqual([]);

    // Whoever sent the command in flight does not know how it ended, and sends it again.
    const next = steps[acknowledged]?.isRepeatable === true ? acknowledged : done;
    for (let index = next; index < steps.length; index += 1) await book.perform(index);
    expect(firstDifference(dump(file), dumps.at(-1) ?? '')).toBeUndefined();
    expect(await problemsOf(book.world)).toEqual([]);
    await book.world.close();
    expect(damageOf(file)).toEqual([]);
  },
  inTier(30_000, 120_000),
);
