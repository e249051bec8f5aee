/** `--source`, by which equal rows of two files are told apart. */

import { BillingError } from '../../errors.ts';

/**
 * The name of a file, empty when none is given. Throws a usage error for an empty one, from a variable that a script forgot to
 * set: its rows would be those of no name, and others once it is set.
 */
export function sourceOf(name: string | undefined): string {
  if (name?.trim() === '') throw new BillingError('usage', '--source needs a name');
  return name ?? '';
}
