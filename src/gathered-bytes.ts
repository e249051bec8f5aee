/**
 * Bytes that come in pieces, as one. An object for each piece takes some four hundred bytes, and whoever sends them decides how
 * small they are, so they are copied as they come into room that doubles.
 */

import type { Readable } from 'node:stream';

export interface GatheredBytes {
  readonly length: number;
  readonly add: (piece: Uint8Array) => void;
  /** All that were added, in their order. */
  readonly whole: () => Buffer;
}

export function gatherBytes(): GatheredBytes {
  let room = Buffer.alloc(0);
  let length = 0;
  return {
    get length() {
      return length;
    },
    add(piece) {
      if (length + piece.length > room.length) {
        const larger = Buffer.allocUnsafe(Math.max(length + piece.length, 2 * room.length));
        room.copy(larger, 0, 0, length);
        room = larger;
      }
      room.set(piece, length);
      length += piece.length;
    },
    whole: () => room.subarray(0, length),
  };
}

/**
 * All bytes of a stream; undefined where there are more than `most`, of which the rest comes to nobody then. Rejects where
 * the stream fails or ends early. Without a loop: what Node loads for one takes a tenth of what a whole request takes.
 */
export async function bytesOf(stream: Readable, most: number): Promise<Buffer | undefined> {
  const gathered = gatherBytes();
  return await new Promise((resolve, reject) => {
    stream.on('data', function add(piece: Uint8Array) {
      if (gathered.length + piece.length <= most) return gathered.add(piece);
      stream.off('data', add);
      return resolve(undefined);
    });
    stream.on('end', () => resolve(gathered.whole()));
    stream.on('error', reject);
    stream.on('close', () => reject(new Error('the body was cut off')));
  });
}
