import { expect, test } from 'vitest';

import { createPending } from '../src/pending.ts';
import { turnOver } from '../src/turns.ts';

test('whoever waits for all work goes on when the last of it has ended, also without success', async () => {
  const pending = createPending();
  const ends: (() => void)[] = [];
  const begin = (outcome: () => void): Promise<void> =>
    pending.run(async () => {
      await new Promise<void>((resolve) => ends.push(resolve));
      outcome();
    });
  const fail = (): never => {
    throw new Error('no');
  };
  const works = [begin(() => {}), begin(fail), begin(() => {})];
  let isSettled = false;
  const settled = pending.settled().then(() => (isSettled = true));
  const seen: unknown[] = [];
  for (const end of ends) {
    seen.push([pending.count, isSettled]);
    end();
    await turnOver();
  }
  expect(seen).toEqual([
    [3, false],
    [2, false],
    [1, false],
  ]);
  await settled;
  expect((await Promise.allSettled(works)).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test('where nothing is under way, nobody waits', async () => {
  const pending = createPending();
  await pending.settled();
  expect(pending.count).toBe(0);
});
