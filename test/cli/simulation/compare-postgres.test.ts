/** A comparison of the usage in a database on a server, which is read as it is. */

import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { openStore } from '../../../src/store/open.ts';
import { dumpOf } from '../../reliability/store-dump.ts';
import { usePostgres } from '../../support/postgres.ts';
import { stage, useStage } from '../../support/use-stage.ts';
import { writeYear } from '../../support/year-of-books.ts';

const postgres = await usePostgres();

describe.runIf(postgres !== undefined)('PostgreSQL', () => {
  useStage('embedded');

  test('a year says what it says on SQLite, and nothing is written to it', async () => {
    const server = (await postgres?.create()) ?? '';
    const file = join(stage.directory, 'year.db');
    for (const database of [server, file]) {
      const world = await writeYear(database);
      await world.close();
    }
    const content = async () => {
      const store = await openStore(server);
      const text = await dumpOf(store);
      await store.close();
      return text;
    };
    const before = await content();
    const grant = ['--grant', 'amount-cents=1000', '-o', 'json'];
    const [there, here] = [
      await stage.tally(['simulate', 'compare', '--database', server, ...grant]),
      await stage.tally(['simulate', 'compare', '--database', file, ...grant]),
    ];
    expect(there).toEqual(here);
    expect(there.exitCode).toBe(0);
    expect(await content()).toEqual(before);
  }, 60_000);
});
