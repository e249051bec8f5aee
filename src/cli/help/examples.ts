/** What surrounds the flags in help: usage, examples, and where to find the rest. */

import type { Command } from 'commander';

import type { CommandSpec, ExampleLine } from '../command-line/manifest.ts';

const rootExamples = `
Examples:
  # The whole story on a database of its own
  tally demo
  # Customers, as a table
  tally customers list
  # The same for a program
  tally customers list -o json

Examples that name no service of their own run as they are on what this makes: tally demo --into ./playground
Exit codes, environment variables and more: tally help exit-codes, tally help environment
`;

/** Below the flags of every command but the root. */
export const globalFlagsNote = 'Global flags (-o, --profile, --database, --dry-run and more): tally --help\n';

/** The help of the root. */
export function describeRoot(root: Command): Command {
  return root
    .description('Usage-based billing: a command line for the service, with the service inside.')
    .usage('<group> <verb> [id] [flags]')
    .addHelpText('after', rootExamples);
}

/** The help of a group, besides its summary. */
export function describeGroup(group: Command, commands: readonly CommandSpec[]): Command {
  return group.usage('<verb> [id] [flags]').addHelpText('after', () => examplesOfGroup(commands));
}

/** The first examples of the group's first verbs. */
function examplesOfGroup(commands: readonly CommandSpec[]): string {
  const [leading, ...others] = commands;
  if (leading !== undefined && others.length === 0) return examplesText({ examples: leading.examples });
  const first = commands.flatMap(({ examples }) => examples.filter(isDone).slice(0, 1));
  const more = leading?.examples.filter(isDone).slice(1) ?? [];
  return examplesText({ examples: [...first, ...more].slice(0, 3) });
}

function isDone({ line }: ExampleLine): boolean {
  return !line.endsWith(' --dry-run');
}

/** The examples of one command. */
export function examplesText({
  examples,
  localExamples = [],
}: Pick<CommandSpec, 'examples' | 'localExamples'>): string {
  if (examples.length === 0) return '';
  return `\nExamples:\n${[...examples, ...localExamples].map(({ about, line }) => `  # ${about}\n  ${line}\n`).join('')}`;
}
