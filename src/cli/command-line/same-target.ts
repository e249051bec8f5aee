/**
 * Commands that a note names, made to look at what the command itself worked on. A hint is copied as it stands, and without
 * the flag that chose production it would look at whatever is in use otherwise.
 */

import { withoutPassword } from '../../database-url.ts';
import type { GlobalFlags } from './global-flags.ts';
import { shellWord } from './example-line.ts';

/** A command at the end of a clause, but for those that look at nothing of a service or database. */
const namedCommand = /(?<=[:,] )tally (?!help |pull |journal |api --openapi|\S+ schema|profile (?!check))[^,;]*/g;

/** The sentence with the flags that chose the target behind each command that it names. */
export function onSameTarget(sentence: string, { profile, database, events, org }: GlobalFlags): string {
  const words = Object.entries({ profile, database, events, org }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, shellWord(withoutPassword(value))],
  );
  if (words.length === 0) return sentence;
  return sentence.replaceAll(namedCommand, (command) =>
    / --(?:help|profile|database)\b/.test(command) ? command : [command, ...words].join(' '),
  );
}
