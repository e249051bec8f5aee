/** What a process remembers of days on PostgreSQL: always what their events come to, whoever wrote them. */

import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import type { MeterRules } from '../../src/calculation/usage-fold.ts';
import type { AggregatedEvents, NewEvent } from '../../src/store/event-store.ts';
import { openStore } from '../../src/store/open.ts';
import { rowsOfText } from '../../src/store/raw-query.ts';
import type { Store } from '../../src/store/store.ts';
import { usePostgres } from '../support/postgres.ts';
import { day } from './event-stories.ts';
import { naiveReadings } from './naive-readings.ts';
import { eventOf, insertTwoOrganizations, rowsOfReadings, sumOfTokens } from './rows.ts';

const postgres = await usePostgres();

const of: AggregatedEvents = {
  orgId: 'org-a',
  customerId: 'customer',
  boundsEpochMs: [0, 10 * day],
  dimensions: { needsEventName: false, propertyKeys: [] },
  isStanding: true,
};

describe.runIf(postgres !== undefined)('PostgreSQL', () => {
  let url: string;
  let store: Store;
  let other: Store;
  beforeAll(async () => {
    url = (await postgres?.create()) ?? '';
  });
  beforeEach(async () => {
    await postgres?.empty(url);
    [store, other] = [await openStore(url), await openStore(url)];
    await store.write(insertTwoOrganizations);
    return async () => {
      await store.close();
      await other.close();
    };
  });
  afterAll(async () => await postgres?.drop(url));

  const send = async (by: Store, ...events: readonly NewEvent[]) =>
    await by.write(async (tx) => await by.events.append(tx, 'org-a', events, () => true));
  const sent = (key: string, atDay: number, tokens: number) =>
    eventOf(key, { timestampEpochMs: atDay * day + 5, propertiesJson: `{"tokens":${tokens}}` });

  async function sumOf(by: Store, asked: Partial<AggregatedEvents> = {}): Promise<string[]> {
    const [readings = []] = await by.read(
      async (tx) => await by.events.aggregate(tx, { ...of, ...asked }, [sumOfTokens]),
    );
    return readings.map((interval) => interval.map(({ quantity }) => quantity.toString()).join());
  }

  async function marks(): Promise<ReadonlyMap<string, string>> {
    const rows = await store.read(
      async (tx) => await rowsOfText(tx, 'SELECT "customerId", "day", "mark"::text FROM "eventDays"'),
    );
    return new Map(rows.map((row) => [`${String(row['customerId'])} ${String(row['day'])}`, String(row['mark'])]));
  }

  /** As nothing of ours would: without the triggers that mark the day. */
  async function change(key: string, propertiesJson: string): Promise<void> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query('SET session_replication_role = replica');
    await client.query('UPDATE "events" SET "propertiesJson" = $2 WHERE "idempotencyKey" = $1', [key, propertiesJson]);
    await client.end();
  }

  test('reads a day again only when one of its events has changed', async () => {
    await send(store, sent('a', 1, 10), sent('b', 2, 20));
    for (const _time of ['whole', 'by days']) expect(await sumOf(store)).toEqual(['30']);
    await change('a', '{"tokens":11}');
    expect([await sumOf(store), await sumOf(other)]).toEqual([['30'], ['31']]);
    await send(other, sent('c', 2, 1));
    expect(await sumOf(store)).toEqual(['31']);
    await send(other, sent('d', 1, 0));
    expect(await sumOf(store)).toEqual(['32']);
  });

  describe('with texts as long as group values may be', () => {
    const groupKeys = Array.from({ length: 10 }, (_value, place) => `prompt${place}`);
    const long = Object.fromEntries(groupKeys.map((key) => [key, 'p'.repeat(4_096)]));
    const eventWith = (place: number, tokens: number) =>
      JSON.stringify({ ...long, prompt0: String(place).padEnd(4_096), tokens });
    const sendLong = async (atDay: number, first: number, count: number) => {
      const places = Array.from({ length: count }, (_value, index) => first + index);
      const events = places.map((place) => ({ ...sent(`k${place}`, atDay, 1), propertiesJson: eventWith(place, 1) }));
      await send(store, ...events);
    };
    const countIn = async (firstDay: number, endDay: number) =>
      await store.read(async (tx) => {
        const asked = { ...of, boundsEpochMs: [firstDay * day, endDay * day] };
        const [[readings = []] = []] = await store.events.aggregate(tx, asked, [{ ...sumOfTokens, groupKeys }]);
        return readings.reduce((sum, { quantity }) => sum + Number(quantity.toString()), 0);
      });

    test('does not remember more of them than of as many short readings', async () => {
      await sendLong(1, 0, 300);
      for (const _time of ['whole', 'by days']) expect(await countIn(0, 10)).toBe(300);
      await change('k7', eventWith(7, 2));
      expect(await countIn(0, 10)).toBe(301);
    });

    test('forgets the days of an earlier question where those of both are too many', async () => {
      await sendLong(1, 0, 150);
      await sendLong(6, 150, 150);
      for (const _time of ['whole', 'by days']) expect(await countIn(0, 4)).toBe(150);
      expect(await countIn(5, 9)).toBe(150);
      for (const place of [7, 157]) await change(`k${place}`, eventWith(place, 2));
      expect([await countIn(5, 9), await countIn(0, 4)]).toEqual([150, 151]);
    });
  });

  test('marks both days of an event that moves, and no day for one that is sent again as it was', async () => {
    await send(store, sent('a', 1, 10), sent('b', 2, 20), sent('c', 3, 30));
    const before = await marks();
    expect([...before.keys()].toSorted()).toEqual(['customer 1', 'customer 2', 'customer 3']);
    await send(store, sent('a', 1, 10), { ...sent('b', 4, 20), customerId: 'only-in-a' });
    const after = await marks();
    expect(after.get('customer 1')).toBe(before.get('customer 1'));
    expect(after.get('customer 2')).not.toBe(before.get('customer 2'));
    expect(after.get('customer 3')).toBe(before.get('customer 3'));
    expect(after.has('only-in-a 4')).toBe(true);
  });

  test('counts what a transaction has written in that transaction alone, until it is committed', async () => {
    await send(store, sent('a', 1, 10));
    for (const _time of ['whole', 'by days']) expect(await sumOf(store)).toEqual(['10']);
    const undone = store.write(async (tx) => {
      await store.events.append(tx, 'org-a', [sent('b', 1, 5)], () => true);
      const [[[reading] = []] = []] = await store.events.aggregate(tx, of, [sumOfTokens]);
      throw new Error(`counted ${reading?.quantity.toString()}`);
    });
    await expect(undone).rejects.toThrow('counted 15');
    expect(await sumOf(store)).toEqual(['10']);
  });

  test('cuts intervals that begin or end within a day, and asks apart for days that lie apart', async () => {
    await send(store, ...[0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((place) => sent(`k${place}`, place, 10 ** place)));
    const bounds = { boundsEpochMs: [6, 3 * day + 5, 3 * day + 6, 8 * day, 9 * day + 6] };
    const counted = ['110', '1000', '11110000', '1100000000'];
    for (const _time of ['whole', 'by days', 'remembered']) expect(await sumOf(store, bounds)).toEqual(counted);
    for (const changed of [
      [1],
      [1, 4],
      [1, 2, 4, 5, 7],
      [1, 3, 4, 5, 6],
      [1, 2, 4, 5, 6, 7],
      [1, 4, 6],
      [0, 2, 5, 7, 9],
    ]) {
      for (const place of changed) await send(other, sent(`k${place}`, place, 2 * 10 ** place));
      // As a whole, by another process.
      const once = { ...bounds, isOnce: true };
      expect(await sumOf(store, bounds)).toEqual(await sumOf(other, once));
      for (const place of changed) await send(store, sent(`k${place}`, place, 10 ** place));
      expect(await sumOf(store, bounds)).toEqual(counted);
    }
  });

  test('reads any events, written by any process and undone or not, as a recount of them does', async () => {
    const asked = { orgId: 'org-a', customerId: 'customer', dimensions: of.dimensions, isStanding: true };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 10 }), async (steps) => {
        await postgres?.empty(url);
        await store.write(insertTwoOrganizations);
        const effective = new Map<string, NewEvent>();
        for (const { isOthers, isUndone, events, question } of steps) {
          const writer = isOthers ? other : store;
          const written = writer.write(async (tx) => {
            await writer.events.append(tx, 'org-a', events, () => true);
            await writer.events.aggregate(tx, { ...asked, ...question }, meters);
            if (isUndone) throw new Error('undone');
          });
          if (isUndone) await expect(written).rejects.toThrow('undone');
          else await written;
          if (!isUndone) for (const each of events) effective.set(each.idempotencyKey, each);
          const counted = meters.map((rules) =>
            naiveReadings([...effective.values()], { ...asked, ...question, rules }),
          );
          for (const reader of [store, other]) {
            const found = await reader.read(
              async (tx) => await reader.events.aggregate(tx, { ...asked, ...question }, meters),
            );
            expect(found.map(rowsOfReadings)).toEqual(counted);
          }
        }
      }),
      { numRuns: 30 },
    );
  }, 60_000);
});

