import { expect, test } from 'vitest';

import { exactNumber } from '../../../src/exact-json.ts';
import { createPackedEvents } from '../../../src/cli/simulation/packed-events.ts';
import { compareText } from '../../../src/text-order.ts';

const minute = 60_000;
const eventAt = (timestamp: number, number: number) => ({
  timestamp: new Date(timestamp).toISOString(),
  number,
  properties: { amount: exactNumber(`${number}.0`), text: 'two\nlines, é and \u{1F600}', none: null },
});

test('events that come in any order, more than are packed together, come out in order of time, equal ones as they came', () => {
  const start = Date.UTC(2026, 0, 30);
  // Seven days in steps of 20 minutes, so that some fifty events share each instant.
  const events = Array.from({ length: 25_000 }, (_, i) => eventAt(start + ((i * 7919) % 504) * 20 * minute, i));
  const packed = createPackedEvents<(typeof events)[number]>();
  for (const event of events) packed.add(event);
  expect(packed).toHaveLength(events.length);
  expect([...packed.inOrder()]).toEqual(events.toSorted((one, other) => compareText(one.timestamp, other.timestamp)));
});

test('events are read as often as somebody asks, also between two that are added', () => {
  const packed = createPackedEvents<ReturnType<typeof eventAt>>();
  const read = () => [...packed.inOrder()].map(({ number }) => number);
  expect(read()).toEqual([]);
  packed.add(eventAt(2 * minute, 1));
  expect(read()).toEqual([1]);
  packed.add(eventAt(minute, 2));
  packed.add(eventAt(2 * minute, 3));
  expect(read()).toEqual([2, 1, 3]);
  expect(read()).toEqual([2, 1, 3]);
});
