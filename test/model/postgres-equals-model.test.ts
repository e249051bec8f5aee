/** The engine on PostgreSQL against the model: fewer seeds than in memory, since what differs is the store alone. */

import { describe, expect, test } from 'vitest';

import { usePostgres } from '../support/postgres.ts';
import type { Step } from './commands.ts';
import { runSeed, runSteps } from './run.ts';
import kept from './seeds.json' with { type: 'json' };

const isLong = process.env['TALLY_LONG'] === '1';
const seeds = Array.from({ length: isLong ? 60 : 4 }, (_value, index) => 1000 + index);
const length = 40;

const postgres = await usePostgres();
const database = (await postgres?.create()) ?? '';
/** One for all: those of before are closed. */
const newDatabase = async () => {
  await postgres?.empty(database);
  return database;
};

describe.runIf(postgres !== undefined)(
  'the engine on PostgreSQL does what the model does',
  { timeout: 3_600_000 },
  () => {
    test.each(kept.map((each) => [each.about, each.steps] as const).slice(0, isLong ? undefined : 6))(
      'when %s',
      async (_about, steps) => {
        await expect(runSteps(steps as Step[], await newDatabase())).resolves.toBeUndefined();
      },
    );

    test.each(seeds)(`on seed %i, ${length} calls`, async (seed) => {
      await expect(runSeed(seed, length, await newDatabase())).resolves.toBeDefined();
    });
  },
);
