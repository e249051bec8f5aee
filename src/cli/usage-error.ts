/** The parser's complaints in our words: what is wrong with a command line, and what was probably meant. */

import type { Command, CommanderError } from 'commander';

import { BillingError } from '../errors.ts';
import type { LoadManifest } from './command-line/manifest.ts';
import { nearest } from './catalog/nearest.ts';
import { shellWord } from './command-line/shell-word.ts';
import { commandGroups } from '../operations/operation.ts';
import { localVerbs } from './commands/index.ts';

export interface Named {
  /** The words that name a command and its verb. */
  readonly known: readonly string[];
  /** Whether a word that names neither follows them. */
  readonly isUnknown: boolean;
  /** The program and the commands named: their flags may follow. */
  readonly path: readonly Command[];
}

/** More suggestions than this would be a list of commands, which help shows. */
const mostMeant = 3;

/**
 * Words for the same action, of which each group uses one. They are never treated as misspellings, or a word would be
 * corrected to one that looks like it, `remove` to `resume`.
 */
const alike = [
  ['get', 'show', 'view', 'describe'],
  ['list', 'ls', 'find', 'search'],
  ['create', 'add', 'new'],
  ['update', 'edit', 'change', 'modify', 'rename', 'set'],
  ['remove', 'delete', 'rm', 'archive', 'cancel', 'void', 'revoke'],
  ['reverse', 'undo', 'revert'],
  ['resend', 'replay', 'redeliver'],
  ['import'],
  ['export'],
  ['test'],
];

/** What is done in other words or in another group, by the first of the words that are alike; '' is no group. */
const elsewhere: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  events: {
    list: 'usage events',
    get: 'usage events',
    create: 'usage ingest',
    send: 'usage ingest',
    import: 'import events',
  },
  usage: { list: 'events', get: 'events', create: 'ingest', send: 'ingest', import: 'import events' },
  import: { usage: 'events' },
  credits: { list: 'balance or ledger', get: 'balance', create: 'grant', update: 'adjust', remove: 'reverse' },
  '': { grants: 'credits balance or credits grant' },
};

const beginning = ['created-after', 'start', 'start-date'];
const ending = ['created-before', 'end', 'end-date'];
/** What is meant by the flags of other programs and commands: the first that the command has. */
const flagsElsewhere: Readonly<Record<string, readonly string[]>> = {
  db: ['database'],
  force: ['yes'],
  format: ['output'],
  silent: ['quiet'],
  verbose: ['debug'],
  after: beginning,
  from: beginning,
  since: beginning,
  before: ending,
  to: ending,
  until: ending,
};

export async function usageError(
  error: CommanderError,
  { known, path }: Named,
  load: LoadManifest,
): Promise<BillingError> {
  const [parsed = '', suggestion] = error.message.replace(/^error: /, '').split('\n');
  const message = parsed.replace(/^missing required argument '(.+)'$/, 'missing <$1>');
  const isVersion = known.length === 0 && /'(?:version|-v)'$/.test(message);
  const similar = isVersion ? '--version' : /^\(Did you mean (.+)\?\)$/.exec(suggestion ?? '')?.[1];
  const [, command, flag] = /^unknown (?:command '(.+)'|option '(--\w[^']*)')$/.exec(message) ?? [];
  const verbs = (path.at(-1)?.commands ?? []).map((each) => each.name());
  if (command !== undefined && isChangeOfWhatStays(command, verbs)) {
    return new BillingError('usage', message, {
      hint: 'it never changes once it exists: archive it and create another',
    });
  }
  const meant =
    command === undefined
      ? flag === undefined
        ? similar
        : flagMeant(flag, path)
      : (begunWith(command, verbs) ??
        meantElsewhere(command, known) ??
        (await groupMeant(command, known, load)) ??
        commandMeant(command, verbs, similar) ??
        (isAction(command) ? undefined : await verbMeant(command, load)) ??
        verbLeftOut(command, { known, path }));
  const taken = path.at(-1)?.registeredArguments.map((argument) => argument.name()) ?? [];
  if (flag !== undefined && taken.includes(flag.slice(2).replace(/=.*/s, ''))) {
    const line = ['tally', ...known, ...taken.map((name) => `<${name}>`)].join(' ');
    return new BillingError('usage', message, { hint: `it comes after the verb, without a flag: ${line}` });
  }
  const place = ['tally', ...known, '--help'].join(' ');
  return new BillingError('usage', message, { hint: meant === undefined ? `see: ${place}` : `did you mean ${meant}?` });
}

