/** Reliability 7 and 8: a bill run that is killed leaves whole steps, and two at once finalize each invoice once. */

import { join } from 'node:path';

import { expect, test } from 'vitest';

import { limits } from '../../src/limits.ts';
import { newDirectory } from '../support/temporary-files.ts';
import { outputOf, startChild } from './child.ts';
import { placeImage, takeImage } from './database-image.ts';
import { figuresOf, killMidway, openDueBook, writeDueBook } from './due-book.ts';
import { firstDifference } from './reference-book.ts';
import { damageOf, problemsOf } from './soundness.ts';
import { momentsOf } from './statements.ts';
import { inTier } from './tiers.ts';

const directory = newDirectory();

/** Does the run once more, from whatever the file holds; gives the figures that it then has. */
async function finish(file: string, prefix: string): Promise<string[]> {
  const world = await openDueBook(file, prefix);
  expect(await problemsOf(world)).toEqual([]);
  const { data } = await world.call('bill.run', { body: {} });
  expect(data.failures).toEqual([]);
  expect(await problemsOf(world)).toEqual([]);
  await world.close();
  return figuresOf(file);
}

test(
  'a bill run that is killed between any two of its statements leaves whole steps, and the next run does the rest',
  async () => {
    const file = join(directory, 'statements.db');
    const contracts = limits.billRunBatch + 1;
    await writeDueBook(file, contracts);
    const world = await openDueBook(file, 'aaaa');
    const moments = await momentsOf(file, async () => await world.call('bill.run', { body: {} }));
    await world.close();
    const whole = figuresOf(file);
    expect(whole.filter((line) => line.startsWith('INV-'))).toHaveLength(2 * contracts);
    // Before, between two transactions, and after; a transaction in memory leaves nothing in the files until it ends.
    expect(moments.length).toBeGreaterThanOrEqual(3);
    for (const [index, { image }] of moments.entries()) {
      placeImage(file, image);
      const figures = await finish(file, (0xb000 + index).toString(16));
      expect(firstDifference(figures.join('\n'), whole.join('\n'))).toBeUndefined();
    }
    expect(damageOf(file)).toEqual([]);
  },
  inTier(60_000, 60_000),
);

test('a bill run that is killed anywhere is finished by the next one', async () => {
  const file = join(directory, 'killed.db');
  await writeDueBook(file, 60);
  const image = takeImage(file);
  const whole = await finish(file, 'aaaa');
  placeImage(file, image);
  await (await killMidway(file)).close();
  const figures = await finish(file, 'bbbb');
  expect(firstDifference(figures.join('\n'), whole.join('\n'))).toBeUndefined();
  expect(damageOf(file)).toEqual([]);
}, 30_000);

test('two bill runs at once finalize each invoice once', async () => {
  const file = join(directory, 'two.db');
  await writeDueBook(file, 60);
  const outputs = await Promise.all(
    ['aaaa', 'bbbb'].map(async (prefix) => await outputOf(startChild('bill-run-process.ts', [file, prefix]))),
  );
  const counts = outputs.map((output) => output.trim().split(' ').map(Number));
  expect(counts.reduce((sum, [finalized = 0]) => sum + finalized, 0)).toBe(120);
  expect(counts.map(([, failed]) => failed)).toEqual([0, 0]);
  const world = await openDueBook(file, 'cccc');
  expect(await problemsOf(world)).toEqual([]);
  expect((await world.call('bill.run', { body: {} })).data.finalizedCount).toBe(0);
  await world.close();
}, 60_000);
