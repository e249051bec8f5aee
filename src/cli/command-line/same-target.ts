/**
 * Commands that a note names, made to look at what the command itself worked on. A hint is copied as it stands, and without
 * the flag that chose production it would look at whatever is in use otherwise.
 */

import { withoutPassword } from '../../database-url.ts';
import type { GlobalFlags } from './global-flags.ts';
import { shellWord } from './shell-word.ts';

/** A command at the end of a clause, but for those that look at nothing of a service or database, and what is restored, which is another one. */
const namedCommand =
  /(?<=[:,] )tally (?!help |pull |copy |restore |journal |api --openapi|\S+ schema|profile (?!check))[^,;]*/g;

/** The sentence with the flags that chose the target behind each command that it names. */
export function onSameTarget(sentence: string, { profile, database, events, org }: GlobalFlags): string {
  // Most name none, and making the expression takes longer than looking.
  if (!sentence.includes('tally ')) return sentence;
  const given = Object.entries({ profile, database, events, org }).filter(([, value]) => value !== undefined);
  return sentence.replaceAll(namedCommand, (command) => {
    if (/ --(?:help|profile|database)\b/.test(command)) return command;
    // Who looks for an organization has named one that there is not.
    const flags = given.filter(([name]) => name !== 'org' || !command.startsWith('tally orgs '));
    return [command, ...flags.map(([name, value = '']) => `--${name} ${shellWord(withoutPassword(value))}`)].join(' ');
  });
}
