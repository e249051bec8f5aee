/** Says which events of an import or a simulation nobody is billed for: they are recorded all the same (semantics 8). */

import type { Billing } from '../../operations/index.ts';
import type { SkippedValues } from '../../operations/skipped-values.ts';
import { everyRow } from '../every-row.ts';
import { counted, say } from '../terminal/safe-text.ts';
import type { Session } from '../session/session.ts';
import { tell } from '../session/tell.ts';
import type { ImportedEvent } from './mapping.ts';
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

export interface Telling {
  /** Words for where an event stands, by the line with which it was watched. */
  readonly placeOf: (line: number) => string;
  /** What to do about values that are no numbers. */
  readonly remedy: string;
  /** Where to see what meters read. */
  readonly meters: string;
}

export function tellSkipped(session: Session, watched: SkippedValues, { placeOf, remedy, meters }: Telling): void {
  tellUnread(session, watched, meters);
  const skipped = watched.read();
  if (skipped.length === 0) return;
  for (const { meterCode, aggregationKey, valueCount, skippedCount, first } of skipped) {
    const many = say`warning: ${aggregationKey}: meter ${meterCode} skips ${skippedCount} of ${counted(valueCount, 'value')}`;
    tell(session, say`${many}; the first, in ${placeOf(first.line ?? 0)}: ${shortened(first.value)} ${first.reason}`);
  }
  tell(
    session,
    say`  hint: nothing is billed for them; write numbers with digits and a point, such as 1000.50: ${remedy}`,
  );
}

/** Warns of events or values that no meter reads: probably a misspelt name of an event or a column. */
function tellUnread(session: Session, watched: SkippedValues, meters: string): void {
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
  tell(session, say`  hint: nothing is billed for that; see what meters read ${meters}`);
}

function shortened(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= shownCharacters ? text : `${text.slice(0, shownCharacters)}…`;
}
