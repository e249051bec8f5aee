/** Says of events that are sent by hand what no meter reads in them, as an import does: else it is seen on the invoice only. */

import type { CallInput } from '../../operations/operation.ts';
import { parseCall } from '../../operations/parse.ts';
import type { SkippedValues } from '../../operations/skipped-values.ts';
import { tellSkipped } from '../import/skipped.ts';
import type { Session } from '../session/session.ts';

/** `input` is one that the operation, which records events, takes. */
export async function tellUnreadValues(
  operation: string,
  input: CallInput,
  {
    watched,
    session,
    isRehearsal,
  }: { readonly watched: SkippedValues; readonly session: Session; readonly isRehearsal: boolean },
): Promise<void> {
  const { body } = await parseCall(operation as 'usage.ingest' | 'usage.ingestBatch', input);
  const events = 'events' in body ? body.events : [body];
  for (const [index, { eventName, properties = {} }] of events.entries()) watched.add({ eventName, properties }, index);
  tellSkipped(session, watched, {
    placeOf: (index) => (events.length === 1 ? 'this event' : `events[${index}]`),
    remedy: isRehearsal
      ? 'correct them before they are sent'
      : 'send corrected events under the same keys (--idempotency-key), since under others they count as additional events',
    meters: 'with: tally meters list',
  });
}
