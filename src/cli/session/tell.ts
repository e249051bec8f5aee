/** Notes besides the answer of a command. */

import { onSameTarget } from '../command-line/same-target.ts';
import { say } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import type { Session } from './session.ts';

/** Writes a line on standard error, unless `--quiet` was given. */
export function tell({ terminal, flags }: Pick<Session, 'terminal' | 'flags'>, sentence: SafeText): void {
  if (flags.quiet !== true) terminal.err(say`${onSameTarget(sentence, flags)}\n`);
}
