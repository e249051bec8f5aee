/** One organization's queries of SQL meters hold up nobody else's. */

import { expect, test } from 'vitest';

import { createPlaces, type Places } from '../../src/store/backends/sqlite/meter-sql/places.ts';
import { createMeterSql } from '../../src/store/open-meter-sql.ts';
import { turnOver } from '../../src/turns.ts';
import { numberedEvents, outcomeOf, readingOf } from '../support/meter-sql.ts';

/** What has had a place, in its order. */
function asking(places: Places) {
  const begun: string[] = [];
  return {
    begun,
    ask: async (scope: string, name: string) => {
      await places.take(scope);
      begun.push(name);
    },
  };
}

test('a scope never has more than one place, however many are free', async () => {
  const places = createPlaces(2);
  const { begun, ask } = asking(places);
  const all = [ask('a', 'a1'), ask('a', 'a2'), ask('b', 'b1')];
  await turnOver();
  expect(begun).toEqual(['a1', 'b1']);
  places.giveBack('a');
  await Promise.all(all);
  expect(begun).toEqual(['a1', 'b1', 'a2']);
});

test('scopes that wait go in turn, each in the order in which its queries came', async () => {
  const places = createPlaces(1);
  const { begun, ask } = asking(places);
  const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1', 'a4'].map(async (name) => ask(name.charAt(0), name));
  for (const expected of ['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']) {
    await turnOver();
    expect(begun.at(-1)).toBe(expected);
    places.giveBack(expected.charAt(0));
  }
  await Promise.all(all);
});

test('an organization whose queries never end leaves a place to others', async () => {
  const meterSql = createMeterSql();
  const endless = {
    scope: 'slow',
    sql: 'SELECT count(*) AS value FROM events a, events b, events c, events d',
    events: numberedEvents(2_000),
    deadlineMilliseconds: 600_000,
  };
  const slow = [1, 2, 3].map(async () => await outcomeOf(meterSql, endless));
  await meterSql.check({ scope: 'other', sql: 'SELECT count(*) AS value FROM events' });
  expect(await readingOf(meterSql, { scope: 'other', sql: 'SELECT 7 AS value' })).toBe('7');
  meterSql.close();
  for (const outcome of await Promise.all(slow)) expect(outcome).toMatch(/stopped|closed/);
});
