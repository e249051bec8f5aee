/** Notes besides the answer of a command. */

import { onSameTarget } from '../command-line/same-target.ts';
import { say } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import type { Session } from './session.ts';

/** Writes a line on standard error, unless `--quiet` was given. */
export function tell({ terminal, flags }: Pick<Session, 'terminal' | 'flags'>, sentence: SafeText): void {
  if (flags.quiet !== true) terminal.err(say`${onSameTarget(sentence, flags)}\n`);
}

/** Has an interrupt say that nothing was sent, until other words replace these: nobody must be left in doubt. */
export function noteNothingSent({ dependencies }: Session): void {
  dependencies.atInterrupt(say`tally: interrupted: nothing was sent\n`);
}
