/** How long-running work learns that it is to stop. */

import { say } from '../terminal/safe-text.ts';
import type { Session } from './session.ts';
import { tell } from './tell.ts';

/** Nobody must be left in doubt: all such work recognizes what was done before. */
const lastWords = say`tally: interrupted at once\n  hint: repeat the command: nothing is done twice\n`;

/** Aborted by the first interrupt, after which work under way is finished; a second one ends the process. */
export function stopSignal(session: Session): AbortSignal {
  const stop = new AbortController();
  void session.dependencies.untilStopped(lastWords).then(() => {
    stop.abort();
    tell(session, say`stopping once what is under way is done; interrupt again to stop at once`);
  });
  return stop.signal;
}
