/** Events that name a contract of another time: they are recorded, and billed on no contract (semantics 8). */

import { counted, say } from '../terminal/safe-text.ts';
import type { Session } from './session.ts';
import { tell } from './tell.ts';

/** Warns of `count` such events, recorded or only checked. */
export function warnOfOutside(session: Session, count: number): void {
  const [name, their, them, keys] = count === 1 ? ['names', 'its', 'it', 'key'] : ['name', 'their', 'them', 'keys'];
  const events = counted(count, 'event');
  tell(session, say`warning: ${events} ${name} a contract that does not cover ${their} time: nobody is billed`);
  tell(session, say`  hint: send ${them} again, under the same ${keys}, with the contract of that time or with none`);
}
