/** The engine that is measured: as the service has it. */

import { randomBytes, randomUUIDv7 } from 'node:crypto';

import { createEngine } from '../src/engine/engine.ts';
import type { Moment } from '../src/operations/field-rules.ts';
import type { Engine } from '../src/operations/index.ts';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';

/** The clock of the service. */
export const machineTime = (): Moment => ({ epochMilliseconds: Date.now() });

/** Closing the engine closes the store. */
export function engineOn(store: Store, now = machineTime): Engine {
  return createEngine({ store, now, newId: randomUUIDv7, randomBytes });
}

/** The engine on a file, which is made if it is missing; closing the engine closes the file. */
export async function openBook(file: string, now?: () => Moment): Promise<Engine> {
  return engineOn(await openStore(file), now);
}
