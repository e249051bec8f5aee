/** A world of its own for each test of a file. */

import { afterEach, beforeEach } from 'vitest';

import { createWorld } from './world.ts';
import type { World } from './world.ts';

/** That of the running test. */
export let world: World;

/** Call at the top of a test file. */
export function useWorld(options?: Parameters<typeof createWorld>[0]): void {
  beforeEach(async () => {
    world = await createWorld(options);
  });
  afterEach(async () => {
    await world.close();
  });
}