const meters = (['SUM', 'MAX'] as const).map((aggregationType): MeterRules => ({
  ...sumOfTokens,
  aggregationType,
  groupKeys: ['model'],
}));

const instant = fc.tuple(fc.nat(7), fc.constantFrom(0, 1, day - 1)).map(([days, rest]) => days * day + rest);

const step = fc.record({
  isOthers: fc.boolean(),
  isUndone: fc.nat(4).map((chance) => chance === 0),
  events: fc.array(
    fc
      .record({
        key: fc.nat(20),
        timestampEpochMs: instant,
        customerId: fc.constantFrom('customer', 'customer', 'only-in-a'),
        model: fc.constantFrom('"a"', '"b"', '""'),
        tokens: fc.constantFrom('1', '2.5', '-3', '"7"', '1e-20'),
      })
      .map(({ key, model, tokens, ...changes }) =>
        eventOf(`k${key}`, {
          ...changes,
          // Sent again with the same content, an event would stay what it was.
          isLate: key % 7 === 0,
          propertiesJson: `{"model":${model},"tokens":${tokens}}`,
        }),
      ),
    { maxLength: 5 },
  ),
  question: fc
    .record({
      bounds: fc.constantFrom([0, 8 * day], [1, 3 * day, 8 * day], [day + 1, 2 * day, 2 * day + 1, 7 * day - 1]),
      contract: fc.constantFrom(undefined, {
        contractId: 'contract',
        unassignedOutside: [{ fromEpochMs: 0, toEpochMs: 3 * day + 1 }],
      }),
    })
    .map(({ bounds, contract }) => ({ boundsEpochMs: bounds, contract })),
});
