/** Reliability 7, C3: the log of a database is lost with what was acknowledged, and doctor finds it out. */

import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';

import { examine } from '../../src/engine/doctor/examination.ts';
import { backUp, restore } from '../../src/store/backup.ts';
import { openStore } from '../../src/store/open.ts';
import { newDirectory } from '../support/temporary-files.ts';
import { createCustomer } from '../support/usage-scenario.ts';
import { createWorld } from '../support/world.ts';
import type { World } from '../support/world.ts';
import { placeImage, takeImage } from './database-image.ts';

let file: string;
let made: World;
beforeEach(async () => {
  const directory = newDirectory();
  file = join(directory, 'book.db');
  made = await createWorld({ database: join(directory, 'made.db'), start: '2026-02-01T00:00:00.000Z' });
  onTestFinished(async () => await made.close());
  made.clock.set('2026-03-01T00:00:00.000Z');
  await createCustomer(made, 'first');
});

/** What kill -9 leaves of the book now, at `file`, whose note is then of that file. */
function kill(): void {
  placeImage(file, takeImage(made.store.location));
  const note = readFileSync(`${file}-newest`, 'utf8');
  writeFileSync(`${file}-newest`, `${note.slice(0, 24)} ${String(statSync(file).ino).padStart(20)}\n`);
}

async function open(start: string): Promise<World> {
  const world = await createWorld({ database: file, start, newId: randomUUID });
  onTestFinished(async () => await world.close());
  return world;
}

async function findings(): Promise<string[]> {
  const store = await openStore(file, { readOnly: true });
  try {
    const { findings } = await examine({ store, now: () => made.clock.now() }, { isFull: true });
    return findings.filter(({ check }) => check === 'acknowledged-writes').map(({ problem }) => problem);
  } finally {
    await store.close();
  }
}

const lost = (span: string): string =>
  `what was written ${span} is not in it: its log was removed, or an older file put in its place`;

describe('of a book that was killed', () => {
  test('nothing is missed where its log is beside it', async () => {
    kill();
    expect(await findings()).toEqual([]);
  });

  test('nothing is made of it where its log was removed before any of it was in the file', async () => {
    kill();
    rmSync(`${file}-wal`);
    for (const readOnly of [true, false]) {
      await expect(openStore(file, { readOnly })).rejects.toThrow(`the database ${file} is damaged: it is empty`);
    }
    rmSync(`${file}-newest`);
    await (await open('2026-03-02T00:00:00.000Z')).close();
    expect(await findings()).toEqual([]);
  });

  test('what came last is missed where its log was removed, also after others have written', async () => {
    kill();
    const again = await open('2026-03-02T00:00:00.000Z');
    await createCustomer(again, 'second');
    await again.close();
    const { '': whole = Buffer.alloc(0) } = takeImage(file);
    const further = await open('2026-03-03T00:00:00.000Z');
    await createCustomer(further, 'third');
    await further.close();
    writeFileSync(file, whole);
    expect(await findings()).toEqual([lost('after 2026-03-02T00:00:00.000Z until 2026-03-03T00:00:00.000Z')]);
    const refused = await open('2026-03-04T00:00:00.000Z');
    await expect(refused.call('products.archive', { params: { productId: 'none' } })).rejects.toThrow('no product');
    await refused.close();
    expect(await findings()).toEqual([lost('after 2026-03-02T00:00:00.000Z until 2026-03-03T00:00:00.000Z')]);
    for (const start of ['2026-03-04T00:00:00.000Z', '2026-03-05T00:00:00.000Z']) {
      const later = await open(start);
      await createCustomer(later, start);
      await later.close();
    }
    expect(await findings()).toEqual([lost('after 2026-03-02T00:00:00.000Z until 2026-03-03T00:00:00.000Z')]);
    rmSync(`${file}-newest`);
    expect(await findings()).toEqual([]);
  });
});

