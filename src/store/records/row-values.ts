/** Instants and calendar dates as rows hold them (see database.ts), and values that queries spell out. */

import { sql } from 'kysely';

import { keepLatest } from '../../once.ts';
import type { Moment } from '../../operations/field-rules.ts';

/**
 * A literal, because SQLite prepares a statement again whenever a value is bound on which its plan may depend: a limit, or the
 * condition of a partial index.
 */
export const oneRow = () => sql.lit(1);
/** A literal like `oneRow`: the index of drafts depends on it. */
export const drafted = () => sql.lit('Drafted' as const);

/** An instant as `YYYY-MM-DDTHH:mm:ss.sssZ`: the same text as Temporal's, in a third of the time. */
export function instantText({ epochMilliseconds }: Moment): string {
  return latestTexts(epochMilliseconds, () => new Date(epochMilliseconds).toISOString());
}

/** The rows of a call repeat few instants: that of the call, and the start and end of its billing periods. */
const latestTexts = keepLatest<string>(256);

/** As `instantText`; undefined becomes NULL. */
export function optionalInstantText(instant: Temporal.Instant | undefined): string | null {
  return instant === undefined ? null : instantText(instant);
}

/** The instant of a row's text; undefined for NULL, or without a row. */
export function optionalInstant(text: string | null | undefined): Temporal.Instant | undefined {
  return text === null || text === undefined ? undefined : Temporal.Instant.from(text);
}

/** The date of a row's text; undefined for NULL, or without a row. */
export function optionalDate(text: string | null | undefined): Temporal.PlainDate | undefined {
  return text === null || text === undefined ? undefined : Temporal.PlainDate.from(text);
}
