/** What meters will skip in events on their way in: not part of the service, which takes such values (semantics 8). */

export interface SkippedValues {
  /** `line` is where the event begins in its file. */
  add(
    event: { readonly eventName: string; readonly properties: Readonly<Record<string, unknown>> },
    line: number | undefined,
  ): void;
  /** One for each meter that skips something, in the order of the meters. */
  read(): readonly SkippedOfMeter[];
  /** Events that nobody is billed for although none of their values is wrong. */
  unread(): UnreadEvents;
}

export interface UnreadEvents {
  /** Events of names that no meter takes. */
  readonly eventCount: number;
  /** Some of these names, the first ones. */
  readonly eventNames: readonly string[];
  /** Meters that name their events, where none of these events has the meter's key. */
  readonly withoutKey: readonly {
    readonly meterCode: string;
    readonly aggregationKey: string;
    readonly eventCount: number;
  }[];
}

export interface SkippedOfMeter {
  readonly meterCode: string;
  readonly aggregationKey: string;
  /** Events that the meter takes and that have its key. */
  readonly valueCount: number;
  readonly skippedCount: number;
  /** Why the first of them is skipped, in words that follow its value. */
  readonly first: { readonly line: number | undefined; readonly value: unknown; readonly reason: string };
}
