/**
 * `npm run sim -- --seed 7 --steps 40 [--runs 100] [--keep "words"]`: runs seeds until model and engine disagree, shows
 * the fewest calls to that, and with `--keep` adds them to seeds.json under these words.
 */

import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';

import { Disagreement, runSeed, shrink } from './run.ts';
import type { Shrunk } from './run.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    steps: { type: 'string', default: '40' },
    runs: { type: 'string', default: '1' },
    keep: { type: 'string' },
  },
});
const [first, runs] = [Number(values.seed), Number(values.runs)];

for (let seed = first; seed < first + runs; seed += 1) {
  const found = await disagreementOn(seed);
  if (found === undefined) {
    process.stdout.write(`seed ${seed}: model and engine agree\n`);
    continue;
  }
  process.stdout.write(`seed ${seed}: ${found.problem}\n`);
  for (const step of found.steps) process.stdout.write(`  ${JSON.stringify(step)}\n`);
  if (values.keep !== undefined) await keep(values.keep, found);
  process.exitCode = 1;
  break;
}

async function disagreementOn(seed: number): Promise<Shrunk | undefined> {
  try {
    await runSeed(seed, Number(values.steps));
    return undefined;
  } catch (error) {
    if (!(error instanceof Disagreement)) throw error;
    return await shrink(error.steps, error.message);
  }
}

async function keep(about: string, { steps }: Shrunk): Promise<void> {
  const file = new URL('seeds.json', import.meta.url);
  const kept = JSON.parse(await readFile(file, 'utf8')) as unknown[];
  await writeFile(file, `${JSON.stringify([...kept, { about, steps }], null, 2)}\n`);
}
