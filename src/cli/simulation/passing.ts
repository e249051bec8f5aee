/**
 * Lets time pass with usage in it. Events arrive close to their time: before anything later falls due, and never before they
 * happened.
 */

import { BillingError, ConflictError, reworded } from '../../errors.ts';
import { limits } from '../../limits.ts';
import { timestampOf } from '../../operations/field-rules.ts';
import type { Billing } from '../../operations/index.ts';

export interface TimedEvent {
  /** In UTC with milliseconds. */
  readonly at: string;
  /** Called when the event is sent, because the things it names may only be created on the way. */
  readonly toBody: () => object;
}

export interface PassingOptions {
  /** In order of time. */
  readonly events: readonly TimedEvent[];
  /** Usage within one such span arrives together. */
  readonly resolution: string;
  readonly start: string;
  /** File and line of an event by its place in `events`, for a refusal. */
  readonly placeOf?: (place: number) => string;
  readonly onProgress: (progress: { readonly events: number; readonly at: string }) => void;
}

export interface Passing {
  /** Lets time pass until an instant, exclusive: usage at that very instant comes after it. */
  until(instant: string): Promise<void>;
  /** Sends the usage that is left, as recorded ahead of its time. */
  ahead(): Promise<void>;
  /** How many events have been sent. */
  sent(): number;
}

/** The clock must be simulated, and stand at `start`. */
export function createPassing(
  billing: Billing,
  { events, resolution, start, placeOf, onProgress }: PassingOptions,
): Passing {
  const span = Temporal.Duration.from(resolution).total('milliseconds');
  const origin = millisecondsOf(start);
  let now = start;
  let next = 0;
  /** When something falls due next; null for never, undefined if it must be asked. */
  let due: string | null | undefined;

  const advance = async (to: string) => {
    if (to <= now) return;
    const { failures } = (await billing.call('clock.advance', { body: { to } })).body.data;
    const [failure] = failures;
    // A failed bill would be missing from every total.
    if (failure !== undefined) throw new ConflictError(`what fell due could not be done: ${failure.message}`);
    now = to;
    if (typeof due === 'string' && due <= now) due = undefined;
    onProgress({ events: next, at: now });
  };

  /** The end, exclusive, of the span in which an event lies. */
  const endOfSpan = (at: string) => {
    const count = Math.floor((millisecondsOf(at) - origin) / span) + 1;
    return timestampOf(Temporal.Instant.fromEpochMilliseconds(origin + count * span));
  };

  const send = async (batch: readonly TimedEvent[]) => {
    try {
      await billing.call('usage.ingestBatch', { body: { events: batch.map(({ toBody }) => toBody()) } });
    } catch (error) {
      const first = next;
      throw placeOf === undefined ? error : placed(error, (index) => placeOf(first + index));
    }
    next += batch.length;
  };

  return {
    async until(instant) {
      // Whatever was done meanwhile may have an end or an expiry.
      due = undefined;
      for (let first = events[next]; first !== undefined && first.at < instant; first = events[next]) {
        due ??= (await billing.call('clock.show')).body.data.nextDueAt;
        const nextDueAt = due;
        if (nextDueAt !== null && nextDueAt > now && nextDueAt <= first.at) {
          await advance(nextDueAt);
          continue;
        }
        const ends = [instant, endOfSpan(first.at), ...(nextDueAt === null || nextDueAt <= now ? [] : [nextDueAt])];
        const [end = instant] = ends.toSorted();
        let after = next;
        while (after - next < limits.eventsPerBatch && (events[after]?.at ?? end) < end) after += 1;
        const batch = events.slice(next, after);
        await advance(batch.at(-1)?.at ?? now);
        await send(batch);
      }
      await advance(instant);
    },
    async ahead() {
      while (next < events.length) await send(events.slice(next, next + limits.eventsPerBatch));
    },
    sent: () => next,
  };
}

/** Says where a refused event comes from, in place of its index in a batch that nobody sees. */
function placed(error: unknown, placeOf: (index: number) => string): unknown {
  if (!(error instanceof BillingError)) return error;
  const message = error.message.replaceAll(
    /(?<=^|; )events\[(\d+)\](\.?)/g,
    (_words, index, dot) => `${placeOf(Number(index))}${dot === '' ? '' : ': '}`,
  );
  return reworded(error, message);
}

/** Since 1970. */
export function millisecondsOf(timestamp: string): number {
  return Temporal.Instant.from(timestamp).epochMilliseconds;
}
