/** Every help page as data, taken from the parser: the source of the man page, `tally commands` and the completions. */

import { Command } from 'commander';

import type { AllCommands } from './commands/command.ts';
import { localCommands, localVerbs } from './commands/index.ts';
import type { LocalCommand } from './commands/index.ts';
import { describeGroup, describeRoot } from './help/examples.ts';
import type { HelpPage } from './help/page.ts';
import type { ExampleLine, Manifest } from './command-line/manifest.ts';
import { completeVerb, summarizeVerb } from './verb.ts';

/** The root, every group, every verb and every command that is not an operation, in the order of help. */
export async function helpPages(manifest: Manifest): Promise<HelpPage[]> {
  const pages = [pageOf([], describeRoot(new Command('tally')))];
  for (const [name, summary] of Object.entries(manifest.groups)) {
    const commands = manifest.commands.filter(({ group }) => group === name);
    const group = new Command(name).summary(summary).description(`${summary}.`);
    pages.push(pageOf([name], describeGroup(group, commands)));
    for (const command of commands) {
      const verb = summarizeVerb(new Command(command.verb), command);
      completeVerb(verb, command, () => Promise.resolve());
      pages.push(pageOf([name, command.verb], verb));
    }
    pages.push(...(await verbPages(name, manifest)));
  }
  return [...pages, ...(await commandPages(manifest))];
}

/** Commands that are not operations: verbs of groups, then commands, each followed by its verbs. */
export async function localPages(manifest: Manifest): Promise<HelpPage[]> {
  const verbs = await Promise.all(Object.keys(localVerbs).map(async (group) => await verbPages(group, manifest)));
  return [...verbs.flat(), ...(await commandPages(manifest))];
}

async function verbPages(group: string, manifest: Manifest): Promise<HelpPage[]> {
  const verbs = Object.entries(localVerbs[group] ?? {});
  return await Promise.all(
    verbs.map(async ([verb, local]) => pageOf([group, verb], await declared(verb, local, manifest))),
  );
}

async function commandPages(manifest: Manifest): Promise<HelpPage[]> {
  const pages: HelpPage[] = [];
  for (const [name, local] of Object.entries(localCommands)) {
    if (local.isHidden === true) continue;
    const command = await declared(name, local, manifest);
    pages.push(pageOf([name], command), ...command.commands.map((verb) => pageOf([name, verb.name()], verb)));
  }
  return pages;
}

/** A local command with its flags and verbs, declared only to be read. */
export async function declared(
  name: string,
  { load, summary }: Pick<LocalCommand, 'load' | 'summary'>,
  manifest: Manifest,
): Promise<Command> {
  const command = new Command(name).summary(summary).description(`${summary}.`).helpCommand(false);
  (await load()).declare(command, {
    loadManifest: () => Promise.resolve(manifest),
    allCommands: noCommands,
    runAction: () => Promise.resolve(),
    runLine: () => Promise.resolve(0),
  });
  return command;
}

const noCommands: AllCommands = {
  helpPages: () => Promise.resolve([]),
  localPages: () => Promise.resolve([]),
  completionPlaces: () => Promise.resolve([]),
};

function pageOf(words: readonly string[], command: Command): HelpPage {
  return {
    words,
    summary: command.summary(),
    description: command.description(),
    usage: command.usage(),
    arguments: command.registeredArguments.map((each) => ({ name: each.name(), description: each.description })),
    flags: command.options
      .filter((option) => !option.hidden)
      .map((option) => ({
        form: option.flags,
        description: option.description,
        ...(option.argChoices === undefined ? {} : { choices: option.argChoices }),
        ...(option.defaultValue === undefined ? {} : { default: String(option.defaultValue) }),
      })),
    examples: examplesIn(helpText(command)),
  };
}

function helpText(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp();
  return text;
}

/** The lines below `Examples:`, each with the remark above it. */
function examplesIn(help: string): ExampleLine[] {
  const [, block = ''] = /^Examples:\n((?: {2}.*\n?)*)/m.exec(help) ?? [];
  let about = '';
  return block.split('\n').flatMap((text) => {
    const line = text.trim();
    if (line.startsWith('# ')) about = line.slice(2);
    return line === '' || line.startsWith('# ') ? [] : [{ about, line }];
  });
}
