/** Says so if a cost requested in credits comes in currency, as the interface has it (4.18): a bare number would not. */

import type { CallInput } from '../../operations/operation.ts';
import type { Session } from '../session/session.ts';
import { tell } from '../session/tell.ts';
import { say } from '../terminal/safe-text.ts';
import { valueAt } from '../wire/rows.ts';

export function tellOfUnit({ body }: CallInput, answer: unknown, session: Session): void {
  if (valueAt(body, 'unit') !== 'credits' || valueAt(answer, 'unit') !== 'currency') return;
  tell(session, say`no grant of this customer has a rate, so the cost is in USD and not in credits`);
}
