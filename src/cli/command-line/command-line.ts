/** Reads the words of a command line before the parser is built: which command is meant, and what must never be there. */

import { BillingError } from '../../errors.ts';
import { globalFlags, needsValue } from './global-flags.ts';

/** The command words of a command line, without global flags and their values: `['customers', 'list', …]`. */
export function commandWords(argv: readonly string[]): string[] {
  return wordIndexes(argv).map((index) => argv[index] ?? '');
}

/**
 * The command line in the form that the parser takes: `help customers list` and `customers help list` become `customers list
 * --help`; `--json customers list` and `customers --json list` become `customers list --json`, because neither a command nor
 * its verb is a field.
 */
export function normalized(
  argv: readonly string[],
  { isCommand, isGroup }: Readonly<Record<'isCommand' | 'isGroup', (word: string | undefined) => boolean>>,
): string[] {
  const [first, second, third] = wordIndexes(argv);
  if (first === undefined) return [...argv];
  const isHelp = argv[first] === 'help' && second !== undefined && isCommand(argv[second]);
  const isHelpOfGroup = isGroup(argv[first]) && second !== undefined && argv[second] === 'help';
  if (isHelp || isHelpOfGroup) {
    return [...argv.filter((_, index) => index !== (isHelp ? first : second)), '--help'];
  }
  const verb = isGroup(argv[first]) && third === undefined ? second : undefined;
  const isNoField = (index: number) => index === first || index === verb;
  const isAlone = (word: string, index: number) => word === '--json' && isNoField(index + 1);
  if (!argv.some(isAlone)) return [...argv];
  const others = argv.filter((word, index) => !isAlone(word, index));
  // Before another flag or at the end, where no word is taken as its value.
  const place = [...others, '-'].findIndex((word) => word.startsWith('-'));
  return others.toSpliced(place, 0, '--json');
}

const keyFlags: ReadonlySet<string> = new Set(['--api-key', '--apikey', '--key', '--token', '--bearer']);

/** Throws a usage error for a key on the command line, which every user of the machine could read (security 2, SEC-2). */
export function refuseKeys(argv: readonly string[]): void {
  const flag = argv.map((word) => word.split('=', 1).join('')).find((each) => keyFlags.has(each.toLowerCase()));
  if (flag === undefined) return;
  throw new BillingError('usage', `${flag}: a key is not accepted on the command line, where others can read it`, {
    hint: 'store it with: tally profile add NAME --environment ENVIRONMENT --base-url URL --key-stdin, or set TALLY_API_KEY',
  });
}

/**
 * Throws a usage error for bytes that are no UTF-8 on the command line. Node gives the same sign for each of them, so two external
 * ids would become one, and the second grant would be taken for a repetition.
 */
export function refuseMangled(argv: readonly string[]): void {
  const word = argv.find((each) => each.includes('\uFFFD'));
  if (word === undefined) return;
  throw new BillingError('usage', `"${word}" on the command line is not UTF-8 text`, {
    hint: 'let the terminal or the script that gives the command use UTF-8',
  });
}

/** Whether errors are also written as JSON; read from the words, because the flags themselves may be wrong. */
export function wantsJson(argv: readonly string[]): boolean {
  return argv.some(
    (word, index) =>
      /^(?:--json(?:=.*)?|--jq(?:=.*)?|-ojsonl?|--output=jsonl?)$/.test(word) ||
      (word.startsWith('json') && ['-o', '--output'].includes(argv[index - 1] ?? '')),
  );
}

function wordIndexes(argv: readonly string[]): number[] {
  const indexes: number[] = [];
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? '';
    if (word === '--') break;
    if (!word.startsWith('-') || word === '-') indexes.push(index);
    else if (takesValue(word)) index += 1;
  }
  return indexes;
}

function takesValue(word: string): boolean {
  return globalFlags.some((flag) => needsValue(flag) && (word === `--${flag.name}` || word === `-${flag.short}`));
}
