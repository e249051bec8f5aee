/**
 * Makes the commands in a note work on the same target as the command itself. A hint is copied as it stands, and without the
 * flag that chose production it would use the default target.
 */

import { withoutPassword } from '../../database-url.ts';
import type { GlobalFlags } from './global-flags.ts';
import { shellWord } from './shell-word.ts';

/**
 * A command at the end of a clause, except those that use no target, and `restore`, which makes another database. A comma ends
 * no clause within quotes, or inside a word such as a list of fields.
 */
const namedCommand =
  /(?<=[:,] )tally (?!help |pull |copy |restore |journal |api --openapi|\S+ schema|profile (?!check))(?:\\.|'[^']*'|,(?=\S)|[^,;\\'])*/g;

/** The sentence with the flags that chose the target after each command that it names. */
export function onSameTarget(sentence: string, { profile, database, events, org }: GlobalFlags): string {
  // Most sentences name none, and compiling the expression takes longer than this look.
  if (!sentence.includes('tally ')) return sentence;
  const given = Object.entries({ profile, database, events, org }).filter(([, value]) => value !== undefined);
  return sentence.replaceAll(namedCommand, (command) => {
    if (/ --(?:help|profile|database)\b/.test(command)) return command;
    // A command that looks for an organization follows one that named a missing organization.
    const flags = given.filter(([name]) => name !== 'org' || !command.startsWith('tally orgs '));
    return [command, ...flags.map(([name, value = '']) => `--${name} ${shellWord(withoutPassword(value))}`)].join(' ');
  });
}