/**
 * Flags that begin with the word; else those with all of its words, or with no others: `--cents`, `--pricing-tier`; else what
 * other programs call so, or what is spelt much like it.
 */
function flagMeant(flag: string, path: readonly Command[]): string | undefined {
  const name = flag.replace(/=.*/s, '');
  const wordsOf = (text: string) => new Set(text.slice(2).split('-'));
  const words = wordsOf(name);
  const others = shownFlags(path);
  const isKin = (other: string) => wordsOf(other).isSubsetOf(words) || words.isSubsetOf(wordsOf(other));
  const names = others.map((each) => each.slice(2));
  const one =
    ownOf(flagsElsewhere, name.slice(2))?.find((each) => names.includes(each)) ?? nearest(name.slice(2), names);
  return (
    listed(others.filter((each) => each.startsWith(name))) ??
    listed(others.filter(isKin)) ??
    others.find((each) => each === `--${one}`)
  );
}

/** Whether the word asks to change a price, plan, product or meter: they can be archived but not updated (semantics 3). */
function isChangeOfWhatStays(word: string, names: readonly string[]): boolean {
  const isChange = alike.some((words) => words.includes('update') && words.includes(word));
  return isChange && names.includes('archive') && !names.includes('update');
}

function isAction(word: string): boolean {
  return alike.some((words) => words.includes(word));
}

function begunWith(word: string, names: readonly string[]): string | undefined {
  return listed(names.filter((name) => name.startsWith(word)));
}

function meantElsewhere(word: string, [group = '']: readonly string[]): string | undefined {
  const [action = word] = alike.find((words) => words.includes(word)) ?? [];
  return ownOf(ownOf(elsewhere, group) ?? {}, action);
}

/** Undefined for what every object has, such as `constructor`. */
function ownOf<T>(words: Readonly<Record<string, T>>, word: string): T | undefined {
  return Object.hasOwn(words, word) ? words[word] : undefined;
}

/** The group of a verb given without one, and for `contracts budgets` the other group. */
async function groupMeant(word: string, known: readonly string[], load: LoadManifest): Promise<string | undefined> {
  if (known.length === 0) return await verbMeant(word, load);
  return Object.hasOwn(commandGroups, word) ? `tally ${word}` : undefined;
}

/** The verb with its group, `credits ledger` for `contracts ledger`; undefined if too many groups have it. */
async function verbMeant(verb: string, load: LoadManifest): Promise<string | undefined> {
  const { commands } = await load();
  const groups = commands.filter((command) => command.verb === verb).map(({ group }) => group);
  const locals = Object.entries(localVerbs).filter(([, verbs]) => verbs?.[verb] !== undefined);
  return listed([...groups, ...locals.map(([group]) => group)].map((group) => `${group} ${verb}`));
}

/** Where a file follows a group with one verb, `import events march.csv`. */
function verbLeftOut(word: string, { known, path }: Pick<Named, 'known' | 'path'>): string | undefined {
  const [verb, another] = path.at(-1)?.commands ?? [];
  const isFile = word === '-' || /[./]/.test(word);
  if (!isFile || verb === undefined || another !== undefined || verb.registeredArguments.length === 0) return undefined;
  return [...known, verb.name(), shellWord(word)].join(' ');
}

/** A word with the same meaning takes precedence over one with a similar spelling. */
function commandMeant(word: string, names: readonly string[], similar: string | undefined): string | undefined {
  const same = alike.find((words) => words.includes(word));
  return same === undefined ? similar : listed(names.filter((name) => same.includes(name)));
}

function listed(names: readonly string[]): string | undefined {
  return names.length > 0 && names.length <= mostMeant ? names.join(' or ') : undefined;
}

function shownFlags(path: readonly Command[]): string[] {
  return path.flatMap(({ options }) => options.flatMap(({ long, hidden }) => (long && !hidden ? [long] : [])));
}
