/** Notes beside the answer of a command. */

import { say } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import type { Session } from './session.ts';

/** A line on standard error, unless `--quiet` asks for none. */
export function tell({ terminal, flags }: Pick<Session, 'terminal' | 'flags'>, sentence: SafeText): void {
  if (flags.quiet !== true) terminal.err(say`${sentence}\n`);
}
