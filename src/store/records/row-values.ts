/** Instants and calendar dates as they stand in rows (see database.ts), and values that queries write out. */

import { sql } from 'kysely';

/**
 * Written out, since SQLite prepares a statement anew each time that a value is bound on which its plan may hang: a limit,
 * and what a partial index asks for.
 */
export const oneRow = () => sql.lit(1);
export const drafted = () => sql.lit('Drafted' as const);

export function instantText({ epochMilliseconds }: Temporal.Instant): string {
  let text = latestTexts.get(epochMilliseconds);
  if (text === undefined) {
    // The text that Temporal gives, in less time.
    text = new Date(epochMilliseconds).toISOString();
    if (latestTexts.size === mostTexts) latestTexts.clear();
    latestTexts.set(epochMilliseconds, text);
  }
  return text;
}

/** Rows of a call repeat few instants: when it is made, and where a billing period begins and ends. */
const latestTexts = new Map<number, string>();
const mostTexts = 256;

export function optionalInstantText(instant: Temporal.Instant | undefined): string | null {
  return instant === undefined ? null : instantText(instant);
}

export function optionalInstant(text: string | null): Temporal.Instant | undefined {
  return text === null ? undefined : Temporal.Instant.from(text);
}

export function optionalDate(text: string | null): Temporal.PlainDate | undefined {
  return text === null ? undefined : Temporal.PlainDate.from(text);
}
