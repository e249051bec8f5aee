/** The book as it comes out when nobody interferes: its files and its rows ahead of every step, and behind the last one. */

import { join } from 'node:path';

import { openBook } from './book.ts';
import type { Step } from './book.ts';
import { dump, takeImage } from './database-image.ts';
import type { DatabaseImage } from './database-image.ts';

export interface ReferenceBook {
  readonly steps: readonly Step[];
  /** `images[n]`: n steps are done, and nobody has the file open. */
  readonly images: readonly DatabaseImage[];
  /** The rows, likewise. */
  readonly dumps: readonly string[];
}

/** Writes the book in `directory`, opening it anew for each step. */
export async function writeReferenceBook(directory: string, steps: readonly Step[]): Promise<ReferenceBook> {
  const file = join(directory, 'reference.db');
  const images: DatabaseImage[] = [];
  const dumps: string[] = [];
  for (let index = 0; index <= steps.length; index += 1) {
    const book = await openBook(file, steps);
    if (index > 0) await book.perform(index - 1);
    await book.world.close();
    dumps.push(dump(file));
    images.push(takeImage(file));
  }
  return { steps, images, dumps };
}

/** Where two texts of lines part, for a failure that a person can read; nothing for the same text. */
export function firstDifference(one: string, other: string): string | undefined {
  if (one === other) return undefined;
  const [lines, others] = [one.split('\n'), other.split('\n')];
  const index = lines.findIndex((line, place) => line !== others[place]);
  const place = index === -1 ? lines.length : index;
  return `line ${place + 1}: ${lines[place] ?? 'the end'} | ${others[place] ?? 'the end'}`;
}
