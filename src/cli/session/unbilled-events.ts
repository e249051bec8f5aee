/** Events that are recorded and billed to nobody (semantics 8): whoever sends them is told. */

import { counted, say } from '../terminal/safe-text.ts';
import type { Session } from './session.ts';
import { tell } from './tell.ts';

/** Warns of `count` events that name a contract of another time, recorded or only checked. */
export function warnOfOutside(session: Session, count: number): void {
  const [name, their, them, keys] = count === 1 ? ['names', 'its', 'it', 'key'] : ['name', 'their', 'them', 'keys'];
  const events = counted(count, 'event');
  tell(session, say`warning: ${events} ${name} a contract that does not cover ${their} time: nobody is billed`);
  tell(session, say`  hint: send ${them} again, under the same ${keys}, with the contract of that time or with none`);
}

/** Warns of `count` events that came after their period was finalized, or would come so. */
export function warnOfLate(session: Session, count: number, isRehearsal = false): void {
  const [came, is, see] = isRehearsal
    ? ['would come', 'would be', say``]
    : ['came', 'is', say`see them with: tally usage late; `];
  const events = counted(count, 'event');
  tell(session, say`warning: ${events} ${came} after the period was finalized: nothing ${is} billed for that`);
  tell(session, say`  hint: ${see}to bill them, send new events`);
}
