/** Flags that mean nothing without another one: whoever left that out would see them ignored, and something else done. */

import { BillingError } from '../../errors.ts';
import type { GlobalFlag } from './global-flags.ts';

/** Throws a usage error for the first flag that is given without the one that it goes with. */
export function refuseAlone(
  flags: readonly Pick<GlobalFlag, 'name' | 'goesWith'>[],
  given: Readonly<Record<string, unknown>>,
): void {
  for (const { name, goesWith } of flags) {
    if (goesWith === undefined || given[name] === undefined || given[goesWith] !== undefined) continue;
    throw new BillingError('usage', `--${name} goes with --${goesWith}`);
  }
}
