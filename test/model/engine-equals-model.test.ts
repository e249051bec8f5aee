/**
 * The engine against the model: the same calls to both, compared after each, and the invariants of what was written.
 * A run follows from its seed and its length; `TALLY_MODEL_RUNS`, `TALLY_MODEL_STEPS` and `TALLY_MODEL_SEED` make it
 * longer, or begin it elsewhere. What has ever failed is kept in seeds.json as the fewest calls that showed it, since a
 * seed means other calls as soon as the generator changes.
 */

import { describe, expect, test } from 'vitest';

import type { Step } from './commands.ts';
import { Disagreement, runSeed, runSteps } from './run.ts';
import kept from './seeds.json' with { type: 'json' };

const runs = Number(process.env['TALLY_MODEL_RUNS'] ?? '60');
const length = Number(process.env['TALLY_MODEL_STEPS'] ?? '40');
const first = Number(process.env['TALLY_MODEL_SEED'] ?? '1');

/** What is wrong on a seed, with the line that shows it again and the fewest calls to it. */
async function problemOn(seed: number): Promise<string | undefined> {
  try {
    await runSeed(seed, length);
    return undefined;
  } catch (error) {
    if (!(error instanceof Disagreement)) throw error;
    return `npm run sim -- --seed ${seed} --steps ${length}\n${error.message}`;
  }
}

describe('the engine does what the model does', { timeout: 3_600_000 }, () => {
  test.each(kept.map((each) => [each.about, each.steps] as const))('when %s', async (_about, steps) => {
    await expect(runSteps(steps as Step[])).resolves.toBeUndefined();
  });

  test(`on ${runs} seeds of ${length} calls`, async () => {
    for (let seed = first; seed < first + runs; seed += 1) expect(await problemOn(seed)).toBeUndefined();
  });
});
