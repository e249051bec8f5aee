/** Instants and calendar dates as they stand in rows (see database.ts), and values that queries write out. */

import { sql } from 'kysely';

/**
 * Written out, since SQLite prepares a statement anew each time that a value is bound on which its plan may hang: a limit,
 * and what a partial index asks for.
 */
export const oneRow = sql.lit(1);
export const drafted = sql.lit('Drafted' as const);

export function instantText(instant: Temporal.Instant): string {
  return instant.toString({ fractionalSecondDigits: 3 });
}

export function optionalInstantText(instant: Temporal.Instant | undefined): string | null {
  return instant === undefined ? null : instantText(instant);
}

export function optionalInstant(text: string | null): Temporal.Instant | undefined {
  return text === null ? undefined : Temporal.Instant.from(text);
}

export function optionalDate(text: string | null): Temporal.PlainDate | undefined {
  return text === null ? undefined : Temporal.PlainDate.from(text);
}
