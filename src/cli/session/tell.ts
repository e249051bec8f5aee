/** Notes beside the answer of a command. */

import { onSameTarget } from '../command-line/same-target.ts';
import { say } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import type { Session } from './session.ts';

/** A line on standard error, unless `--quiet` asks for none. */
export function tell({ terminal, flags }: Pick<Session, 'terminal' | 'flags'>, sentence: SafeText): void {
  if (flags.quiet !== true) terminal.err(say`${onSameTarget(sentence, flags)}\n`);
}
