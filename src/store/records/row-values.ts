/** Instants and calendar dates as they stand in rows (see database.ts), and values that queries write out. */

import { sql } from 'kysely';

import { keepLatest } from '../../once.ts';

/**
 * Written out, since SQLite prepares a statement anew each time that a value is bound on which its plan may hang: a limit,
 * and what a partial index asks for.
 */
export const oneRow = () => sql.lit(1);
/** Written out like `oneRow`: the index of drafts is found by it. */
export const drafted = () => sql.lit('Drafted' as const);

/** An instant as `YYYY-MM-DDTHH:mm:ss.sssZ`: the text that Temporal gives, in a third of the time. */
export function instantText({ epochMilliseconds }: Temporal.Instant): string {
  return latestTexts(epochMilliseconds, () => new Date(epochMilliseconds).toISOString());
}

/** Rows of a call repeat few instants: when it is made, and where a billing period begins and ends. */
const latestTexts = keepLatest<string>(256);

/** As `instantText`; NULL for none. */
export function optionalInstantText(instant: Temporal.Instant | undefined): string | null {
  return instant === undefined ? null : instantText(instant);
}

/** The instant of a row's text; undefined for NULL. */
export function optionalInstant(text: string | null): Temporal.Instant | undefined {
  return text === null ? undefined : Temporal.Instant.from(text);
}

/** The date of a row's text; undefined for NULL. */
export function optionalDate(text: string | null): Temporal.PlainDate | undefined {
  return text === null ? undefined : Temporal.PlainDate.from(text);
}
