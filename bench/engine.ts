/** The engine that is measured: as the service has it. */

import { randomBytes, randomUUIDv7 } from 'node:crypto';

import { createEngine } from '../src/engine/engine.ts';
import { limits } from '../src/limits.ts';
import type { Engine } from '../src/operations/index.ts';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';

/** Closing the engine closes the store. */
export function engineOn(store: Store, now = (): Temporal.Instant => Temporal.Now.instant()): Engine {
  const { finalizationGraceHours } = limits;
  return createEngine({ store, now, newId: randomUUIDv7, randomBytes, finalizationGraceHours });
}

/** The engine on a file, which is made if it is missing; closing the engine closes the file. */
export async function openBook(file: string, now?: () => Temporal.Instant): Promise<Engine> {
  return engineOn(await openStore(file), now);
}