test.each([
  ['is none', () => writeFileSync(`${file}-newest`, 'until then\nand products: until  1\n')],
  [
    'is of another file of its name',
    () =>
      writeFileSync(`${file}-newest`, `2027-01-01T00:00:00.000Z ${'7'.padStart(20)}\n- 2026-12-01T00:00:00.000Z 7\n`),
  ],
  ['cannot be written', () => mkdirSync(`${file}-newest`)],
])('a note that %s finds no loss and stops no write', async (_what, make) => {
  kill();
  rmSync(`${file}-newest`);
  make();
  const again = await open('2026-03-02T00:00:00.000Z');
  await createCustomer(again, 'second');
  expect(await findings()).toEqual([]);
});

test('a note stands beside the file itself, by whatever name that was opened', async () => {
  kill();
  const link = `${file}.link`;
  symlinkSync(file, link);
  const world = await createWorld({ database: link, start: '2026-03-02T00:00:00.000Z', newId: randomUUID });
  await createCustomer(world, 'second');
  await world.close();
  expect(readFileSync(`${file}-newest`, 'utf8')).toMatch(/^2026-03-02T00:00:00.000Z +\d+\n$/);
  expect(existsSync(`${link}-newest`)).toBe(false);
});

test('a note keeps the latest time of all organizations, though one that is behind writes last', async () => {
  const world = await open('2026-03-01T00:00:00.000Z');
  const eu = await world.addOrganization('eu');
  world.clock.set('2026-03-05T00:00:00.000Z');
  await createCustomer(world, 'first');
  world.clock.set('2026-03-04T00:00:00.000Z');
  await eu.call('products.create', { body: { name: 'Behind' } });
  expect(readFileSync(`${file}-newest`, 'utf8')).toMatch(/^2026-03-05T00:00:00.000Z /);
});

test.each([
  ['set back', { name: 'clock.set', input: { body: { to: '2026-01-01T00:00:00Z' } } }],
  ['simulated no more', { name: 'clock.reset', input: {} }],
] as const)('time that is %s behind what was noted is no loss', async (what, { name, input }) => {
  const world = await open('2026-03-01T00:00:00.000Z');
  if (name === 'clock.reset') await world.call('clock.set', { body: { to: '2030-01-01T00:00:00Z' } });
  else world.clock.set('2026-03-05T00:00:00.000Z');
  await world.call('keys.create', { body: { name: 'ci', scopes: ['*'] } });
  await world.call(name, input);
  await world.call('keys.create', { body: { name: what, scopes: ['*'] } });
  expect(await findings()).toEqual([]);
});

test.each(['noted', 'read'])(
  'a process notes what it writes after another has set time back behind what it has %s',
  async (how) => {
    const other = await open('2026-03-01T00:00:00.000Z');
    const { key } = (await other.call('keys.create', { body: { name: 'ci', scopes: ['*'] } })).data;
    const world = await open('2026-03-01T00:00:00.000Z');
    if (how === 'noted') {
      world.clock.set('2026-03-02T00:00:00.000Z');
      await world.addOrganization('eu');
    }
    // Writes that the key was used, which is not noted.
    else await world.engine.authenticate(key);
    await other.call('clock.set', { body: { to: '2026-01-01T00:00:00Z' } });
    await createCustomer(world, 'first');
    expect(readFileSync(`${file}-newest`, 'utf8')).toMatch(/^2026-01-01T00:00:00.000Z /);
  },
);

test('what was noted of a file is not held against another of its name', async () => {
  const backup = `${file}.backup`;
  await backUp({ from: made.store.location, to: backup, createdAt: '2026-03-01T00:00:00Z' });
  kill();
  const again = await open('2026-03-02T00:00:00.000Z');
  await createCustomer(again, 'second');
  await again.close();
  rmSync(file);
  expect(existsSync(`${file}-newest`)).toBe(true);
  await restore({ from: backup, to: file });
  expect(await findings()).toEqual([]);
});
