/** Instants and calendar dates as they stand in rows (see database.ts). */

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
