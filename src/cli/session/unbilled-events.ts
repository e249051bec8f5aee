/** Events that are recorded and billed to nobody (semantics 8): whoever sends them is told. */

import type { AnswerFacts } from '../../answer-facts.ts';
import { counted, say } from '../terminal/safe-text.ts';
import type { Session } from './session.ts';
import { tell } from './tell.ts';

/** Warns of what an answer counts of such events, recorded or only checked. */
export function warnOfUnbilled(
  session: Session,
  { outsideContractCount = 0, lateCount = 0 }: Pick<AnswerFacts, 'outsideContractCount' | 'lateCount'>,
  isRehearsal = false,
): void {
  if (outsideContractCount > 0) warnOfOutside(session, outsideContractCount);
  if (lateCount > 0) warnOfLate(session, lateCount, isRehearsal);
}

/** They name a contract of another time. */
function warnOfOutside(session: Session, count: number): void {
  const [name, their, them, keys] = count === 1 ? ['names', 'its', 'it', 'key'] : ['name', 'their', 'them', 'keys'];
  const events = counted(count, 'event');
  tell(session, say`warning: ${events} ${name} a contract that does not cover ${their} time: nobody is billed`);
  tell(session, say`  hint: send ${them} again, under the same ${keys}, with the contract of that time or with none`);
}

/** They came after their period was finalized, or would come so. */
function warnOfLate(session: Session, count: number, isRehearsal: boolean): void {
  const [came, is, see] = isRehearsal
    ? ['would come', 'would be', say``]
    : ['came', 'is', say`see them with: tally usage late; `];
  const events = counted(count, 'event');
  tell(session, say`warning: ${events} ${came} after the period was finalized: nothing ${is} billed for that`);
  tell(session, say`  hint: ${see}to bill them, send new events`);
}
