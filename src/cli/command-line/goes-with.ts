/** Flags that mean nothing without another one. Alone they would be ignored, and something else would be done than meant. */

import { BillingError } from '../../errors.ts';
import type { GlobalFlag } from './global-flags.ts';

/** Throws a usage error for the first flag given without the one it goes with. */
export function refuseAlone(
  flags: readonly Pick<GlobalFlag, 'name' | 'goesWith'>[],
  given: Readonly<Record<string, unknown>>,
): void {
  for (const { name, goesWith } of flags) {
    if (goesWith === undefined || given[name] === undefined || given[goesWith] !== undefined) continue;
    throw new BillingError('usage', `--${name} works only with --${goesWith}`);
  }
}
