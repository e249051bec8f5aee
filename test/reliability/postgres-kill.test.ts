/** Reliability 7, C1 on PostgreSQL: a process is killed while it writes; what it acknowledged is there, nothing is half there. */

import { beforeAll, describe, expect, test } from 'vitest';

import { usePostgres } from '../support/postgres.ts';
import { openBook, stepsOf } from './book.ts';
import { outputOf, startChild } from './child.ts';
import { countFinalized, killMidway, writeDueBook } from './due-book.ts';
import { firstDifference } from './reference-book.ts';
import { problemsOf } from './soundness.ts';
import { dumpOf } from './store-dump.ts';
import { drawn, inTier, seeds } from './tiers.ts';

const postgres = await usePostgres();
const steps = stepsOf();

describe.runIf(postgres !== undefined)('a process killed while it writes to PostgreSQL', () => {
  /** The book after each number of steps, as it comes out in memory on the other backend. */
  const dumps: string[] = [];

  beforeAll(async () => {
    const book = await openBook(':memory:');
    dumps.push(await dumpOf(book.world.store));
    for (let index = 0; index < steps.length; index += 1) {
      await book.perform(index);
      dumps.push(await dumpOf(book.world.store));
    }
    await book.world.close();
  }, 60_000);

  test.each(seeds(inTier(3, 60)))(
    'loses nothing acknowledged and leaves nothing half done (seed %i)',
    async (seed) => {
      const url = (await postgres?.create()) ?? '';
      const behind = 1 + drawn(seed, 'acknowledgements', steps.length - 1);
      const { process: child, output, ended } = startChild('book-process.ts', [url, '0']);
      let seen = 0;
      child.stdout.on('data', (chunk: Buffer) => {
        seen += chunk.toString().split('\n').length - 1;
        if (seen >= behind) setTimeout(() => child.kill('SIGKILL'), drawn(seed, 'milliseconds', 8));
      });
      await ended;
      const acknowledged = (await output).split('\n').length - 1;

      const book = await openBook(url);
      // A write waits for the turn of the one that was killed, whose session has then ended.
      await book.world.store.write(async () => undefined);
      const found = await dumpOf(book.world.store);
      const done = found === dumps[acknowledged] ? acknowledged : acknowledged + 1;
      expect(firstDifference(found, dumps[done] ?? '')).toBeUndefined();
      expect(await problemsOf(book.world)).toEqual([]);

      // Whoever sent the command in flight does not know how it ended, and sends it again.
      const next = steps[acknowledged]?.isRepeatable === true ? acknowledged : done;
      for (let index = next; index < steps.length; index += 1) await book.perform(index);
      expect(firstDifference(await dumpOf(book.world.store), dumps.at(-1) ?? '')).toBeUndefined();
      await book.world.close();
      await postgres?.drop(url);
    },
    60_000,
  );

  test('in a bill run leaves the rest to the next one, which finishes it', async () => {
    const url = (await postgres?.create()) ?? '';
    await writeDueBook(url, inTier(30, 60));
    const reader = await killMidway(url);
    expect(await problemsOf(reader)).toEqual([]);
    // Two at once, as two servers would: each invoice is finalized by one of them.
    const before = await countFinalized(reader);
    const runs = ['aaaa', 'bbbb'].map(
      async (prefix) => await outputOf(startChild('bill-run-process.ts', [url, prefix])),
    );
    const counts = (await Promise.all(runs)).map((output) => output.trim().split(' ').map(Number));
    expect(before + counts.reduce((sum, [count = 0]) => sum + count, 0)).toBe(2 * inTier(30, 60));
    expect(counts.map(([, failed]) => failed)).toEqual([0, 0]);
    expect(await problemsOf(reader)).toEqual([]);
    await reader.close();
    await postgres?.drop(url);
  }, 60_000);
});
