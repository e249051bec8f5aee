/** Keys in the tables of a file, of which many have the same hash. */

import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { openConnection, type SqliteConnection } from '../../src/store/backends/sqlite/connection.ts';
import { createSqliteKeyTables } from '../../src/store/backends/sqlite/events/key-tables.ts';
import { file, fill, useTestFile } from './test-file.ts';

useTestFile();

let connection: SqliteConnection;

beforeEach(async () => {
  await fill();
  connection = await openConnection(file, {});
});
afterEach(() => connection.close());

/** How many events have a hash; a piece of a run holds 256. */
const counts = fc.array(fc.constantFrom(1, 2, 100, 255, 256, 257, 600), { minLength: 1, maxLength: 8 });

test('all events of a hash are found, over the ends of pieces and in every run, and none of a hash between', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(counts, { minLength: 1, maxLength: 3 }), async (runs) => {
      await connection.begin('write');
      const tables = createSqliteKeyTables(connection);
      const expected = new Map<number, number[]>();
      let seq = 0;
      for (const run of runs) {
        const pairs = run.flatMap((count, place) =>
          Array.from({ length: count }, () => [2 * place + 1, (seq += 1)] as const),
        );
        tables.write(
          { hashes: Float64Array.from(pairs, ([hash]) => hash), seqs: Float64Array.from(pairs, ([, own]) => own) },
          1,
        );
        for (const [hash, own] of pairs) expected.getOrInsertComputed(hash, () => []).push(own);
      }
      tables.findRuns();
      const asked = Float64Array.from({ length: 18 }, (_, hash) => hash);
      const found = tables.seqsWith(asked);
      for (const hash of asked) expect(found.get(hash)).toEqual(expected.get(hash) ?? []);
      connection.rollback();
    }),
    { numRuns: 40 },
  );
});
