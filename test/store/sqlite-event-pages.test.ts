/** Pages of events are what the whole list says at that moment, whatever was kept of earlier pages. */

import { readFile, writeFile } from 'node:fs/promises';

import fc from 'fast-check';
import { expect, test } from 'vitest';

import type { Transaction } from '../../src/store/database.ts';
import type { EventQuery, NewEvent } from '../../src/store/event-store.ts';
import type { Store } from '../../src/store/store.ts';
import { watchStatements } from '../reliability/statements.ts';
import { eventOf, insertTwoOrganizations } from './rows.ts';
import { refusal } from '../support/refusal.ts';
import { file, open, openFilled, useTestFile, withSqlite } from './test-file.ts';

useTestFile();

/** The tail is often absorbed. */
const eventUpkeep = { longestTail: 25, leastKept: 1 };
const always = () => true;

type Filter = Omit<EventQuery, 'limit' | 'offset' | 'orgId'>;

const filters: readonly Filter[] = [
  {},
  { customerId: 'customer' },
  { eventName: 'x' },
  { fromEpochMs: 2, toEpochMs: 5 },
  { customerId: 'only-in-a', eventName: 'y', fromEpochMs: 1 },
  { onlyLate: true },
  { onlyLate: true, customerId: 'customer' },
];

const sent = fc.record({
  key: fc.integer({ min: 0, max: 60 }),
  customerId: fc.constantFrom('customer', 'customer', 'only-in-a'),
  eventName: fc.constantFrom('x', 'y'),
  timestampEpochMs: fc.integer({ min: 0, max: 6 }),
});

/** Which of two processes does it. */
const at = fc.constantFrom(0, 1);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ at, page: fc.constantFrom(...filters), reader: fc.constantFrom(0, 1) }) },
  { weight: 1, arbitrary: fc.record({ at, page: fc.constantFrom(...filters), offset: fc.nat(70) }) },
  {
    weight: 2,
    arbitrary: fc.record({ at, send: fc.array(sent, { minLength: 1, maxLength: 6 }), isUndone: fc.boolean() }),
  },
  // As most come: each one new.
  { weight: 2, arbitrary: fc.record({ at, fresh: fc.array(sent, { minLength: 1, maxLength: 12 }) }) },
  fc.record({ at, rebuild: fc.constant(true) }),
);

interface Page {
  readonly keys: readonly string[];
  readonly total: number;
}

type Asked = Filter & Pick<EventQuery, 'limit' | 'offset'>;

const pageOf = (store: Store, asked: Asked): Promise<Page> => store.read((tx) => pageIn(tx, store, asked));

async function pageIn(tx: Transaction, { events }: Store, asked: Asked): Promise<Page> {
  const { rows, total } = await events.list(tx, { orgId: 'org-a', ...asked });
  return { keys: rows.map(({ idempotencyKey }) => idempotencyKey), total };
}

const isOf = ({ onlyLate, customerId, eventName, fromEpochMs = 0, toEpochMs = Infinity }: Filter, event: NewEvent) =>
  (onlyLate !== true || event.isLate) &&
  event.customerId === (customerId ?? event.customerId) &&
  event.eventName === (eventName ?? event.eventName) &&
  event.timestampEpochMs >= fromEpochMs &&
  event.timestampEpochMs < toEpochMs;

test('a page is that part of the list of its moment, while two processes write and several readers walk', async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 40, maxLength: 80, size: 'max' }), async (steps) => {
      run += 1;
      const stores = [await open(`${file}.${run}`, { eventUpkeep }), await open(`${file}.${run}`, { eventUpkeep })];
      await stores[0]?.write(insertTwoOrganizations);
      /** In the order of arrival. */
      const events = new Map<string, NewEvent>();
      const walks = new Map<string, number>();
      let fresh = 0;
      for (const done of steps) {
        const store = stores[done.at] as Store;
        if ('page' in done) {
          const walk = `${'reader' in done ? done.reader : ''} ${JSON.stringify(done.page)}`;
          const offset = 'reader' in done ? (walks.get(walk) ?? 0) : done.offset;
          const whole = [...events.values()].filter((event) => isOf(done.page, event)).reverse();
          const keys = whole.slice(offset, offset + 4).map(({ idempotencyKey }) => idempotencyKey);
          expect(await pageOf(store, { ...done.page, limit: 4, offset })).toEqual({ keys, total: whole.length });
          walks.set(walk, keys.length === 0 ? 0 : offset + keys.length);
          continue;
        }
        if ('rebuild' in done) {
          await store.write(async (tx) => await store.events.upkeep?.rebuild(tx));
          continue;
        }
        const batch = ('send' in done ? done.send : done.fresh).map(({ key, ...changes }) =>
          // Not a matter of chance: whether it is late does not make another version of an event.
          eventOf('send' in done ? `k${key}` : `fresh-${(fresh += 1)}`, {
            ...changes,
            isLate: changes.timestampEpochMs % 2 === 0,
          }),
        );
        const isUndone = 'send' in done && done.isUndone;
        const writing = store.write(async (tx) => {
          await store.events.append(tx, 'org-a', batch, always);
          await store.events.append(tx, 'org-b', [eventOf(`b${(fresh += 1)}`)], always);
          for (const filter of filters) await pageIn(tx, store, { ...filter, limit: 4, offset: 4 });
          if (isUndone) throw new Error('undone');
        });
        if (isUndone) await expect(writing).rejects.toThrow('undone');
        else await writing;
        if (!isUndone) for (const event of batch) events.set(event.idempotencyKey, event);
      }
      await Promise.all(stores.map((store) => store.close()));
    }),
    { numRuns: 8 },
  );
});

