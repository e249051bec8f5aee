/**
 * The suite of the engine, as it is, on a PostgreSQL server. Left out, as the model and the scripts go over the same ground
 * there: what does one thing many times over (`-properties`, a year day by day), and what brings a database of its own.
 */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe } from 'vitest';

import { usePostgres } from './support/postgres.ts';
import { moveWorlds } from './support/world.ts';

const postgres = await usePostgres();
const repeats = /-properties|clock-books|bill-run-pages|usage-drop|known-ledgers/;
const folder = join(import.meta.dirname, 'engine');

const files = readdirSync(folder).filter((name) => name.endsWith('.test.ts') && !repeats.test(name));
const free: string[] = [];

// Not while it is read: without a server nothing here runs, nor what would bring the worlds of the next file back.
beforeAll(() =>
  moveWorlds(async () => {
    const known = free.pop();
    if (known !== undefined) await postgres?.empty(known);
    const database = known ?? (await postgres?.create()) ?? '';
    return { database, giveBack: () => void free.push(database) };
  }),
);
afterAll(() => moveWorlds(undefined));

describe.runIf(postgres !== undefined).each(files)('%s', async (file) => {
  // As a file of its own: this process may have run it already.
  await import(`${join(folder, file)}?on=postgres`);
});
