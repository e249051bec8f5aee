/** What may follow each word of the command line, for the completion scripts: taken from the manifest and the parser. */

import type { Command, Option } from 'commander';

import { localCommands, localVerbs } from './commands/index.ts';
import { type Place, shells } from './help/completions.ts';
import { declared } from './help-pages.ts';
import { helpTopics } from './help/topics.ts';
import { localFlags } from './command-line/local-flags.ts';
import { localReferences, profileFlags, takesProfile } from './command-line/local-references.ts';
import { operationFlags } from './command-line/global-flags.ts';
import type { GlobalFlag } from './command-line/global-flags.ts';
import type { CommandSpec, Manifest } from './command-line/manifest.ts';
import { hasFlag } from './verb.ts';

/** The root first, then groups, verbs and commands that are not operations, in the order of help. */
export async function placesOf(manifest: Manifest): Promise<Place[]> {
  const places: Place[] = [];
  const root: Record<string, string> = { ...manifest.groups };
  for (const group of Object.keys(manifest.groups)) {
    const commands = manifest.commands.filter((command) => command.group === group);
    const next = Object.fromEntries(commands.map(({ verb, summary }) => [verb, summary]));
    const own: Place[] = [];
    for (const [verb, local] of Object.entries(localVerbs[group] ?? {})) {
      next[verb] = local.summary;
      own.push(localPlace(`${group} ${verb}`, await declared(verb, local, manifest)));
    }
    places.push(groupPlace(group, next), ...commands.map(placeOf), ...own);
  }
  for (const [name, local] of Object.entries(localCommands)) {
    if (local.isHidden === true) continue;
    root[name] = local.summary;
    const command = await declared(name, local, manifest);
    places.push(
      localPlace(name, command),
      ...command.commands.map((verb) => localPlace(`${name} ${verb.name()}`, verb)),
    );
  }
  const help = places.flatMap(({ words, next }) => (isGroup(words, next) ? [groupPlace(`help ${words}`, next)] : []));
  const shown = places.map((place) =>
    place.words === 'help' ? { ...place, next: { ...root, ...place.next } } : place,
  );
  return [{ ...groupPlace('', root), flags: ['version', 'help'], switches: ['version', 'help'] }, ...shown, ...help];
}

function isGroup(words: string, next: Place['next']): boolean {
  return words !== 'help' && words !== 'completion' && Object.keys(next).length > 0;
}

/** Where only further words follow. */
function groupPlace(words: string, next: Place['next']): Place {
  return { words, next, flags: ['help'], switches: ['help'], asks: [], ids: 0 };
}

function placeOf(command: CommandSpec): Place {
  const own = [...operationFlags.filter(({ name }) => hasFlag(command, name)), { name: 'help' }];
  const others: readonly Pick<GlobalFlag, 'name' | 'value'>[] = [...(command.localFlags ?? []), ...own];
  const otherNames = Object.values(localFlags[command.operation]?.aliases ?? {});
  const known = command.flags.filter(
    (spec) =>
      spec.kind === 'boolean' ||
      spec.reference !== undefined ||
      spec.choices !== undefined ||
      spec.element?.choices !== undefined,
  );
  return {
    words: `${command.group} ${command.verb}`,
    next: {},
    flags: [...command.flags.map(({ flag }) => flag), ...otherNames, ...others.map(({ name }) => name)],
    switches: others.flatMap(({ name, value }) => (value === undefined ? [name] : [])),
    asks: [...known.map(({ flag }) => flag), ...(hasFlag(command, 'clear') ? ['clear'] : [])],
    ids: command.positionals.length,
  };
}

function localPlace(words: string, command: Command): Place {
  const next = Object.fromEntries(command.commands.map((verb) => [verb.name(), verb.summary()]));
  const known = command.registeredArguments.filter((argument) => isKnown(words, argument.name()));
  return {
    words,
    next: { ...next, ...wordsBehind[words] },
    flags: [...command.options.map((option) => option.name()), 'help'],
    switches: [
      ...command.options.filter(({ required, optional }) => !required && !optional).map((option) => option.name()),
      'help',
    ],
    asks: command.options.filter(isAsked).map((option) => option.name()),
    ids: known.length,
  };
}

/** Words that follow a command without verbs. */
const wordsBehind: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  completion: Object.fromEntries(shells.map((shell) => [shell, `for ${shell}`])),
  help: Object.fromEntries(Object.entries(helpTopics).map(([topic, text]) => [topic, titleOf(text)])),
};

function titleOf(text: string): string {
  return text.slice(0, text.indexOf('\n')).replace(/:$/, '');
}

function isAsked(option: Option): boolean {
  return option.argChoices !== undefined || option.name() in localReferences || profileFlags.includes(option.name());
}

function isKnown(words: string, argument: string): boolean {
  return argument in localReferences || takesProfile(words);
}
