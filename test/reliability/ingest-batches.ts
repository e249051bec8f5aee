/** Batches of events that both the process that sends them and the test that recounts them know. */

import type { NewEvent } from '../../src/store/event-store.ts';
import { eventOf } from '../store/rows.ts';

export const eventUpkeep = { longestTail: 120, leastKept: 10 };
export const day = 86_400_000;

/** Forty new events of three days, and five that replace one of an earlier batch and move it to another day. */
export function batchOf(batch: number): NewEvent[] {
  const fresh = Array.from({ length: 40 }, (_, index) => event(batch, index, batch % 3));
  const replaced = Array.from({ length: batch === 0 ? 0 : 5 }, (_, index) =>
    event(Math.floor(batch / 2), index, (batch + index) % 4),
  );
  return [...fresh, ...replaced];
}

function event(batch: number, index: number, onDay: number): NewEvent {
  return eventOf(`${batch}:${index}`, {
    timestampEpochMs: onDay * day + ((batch * 7_919 + index) % day),
    propertiesJson: `{"model":"m${index % 3}","tokens":${batch}.${index + 1}}`,
  });
}
