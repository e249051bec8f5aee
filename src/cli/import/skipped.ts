/** Says which values of an import meters will skip: it takes them, and nobody is billed for them (semantics 8). */

import { BillingError } from '../../errors.ts';
import type { Billing } from '../../operations/index.ts';
import type { SkippedOfMeter, SkippedValues } from '../../operations/skipped-values.ts';
import { everyRow } from '../every-row.ts';
import { say } from '../terminal/safe-text.ts';
import type { Session } from '../session/session.ts';
import { tell } from '../session/tell.ts';
import type { ImportedEvent } from './mapping.ts';

const shownCharacters = 60;

/** Undefined where no meter reads a number, and where the meters cannot be read: an import does not need them. */
export async function watchValues(
  { dependencies }: Session,
  billing: Billing | undefined,
): Promise<SkippedValues | undefined> {
  if (billing === undefined) return undefined;
  try {
    return await dependencies.watchValues(await everyRow(billing, 'meters.list'));
  } catch (error) {
    if (error instanceof BillingError) return undefined;
    throw error;
  }
}

/** For the events of an import as they are accepted. */
export function watching(skipped: SkippedValues) {
  return (events: readonly ImportedEvent[], lines: ArrayLike<number>): void => {
    for (const [index, event] of events.entries()) skipped.add(event, lines[index]);
  };
}

export function tellSkipped(
  session: Session,
  skipped: readonly SkippedOfMeter[],
  { isRehearsal }: { readonly isRehearsal: boolean },
): void {
  if (skipped.length === 0) return;
  for (const { meterCode, aggregationKey, valueCount, skippedCount, first } of skipped) {
    const many = say`warning: ${aggregationKey}: meter ${meterCode} skips ${skippedCount} of ${valueCount} values`;
    tell(session, say`${many}; the first, in line ${first.line ?? 0}: ${shortened(first.value)} ${first.reason}`);
  }
  const what = isRehearsal
    ? 'correct them before they are imported'
    : 'import corrected rows under the keys of these (tally usage events shows them; --key-column): under others they are further events';
  tell(session, say`  hint: nothing is billed for them; a number is digits and a point, such as 1000.50: ${what}`);
}

function shortened(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= shownCharacters ? text : `${text.slice(0, shownCharacters)}…`;
}