test('as many replacements as make the tail anew are seen as well', async () => {
  const store = await open(file, { eventUpkeep });
  await store.write(insertTwoOrganizations);
  for (const eventName of ['x', 'y', 'x']) {
    const events = Array.from({ length: eventUpkeep.longestTail }, (_, index) => eventOf(`k${index}`, { eventName }));
    await store.write((tx) => store.events.append(tx, 'org-a', events, always));
    const total = eventName === 'x' ? events.length : 0;
    expect(await pageOf(store, { eventName: 'x', limit: 1, offset: 0 })).toMatchObject({ total });
    expect(await pageOf(store, { eventName: 'x', customerId: 'customer', limit: 1, offset: 0 })).toMatchObject({
      total,
    });
  }
});

test('a list is read anew after a rebuild, even if all that tells a change has begun again', async () => {
  const store = await open(file, { eventUpkeep: { longestTail: 320, leastKept: 1 } });
  await store.write(insertTwoOrganizations);
  const rebuild = async () => await store.write(async (tx) => await store.events.upkeep?.rebuild(tx));
  const send = async (name: string, propertiesJson: string) => {
    const events = Array.from({ length: 10 }, (_, index) => eventOf(`${name}${index}`, { propertiesJson }));
    await store.write((tx) => store.events.append(tx, 'org-a', events, always));
  };
  const totals = async () => {
    const lists = [{}, { customerId: 'customer' }].map((filter) => pageOf(store, { ...filter, limit: 1, offset: 0 }));
    return (await Promise.all(lists)).map(({ total }) => total);
  };
  await rebuild();
  await send('first', '{}');
  // Events that no list finds, and no trace of that.
  withSqlite((database) => database.exec('DELETE FROM "eventTail"; DELETE FROM "eventTailPieces"'));
  expect(await totals()).toEqual([0, 0]);
  withSqlite((database) => database.exec('DELETE FROM "eventUpkeep"'));
  await rebuild();
  // As many new ones as replacements: they count as many changes as there were before.
  await send('second', '{}');
  await send('second', '{"tokens":1}');
  expect(await totals()).toEqual([20, 20]);
});

test.each([
  ['all', {}],
  ['of one name', { eventName: 'request' }],
  ['of a customer', { customerId: 'customer' }],
  ['late', { onlyLate: true }],
] as const)('a walk reads no event twice but for as many as arrive meanwhile: %s', async (_, filter) => {
  const store = await openFilled();
  const other = await open();
  const send = (by: Store, first: number, count: number) => {
    const events = Array.from({ length: count }, (__, place) => eventOf(`k${first + place}`, { isLate: true }));
    return by.write((tx) => by.events.append(tx, 'org-a', events, always));
  };
  await send(store, 0, 1_000);
  let skipped = 0;
  /** Above which seqs events were looked for. */
  const since: number[] = [];
  const watch = (sql: string, values: readonly unknown[]) => {
    if (sql.includes('"event"."seq" < ?')) skipped += Number(values.at(-1));
    if (sql.includes('"event"."seq" > ?')) since.push(Number(values.at(-1)));
    if (/"event(Tail|Segments)" (WHERE|ON) "customerSeq"/.test(sql)) since.push(0);
  };
  const seen = new Set<string>();
  for (let offset = 0; offset < 1_000 + 10; offset += 10) {
    const stop = watchStatements(watch);
    for (const key of (await pageOf(store, { ...filter, limit: 10, offset })).keys) seen.add(key);
    stop();
    if (offset === 500) await send(other, 1_000, 5);
    if (offset === 600) await send(store, 1_005, 5);
  }
  expect(seen.size).toBe(1_000);
  // Each page after an arrival walks over what came, and begins that much before the end of the page before it.
  expect(skipped).toBeLessThanOrEqual(10);
  expect(since).toEqual([0, 1_000, 1_005]);
});

test('events that cannot be read are told as damage to the file, with its path', async () => {
  const store = await openFilled();
  const events = Array.from({ length: 500 }, (_, index) => eventOf(`k${index}`));
  await store.write((tx) => store.events.append(tx, 'org-a', events, always));
  await store.close();
  const find = `SELECT "rootpage" FROM sqlite_schema WHERE "name" = 'events'`;
  const page = Number(withSqlite((database) => database.prepare(find).get())?.['rootpage']);
  const bytes = await readFile(file);
  await writeFile(file, bytes.fill(0xff, (page - 1) * 4096, page * 4096));
  const { kind, message, hint } = await refusal(pageOf(await open(), { limit: 1, offset: 0 }));
  expect({ kind, message }).toEqual({ kind: 'internal', message: expect.stringContaining(`${file} is damaged`) });
  expect(hint).toContain('backup');
});
