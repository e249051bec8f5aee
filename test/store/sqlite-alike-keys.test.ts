/** Keys that were made to have one hash: whoever knows their organization can, and holds up nobody with them. */

import { DatabaseSync } from 'node:sqlite';

import { beforeEach, expect, test } from 'vitest';

import { createKeyHash, crowd } from '../../src/store/backends/sqlite/events/key-hash.ts';
import { seqsOf } from '../../src/store/backends/sqlite/events/key-entries.ts';
import { readPageOfFile } from '../../src/store/copy/event-pages.ts';
import type { Store } from '../../src/store/store.ts';
import { watchStatements } from '../reliability/statements.ts';
import { eventOf, insertTwoOrganizations } from './rows.ts';
import { file, open, useTestFile } from './test-file.ts';

useTestFile();

/** Pairs of texts, in UTF-16: behind the same text both leave the hash of organization `org-a` in the same state. */
const pairs = [
  ['35cd277c04de11060b741132712656d0', '307836b366557b32177026b01d661bb3'],
  ['6ed97cdd5160259f03d054513f215d3b', '105f4b5e550c52c4569127880a2a4d1a'],
  ['02fd4c0d34cc4bbd0d706cf2634732e4', '69f35cb940b5123b77dc31a2220e2d94'],
  ['1ec07d174e0b407218d56e287c6e5dfd', '2f832730153054e42ea8627009cb4914'],
  ['695d0d475b8d6fcb536d1af22d154036', '1f0a1ef279514a26209b786457586bc8'],
  ['57b5329814ef19d236e168ed7f192765', '6bc8246323b02626407762db37b95c28'],
  ['372c36ef414521e10b91561012d467d2', '56e232713e0f1d8a5862413e6047444d'],
  ['6cd8610029a6521c542c74be16d256e2', '529f2dce3f1c526a18cf5f1f1cc8665f'],
  ['419f78e5226212140da3076c01543f37', '305c47056713670747575f2e2c3c1d08'],
  ['7c8c34d8435973351cf16bb26b1226a9', '6ebc6ac05da902cb6d997bd6652627f7'],
  ['18f037c2324d268f73c66f5176ad0aea', '0bce2f3c3861155e39136ee461442c7e'],
].map((pair) => pair.map((each) => Buffer.from(each, 'hex').swap16().toString('utf16le')));

/** 2,048 keys, of each pair the one text or the other. */
const alike = Array.from({ length: 2 ** pairs.length }, (_, index) =>
  pairs.map((pair, place) => pair[(index >> place) & 1]).join(''),
);

const eventUpkeep = { longestTail: 5_000, leastKept: 1 };

let one: Store;
let other: Store;
beforeEach(async () => {
  one = await open(file, { eventUpkeep });
  other = await open(file, { eventUpkeep });
  await one.write(insertTwoOrganizations);
});

/** How many events of each outcome there are. */
async function send(store: Store, keys: readonly string[], propertiesJson = '{}'): Promise<Record<string, number>> {
  const events = keys.map((key, place) => eventOf(key, { id: `${propertiesJson}${place}`, propertiesJson }));
  const outcomes = await store.write((tx) => store.events.append(tx, 'org-a', events, () => true));
  return Object.fromEntries(
    Map.groupBy(outcomes, String)
      .entries()
      .map(([outcome, { length }]) => [outcome, length]),
  );
}

const faults = () => one.read(async (tx) => await one.events.upkeep?.listFaults(tx, 'org-a'));

test('the keys have one hash', () => {
  expect(new Set(alike).size).toBe(2_048);
  expect(new Set(alike.map(createKeyHash('org-a'))).size).toBe(1);
});

test('each names one event, in one request and in many, by one process and by another, and its latest version counts', async () => {
  expect(await send(one, alike.slice(0, 1_000))).toEqual({ new: 1_000 });
  expect(await send(other, alike.slice(0, 1_500))).toEqual({ same: 1_000, new: 500 });
  expect(await send(one, [...alike, ...alike])).toEqual({ same: 1_500 + 2_048, new: 548 });
  expect(await send(other, alike, '{"tokens":2}')).toEqual({ replaced: 2_048 });
  // The tail is absorbed with these.
  expect(
    await send(
      one,
      Array.from({ length: 1_000 }, (_, index) => `k${index}`),
    ),
  ).toEqual({ new: 1_000 });
  expect(await send(other, alike, '{"tokens":2}')).toEqual({ same: 2_048 });
  const pages = await one.read((tx) => readPageOfFile(tx, 'org-a', { after: 0, limit: 5_000 }));
  for (const key of [alike[0], alike[crowd], alike.at(-1)]) {
    expect(pages.find(({ versions }) => versions[0]?.idempotencyKey === key)?.versions).toMatchObject([
      { idempotencyKey: key, propertiesJson: '{}' },
      { idempotencyKey: key, propertiesJson: '{"tokens":2}' },
    ]);
  }
  expect(await faults()).toEqual([]);
});

test('as many events are looked at for each, however many there are', async () => {
  await send(one, alike.slice(0, 1_000));
  let looks = 0;
  const stop = watchStatements((sql) => {
    if (sql.includes('"event"."idempotencyKey" = ?')) looks += 1;
  });
  await send(one, alike.slice(1_000));
  stop();
  expect(looks).toBe((2_048 - 1_000) * crowd);
});

test('keys that stand by their first hash, however many, are told apart, and get their second one when they are made anew', async () => {
  await send(one, alike.slice(0, 100));
  const hash = createKeyHash('org-a')(alike[0] ?? '');
  const database = new DatabaseSync(file);
  const standing = (): unknown =>
    database.prepare('SELECT count(*) AS "count" FROM "eventKeyTail" WHERE "hash" = ?').get(hash)?.['count'];
  expect(standing()).toBe(crowd);
  // As they were kept before there was a second one.
  database.prepare('UPDATE "eventKeyTail" SET "hash" = ?').run(hash);
  expect(await send(other, alike.slice(0, 100))).toEqual({ same: 100 });
  expect(await faults()).toEqual([]);
  await one.write(async (tx) => await one.events.upkeep?.rebuild(tx));
  expect(await faults()).toEqual([]);
  expect(await send(other, alike.slice(0, 101))).toEqual({ same: 100, new: 1 });
  const pieces = database.prepare('SELECT "data" FROM "eventKeyPieces"').all();
  database.close();
  expect(pieces.flatMap(({ data }) => seqsOf(data as Uint8Array, hash))).toHaveLength(crowd);
});
