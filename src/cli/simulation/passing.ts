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
  /** File and line, for a refusal. */
  readonly place?: () => string;
}

export interface PassingOptions {
  /** In order of time. */
  readonly events: Iterable<TimedEvent, undefined>;
  /** Usage within one such span arrives together. */
  readonly resolution: string;
  readonly start: string;
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
export function createPassing(billing: Billing, { events, resolution, start, onProgress }: PassingOptions): Passing {
  const span = Temporal.Duration.from(resolution).total('milliseconds');
  const origin = millisecondsOf(start);
  const rest = events[Symbol.iterator]();
  let upcoming = rest.next().value;
  let now = start;
  let sent = 0;
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
    onProgress({ events: sent, at: now });
  };

  /** The end, exclusive, of the span in which an event lies. */
  const endOfSpan = (at: string) => {
    const count = Math.floor((millisecondsOf(at) - origin) / span) + 1;
    return timestampOf(Temporal.Instant.fromEpochMilliseconds(origin + count * span));
  };

  /** The event that comes next. */
  const peek = () => upcoming;

  /** The next events, as many as one call takes; those before an instant, if one is given. */
  const take = (end?: string): TimedEvent[] => {
    const batch: TimedEvent[] = [];
    for (let event = peek(); event !== undefined && batch.length < limits.eventsPerBatch; event = peek()) {
      if (end !== undefined && event.at >= end) break;
      batch.push(event);
      upcoming = rest.next().value;
    }
    return batch;
  };

  const send = async (batch: readonly TimedEvent[]) => {
    try {
      await billing.call('usage.ingestBatch', { body: { events: batch.map(({ toBody }) => toBody()) } });
    } catch (error) {
      throw placed(error, batch);
    }
    sent += batch.length;
  };

  return {
    async until(instant) {
      // Whatever was done meanwhile may have an end or an expiry.
      due = undefined;
      for (let first = peek(); first !== undefined && first.at < instant; first = peek()) {
        due ??= (await billing.call('clock.show')).body.data.nextDueAt;
        const nextDueAt = due;
        if (nextDueAt !== null && nextDueAt > now && nextDueAt <= first.at) {
          await advance(nextDueAt);
          continue;
        }
        const ends = [instant, endOfSpan(first.at), ...(nextDueAt === null || nextDueAt <= now ? [] : [nextDueAt])];
        const [end = instant] = ends.toSorted();
        const batch = take(end);
        await advance(batch.at(-1)?.at ?? now);
        await send(batch);
      }
      await advance(instant);
    },
    async ahead() {
      while (peek() !== undefined) await send(take());
    },
    sent: () => sent,
  };
}

/** Says where a refused event comes from, in place of its index in a batch that nobody sees. */
function placed(error: unknown, batch: readonly TimedEvent[]): unknown {
  if (!(error instanceof BillingError) || batch[0]?.place === undefined) return error;
  const message = error.message.replaceAll(
    /(?<=^|; )events\[(\d+)\](\.?)/g,
    (_words, index, dot) => `${batch[Number(index)]?.place?.()}${dot === '' ? '' : ': '}`,
  );
  return reworded(error, message);
}

/** Since 1970. */
export function millisecondsOf(timestamp: string): number {
  return Temporal.Instant.from(timestamp).epochMilliseconds;
}
