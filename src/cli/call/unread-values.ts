/** Says of events that are sent by hand what no meter reads in them, as an import does: else it is seen on the invoice only. */

import type { CallInput } from '../../operations/operation.ts';
import type { Billing } from '../../operations/index.ts';
import { parseCall } from '../../operations/parse.ts';
import { tellSkipped, watchValues } from '../import/skipped.ts';
import type { Session } from '../session/session.ts';

/** Gives what tells; `input` is one that the operation, which records events, takes. Silent where meters cannot be read. */
export async function unreadValues(
  operation: string,
  input: CallInput,
  {
    billing,
    session,
    isRehearsal,
  }: { readonly billing: Billing; readonly session: Session; readonly isRehearsal: boolean },
): Promise<() => void> {
  const watched = await watchValues(session, billing);
  if (watched === undefined) return () => {};
  const { body } = await parseCall(operation as 'usage.ingest' | 'usage.ingestBatch', input);
  const events = 'events' in body ? body.events : [body];
  for (const [index, { eventName, properties = {} }] of events.entries()) watched.add({ eventName, properties }, index);
  const telling = {
    placeOf: (index: number) => (events.length === 1 ? 'this event' : `events[${index}]`),
    remedy: isRehearsal
      ? 'correct them before they are sent'
      : 'send corrected events under the same keys (--idempotency-key), since under others they count as additional events',
    meters: 'with: tally meters list',
  };
  return () => tellSkipped(session, watched, telling);
}
