/**
 * Events in order of time. A million of them would take a gigabyte as objects, so they are kept as compressed text, by the day on
 * which they happened; only those of the day that is being read are objects.
 */

import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';

import { reviveExactJson } from '../../exact-json.ts';
import { compareText } from '../../text-order.ts';

export interface PackedEvents<T> {
  readonly length: number;
  add(event: T): void;
  /** At one instant in the order in which they were added. */
  inOrder(): IteratorObject<T, undefined>;
}

/** How many wait to be packed together: fewer would be larger. */
const eventsPerPiece = 10_000;
const dayCharacters = '2026-01-01'.length;

export function createPackedEvents<T extends { readonly timestamp: string }>(): PackedEvents<T> {
  const days = new Map<string, Buffer[]>();
  let waiting: T[] = [];
  let length = 0;
  const pack = () => {
    for (const [day, events] of Map.groupBy(waiting, ({ timestamp }) => timestamp.slice(0, dayCharacters))) {
      const lines = events.map((event) => JSON.stringify(event)).join('\n');
      const packed = deflateRawSync(lines, { level: constants.Z_BEST_SPEED });
      // Copied, since it would keep the whole room that it was written in.
      days.set(day, [...(days.get(day) ?? []), Buffer.from(packed)]);
    }
    waiting = [];
  };
  return {
    get length() {
      return length;
    },
    add(event) {
      waiting.push(event);
      length += 1;
      if (waiting.length === eventsPerPiece) pack();
    },
    *inOrder() {
      pack();
      for (const [, pieces] of [...days].toSorted(([one], [other]) => compareText(one, other))) {
        const lines = pieces.flatMap((piece) => inflateRawSync(piece).toString().split('\n'));
        const events = lines.map((line) => reviveExactJson(line) as T);
        yield* events.toSorted((one, other) => compareText(one.timestamp, other.timestamp));
      }
      return undefined;
    },
  };
}
