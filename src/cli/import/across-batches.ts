/** Counts in a rehearsal what rows of earlier batches would have recorded by then: each batch is judged by itself, and undone. */

import type { KnownEvents } from '../../answer-facts.ts';
import { canonicalJson } from '../../canonical-json.ts';
import { sha256Of } from '../../digest.ts';
import { limits } from '../../limits.ts';
import { utcTimestamp } from '../../operations/field-rules.ts';
import type { Answer, Billing, OperationName } from '../../operations/index.ts';
import type { CallInput } from '../../operations/operation.ts';
import type { ImportedEvent } from './mapping.ts';

/** The rehearsal, with what it tells of known events made whole; beyond `limits.rehearsedKeys` it tells nothing of them. */
export function acrossBatches(rehearsal: Billing): Billing {
  /** A digest of what was last sent under each key. */
  const contents = new Map<unknown, string>();

  /** Notes the events, which were accepted, and compares them with those before. */
  function note(events: readonly ImportedEvent[]): KnownEvents {
    let replaced = 0;
    for (const { idempotencyKey, ...event } of events) {
      const timestamp = utcTimestamp(event.timestamp);
      // A longer part of a text would keep all of it in memory.
      const content = sha256Of(canonicalJson({ ...event, timestamp })).slice(0, 12);
      if (contents.get(idempotencyKey) !== content) replaced += 1;
      contents.set(idempotencyKey, content);
    }
    return { replaced, unchanged: events.length - replaced };
  }

  async function call<N extends OperationName>(name: N, input: CallInput = {}): Promise<Answer<N>> {
    const { knownEvents, ...answer } = await rehearsal.call(name, input);
    if (name !== 'usage.ingestBatch' || knownEvents === undefined) return answer;
    if (contents.size >= limits.rehearsedKeys) return answer;
    const { events } = input.body as { readonly events: readonly ImportedEvent[] };
    const isAgain = ({ idempotencyKey }: ImportedEvent) => contents.has(idempotencyKey);
    const again = events.filter(isAgain);
    const first = events.filter((event) => !isAgain(event));
    const ofFirst =
      again.length === 0
        ? knownEvents
        : first.length === 0
          ? { unchanged: 0, replaced: 0 }
          : (await rehearsal.call('usage.ingestBatch', { body: { events: first } })).knownEvents;
    note(first);
    const ofAgain = note(again);
    if (ofFirst === undefined) return answer;
    const sum = (member: keyof KnownEvents) => ofFirst[member] + ofAgain[member];
    return { ...answer, knownEvents: { unchanged: sum('unchanged'), replaced: sum('replaced') } };
  }
  return { call };
}
