/** What is said of events that came after their period was finalized: they are recorded, and nobody is billed (semantics 8). */

import { counted, say } from '../terminal/safe-text.ts';
import type { Session } from './session.ts';
import { tell } from './tell.ts';

export function warnOfLate(session: Session, count: number): void {
  tell(
    session,
    say`warning: ${counted(count, 'event')} came after the period was finalized: nothing is billed for that`,
  );
  tell(session, say`  hint: see them with: tally usage late; to bill them, send new events`);
}
