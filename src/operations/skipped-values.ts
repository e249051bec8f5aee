/** What meters will pass over of events on their way in: no part of the service, which takes such values (semantics 8). */

export interface SkippedValues {
  /** `line` is where the event begins in its file. */
  add(
    event: { readonly eventName: string; readonly properties: Readonly<Record<string, unknown>> },
    line: number | undefined,
  ): void;
  /** One for each meter that skips something, in the order of the meters. */
  read(): readonly SkippedOfMeter[];
  /** What nobody is billed for although no value of it is wrong. */
  unread(): UnreadEvents;
}

export interface UnreadEvents {
  /** Events of names that no meter takes. */
  readonly eventCount: number;
  /** Some of these names, the first ones. */
  readonly eventNames: readonly string[];
  /** Meters of named events, none of which has their key. */
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
  /** Why the first of them is skipped, in words that go behind its value. */
  readonly first: { readonly line: number | undefined; readonly value: unknown; readonly reason: string };
}
