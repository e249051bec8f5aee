/** The keys of events in a file that two processes write. */

import { beforeEach, expect, test } from 'vitest';

import type { Transaction } from '../../src/store/database.ts';
import type { Store } from '../../src/store/store.ts';
import { eventOf, insertTwoOrganizations } from './rows.ts';
import { file, open, useTestFile } from './test-file.ts';

useTestFile();

const eventUpkeep = { longestTail: 40, leastKept: 1 };

let one: Store;
let other: Store;
beforeEach(async () => {
  one = await open(file, { eventUpkeep });
  other = await open(file, { eventUpkeep });
  await one.write(insertTwoOrganizations);
});

async function append(store: Store, tx: Transaction, ...keys: readonly string[]) {
  return await store.events.append(
    tx,
    'org-a',
    keys.map((key) => eventOf(key)),
    () => true,
  );
}

const send = (store: Store, ...keys: readonly string[]) => store.write((tx) => append(store, tx, ...keys));

test("two processes that write in turn find each other's keys", async () => {
  for (let turn = 0; turn < 100; turn += 1) {
    expect(await send(one, `turn-${turn}`)).toEqual(['new']);
    expect(await send(other, `turn-${turn}`)).toEqual(['same']);
    expect(await send(other, `answer-${turn}`)).toEqual(['new']);
    expect(await send(one, `answer-${turn}`)).toEqual(['same']);
  }
  expect(await one.read(async (tx) => await one.events.upkeep?.listFaults(tx, 'org-a'))).toEqual([]);
});

test('what another process records in the place of what was undone is known by its keys', async () => {
  // So many keys that the process holds a filter over all of them.
  await send(one, ...Array.from({ length: 50 }, (_, index) => `m${index}`));
  const undone = one.write(async (tx) => {
    await append(one, tx, 'u1', 'u2');
    await append(one, tx, 'u3');
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  expect(await send(other, 'o1', 'o2', 'o3')).toEqual(['new', 'new', 'new']);
  expect(await send(one, 'o1', 'o2', 'o3')).toEqual(['same', 'same', 'same']);
});

test('of a call that failed midway no key is kept with those of the next one', async () => {
  await send(one, 'known');
  const changed = [eventOf('before'), eventOf('known', { propertiesJson: '{"tokens":2}' })];
  const failing = one.write(
    async (tx) =>
      await one.events.append(tx, 'org-a', changed, () => {
        throw new Error('changed my mind');
      }),
  );
  await expect(failing).rejects.toThrow('changed my mind');
  expect(await send(one, 'next', 'before')).toEqual(['new', 'new']);
  expect(await one.read(async (tx) => await one.events.upkeep?.listFaults(tx, 'org-a'))).toEqual([]);
});
