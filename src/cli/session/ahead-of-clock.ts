/** The warning where this machine's clock was set back, or had run ahead (reliability 9). */

import type { Billing } from '../../operations/index.ts';
import { say } from '../terminal/safe-text.ts';
import type { Session } from './session.ts';
import { tell } from './tell.ts';

/** `newest` is the instant of the newest row. */
export function aheadOfClockWords(newest: string): string {
  return `the clock of this machine is behind the newest row, which is of ${newest}: until then new rows get that time, and grants expire by it; correct the clock`;
}

/** Warns at the first such answer only: some commands write thousands of rows. */
export function tellingOfClock(billing: Billing, session: Session): Billing {
  let isTold = false;
  return {
    async call(name, input) {
      const answer = await billing.call(name, input);
      if (answer.aheadOfClock !== undefined && !isTold) {
        isTold = true;
        tell(session, say`warning: ${aheadOfClockWords(answer.aheadOfClock)}`);
      }
      return answer;
    },
  };
}
