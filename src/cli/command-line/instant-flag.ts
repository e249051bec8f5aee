/** Instants as flags give them. */

import { BillingError } from '../../errors.ts';

/** The instant of a date (00:00 UTC) or date-time; undefined if there is no text. Throws a usage error that names the flag. */
export function instantOf(flag: string, text: string | undefined): Temporal.Instant | undefined {
  if (text === undefined) return undefined;
  try {
    return Temporal.Instant.from(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text);
  } catch (cause) {
    throw new BillingError('usage', `${flag} takes a date such as 2026-03-01, not ${text}`, { cause });
  }
}

/** The instants of `--from` and `--to`, or of flags with other names. Throws a usage error where nothing is between them. */
export function spanOf(
  flags: { readonly from?: string | undefined; readonly to?: string | undefined },
  [fromFlag, toFlag]: readonly [from: string, to: string] = ['--from', '--to'],
): {
  readonly from: Temporal.Instant | undefined;
  readonly to: Temporal.Instant | undefined;
} {
  const [from, to] = [instantOf(fromFlag, flags.from), instantOf(toFlag, flags.to)];
  if (from !== undefined && to !== undefined && Temporal.Instant.compare(from, to) >= 0) {
    throw new BillingError('usage', `${toFlag} must be after ${fromFlag}`, { hint: 'the end is excluded' });
  }
  return { from, to };
}
