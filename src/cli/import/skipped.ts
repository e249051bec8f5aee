/** Says which events of an import nobody will be billed for: they are recorded all the same (semantics 8). */

import type { Billing } from '../../operations/index.ts';
import type { SkippedValues } from '../../operations/skipped-values.ts';
import { everyRow } from '../every-row.ts';
import { counted, say } from '../terminal/safe-text.ts';
import type { Session } from '../session/session.ts';
import { tell } from '../session/tell.ts';
import type { ImportedEvent } from './mapping.ts';
import type { RowUnit } from './readers.ts';
import { ifTold } from '../session/if-told.ts';

const shownCharacters = 60;
const shownNames = 3;

/** Undefined if there are no meters or they cannot be read: an import does not need them. */
export async function watchValues(
  { dependencies }: Session,
  billing: Billing | undefined,
): Promise<SkippedValues | undefined> {
  if (billing === undefined) return undefined;
  return await ifTold(async () => await dependencies.watchValues(await everyRow(billing, 'meters.list')));
}

/** Watches the events of an import as they are accepted. */
export function watching(skipped: SkippedValues) {
  return (events: readonly ImportedEvent[], lines: ArrayLike<number>): void => {
    for (const [index, event] of events.entries()) skipped.add(event, lines[index]);
  };
}

export function tellSkipped(
  session: Session,
  watched: SkippedValues,
  { isRehearsal, unit }: { readonly isRehearsal: boolean; readonly unit: RowUnit },
): void {
  tellUnread(session, watched);
  const skipped = watched.read();
  if (skipped.length === 0) return;
  for (const { meterCode, aggregationKey, valueCount, skippedCount, first } of skipped) {
    const many = say`warning: ${aggregationKey}: meter ${meterCode} skips ${skippedCount} of ${counted(valueCount, 'value')}`;
    tell(session, say`${many}; the first, in ${unit} ${first.line ?? 0}: ${shortened(first.value)} ${first.reason}`);
  }
  const what = isRehearsal
    ? 'correct them before they are imported'
    : 'import corrected rows under the same keys (--key-column), since under others they count as additional events; see the keys with: tally usage events';
  tell(
    session,
    say`  hint: nothing is billed for them; write numbers with digits and a point, such as 1000.50: ${what}`,
  );
}

/** Warns of events or values that no meter reads: probably a misspelt name of an event or a column. */
function tellUnread(session: Session, watched: SkippedValues): void {
  const { eventCount, eventNames, withoutKey } = watched.unread();
  if (eventCount === 0 && withoutKey.length === 0) return;
  if (eventCount > 0) {
    const names = eventNames.slice(0, shownNames).map(shortened).join(', ');
    const others = eventNames.length > shownNames ? say` and others` : say``;
    tell(session, say`warning: no meter takes events called ${names}${others}: ${counted(eventCount, 'event')}`);
  }
  for (const { meterCode, aggregationKey, eventCount: count } of withoutKey) {
    tell(session, say`warning: ${aggregationKey}: meter ${meterCode} finds it in none of ${counted(count, 'event')}`);
  }
  tell(session, say`  hint: nothing is billed for that; see what meters read with: tally meters list`);
}

function shortened(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= shownCharacters ? text : `${text.slice(0, shownCharacters)}…`;
}
