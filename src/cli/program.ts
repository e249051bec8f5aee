/** Commands from the manifest: builds what the command line needs of them, parses it, runs it, and tells what failed. */

import { Command, CommanderError, Help, Option } from 'commander';

import { BillingError } from '../errors.ts';
import { commandGroups } from '../operations/operation.ts';
import type { CommandGroup } from '../operations/operation.ts';
import { commandWords, normalized, refuseKeys, wantsJson } from './command-line.ts';
import { localCommands, localVerbs } from './commands/index.ts';
import type { Declaring, Run } from './commands/index.ts';
import { tellFailure } from './failure.ts';
import { flagForm, globalFlags, operationFlags } from './global-flags.ts';
import type { GlobalFlag } from './global-flags.ts';
import type { CommandSpec, ExampleLine, FlagSpec, LoadManifest } from './manifest.ts';
import { vouch } from './safe-text.ts';
import type { Dependencies, GlobalFlags, Session } from './session.ts';
import type { Target } from './target.ts';
import type { Named } from './usage-error.ts';

/** What is known by the time that something fails. */
interface Progress {
  command?: CommandSpec;
  target?: Target;
}

/** Runs one command line, without the program's name; returns the exit code. Never throws. */
export async function run(argv: readonly string[], dependencies: Dependencies, load: LoadManifest): Promise<number> {
  const { terminal } = dependencies;
  const progress: Progress = {};
  const argvToParse = normalized(argv, { isCommand, isGroup });
  const words = commandWords(argvToParse);
  let helpText = '';
  let named: Named = { known: [], isUnknown: false, path: [] };
  try {
    refuseKeys(argv);
    const program = createProgram(dependencies, words[0], (text) => (helpText += text));
    const runAction: Run = async (action, command) => {
      if (command !== undefined) progress.command = command;
      await action(await startSession(dependencies, program.opts<GlobalFlags>(), progress));
    };
    await addCommands(program, { words, load, runAction });
    if (words.length === 0 && !argv.some((word) => word.startsWith('-'))) program.help();
    named = namedIn(program, words);
    await program.parseAsync(named.isUnknown ? withoutHelp(argvToParse) : argvToParse, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError && (error.exitCode === 0 || error.code === 'commander.help')) {
      terminal.out(vouch(helpText));
      return 0;
    }
    const isUsage = error instanceof CommanderError;
    return tellFailure(isUsage ? (await import('./usage-error.ts')).usageError(error, named) : error, {
      terminal,
      isJson: wantsJson(argv),
      isDebug: argv.includes('--debug'),
      command: progress.command,
      profile: progress.target?.profile,
      environment: progress.target?.environment,
    });
  }
}

function namedIn(program: Command, words: readonly string[]): Named {
  const known: string[] = [];
  const path = [program];
  for (const word of words) {
    const commands = path.at(-1)?.commands ?? [];
    if (commands.length === 0) break;
    const found = commands.find((each) => each.name() === word);
    if (found === undefined) return { known, isUnknown: true, path };
    known.push(word);
    path.push(found);
  }
  return { known, isUnknown: false, path };
}

/** The parser would print the help of another command than was meant. */
function withoutHelp(argv: readonly string[]): string[] {
  return argv.filter((word) => word !== '--help' && word !== '-h');
}

function isCommand(word: string | undefined): boolean {
  return word !== undefined && (Object.hasOwn(commandGroups, word) || Object.hasOwn(localCommands, word));
}

/** Whether a verb comes next. */
function isGroup(word: string | undefined): boolean {
  if (word === undefined) return false;
  return Object.hasOwn(commandGroups, word) || (isCommand(word) && localCommands[word]?.hasVerbs === true);
}

async function startSession(dependencies: Dependencies, flags: GlobalFlags, progress: Progress): Promise<Session> {
  const { openSession } = await import('./open-session.ts');
  const session = openSession(dependencies, flags);
  if (flags.jq !== undefined) {
    dependencies.leaveInterrupts();
    await (await import('./jq.ts')).checkJq(flags.jq);
  }
  return {
    ...session,
    async target() {
      progress.target = await session.target();
      return progress.target;
    },
  };
}

/** What stands below the help of the root. */
export const rootExamples = `
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

function createProgram(
  { version, terminal }: Dependencies,
  named: string | undefined,
  write: (text: string) => void,
): Command {
  const program = new Command('tally')
    .description('Usage-based billing: a command line for the service, with the service inside.')
    .usage('<group> <verb> [id] [flags]')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand(false)
    .exitOverride()
    .configureHelp({ formatHelp, subcommandTerm, optionDescription })
    .configureOutput({
      writeOut: write,
      writeErr: write,
      outputError: () => undefined,
      getOutHelpWidth: () => terminal.stdout.columns ?? 100,
      getErrHelpWidth: () => terminal.stdout.columns ?? 100,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .addHelpText('after', rootExamples)
    .hook('preAction', (_program, command) => refuseEmpty(command));
  const ownFlags = localCommands[named ?? '']?.ownFlags ?? [];
  for (const flag of globalFlags) if (!ownFlags.includes(flag.name)) program.addOption(globalOption(flag));
  return program;
}

/** An empty one is a variable that a script forgot to set. */
function refuseEmpty(command: Command): void {
  const empty = command.registeredArguments.find(({ required }, index) => required && command.args[index] === '');
  if (empty === undefined) return;
  command.error(`error: missing required argument '${empty.name()}'`, { code: 'commander.missingArgument' });
}

/** The commands before the flags, of which the root has many. */
function formatHelp(command: Command, helper: Help): string {
  const sections = Help.prototype.formatHelp
    .call(helper, command, helper)
    .trimEnd()
    .split(/\n\n(?=\w)/);
  const isFlags = (section: string) => section.startsWith('Options:');
  return `${[...sections.filter((each) => !isFlags(each)), ...sections.filter(isFlags)].join('\n\n')}\n`;
}

/** Without the parser's remark on what a flag without a value means, which its form says already. */
function optionDescription(option: Option): string {
  return Help.prototype.optionDescription.call(new Help(), option).replace(/ ?\(preset: [^)]*\)/, '');
}

function subcommandTerm(command: Command): string {
  return `${command.name()} ${command.parent?.parent === null ? '' : command.usage().replace(/ ?\[flags\]$/, '')}`.trim();
}

function globalOption(flag: GlobalFlag): Option {
  const option = new Option(flagForm(flag), flag.description);
  return flag.choices === undefined ? option : option.choices([...flag.choices]);
}

/** Every group with its summary, or the named one alone, and of its verbs the named one: each costs time to set up. */
async function addCommands(
  program: Command,
  options: { readonly words: readonly string[]; readonly load: LoadManifest; readonly runAction: Run },
): Promise<void> {
  const { words, load, runAction } = options;
  const [named, verbWord] = words;
  const runLine: Declaring['runLine'] = async (argv, dependencies) => await run(argv, dependencies, load);
  const add = (name: string, summary: string, heading: string) =>
    program.command(name).summary(summary).description(`${summary}.`).helpGroup(heading).helpCommand(false);
  const isAlone = isCommand(named) && named !== 'help';
  for (const [name, summary] of Object.entries(commandGroups)) {
    if (isAlone && name !== named) continue;
    const heading = administrationGroups.has(name) ? 'Administration:' : 'Billing:';
    const group = add(name, summary, heading).usage('<verb> [id] [flags]');
    if (name !== named) continue;
    const commands = (await load(name)).commands.filter((command) => command.group === name);
    const ownVerbs = Object.entries(localVerbs[name] ?? {});
    const isVerb = [...commands.map(({ verb }) => verb), ...ownVerbs.map(([verb]) => verb)].includes(verbWord ?? '');
    const isWanted = (verb: string): boolean => !isVerb || verb === verbWord;
    const wanted = commands.filter(({ verb }) => isWanted(verb));
    addVerbs(group, wanted, runAction);
    group.addHelpText('after', () => examplesOfGroup(commands));
    for (const [verb, local] of ownVerbs.filter(([each]) => isWanted(each))) {
      const command = group.command(verb).summary(local.summary).description(`${local.summary}.`);
      (await local.load()).declare(command, { runAction: refusingDryRun(runAction), loadManifest: load, runLine });
      command.addHelpText('after', globalFlagsNote);
    }
  }
  for (const [name, local] of Object.entries(localCommands)) {
    if ((isAlone || local.isHidden === true) && name !== named) continue;
    const command = add(name, local.summary, local.heading);
    if (name !== named) continue;
    const runLocal = local.takesDryRun === true ? runAction : refusingDryRun(runAction);
    (await local.load()).declare(command, { runAction: runLocal, loadManifest: load, runLine });
    for (const each of [command, ...command.commands]) each.addHelpText('after', globalFlagsNote);
  }
}

/** What does not look at `--dry-run` would do all of its work. */
function refusingDryRun(runAction: Run): Run {
  return async (action) =>
    await runAction(async (session) => {
      if (session.flags.dryRun === true) {
        throw new BillingError(
          'usage',
          '--dry-run is for commands that change something and can say before what; this one was not run',
        );
      }
      await action(session);
    });
}

/** Groups of the embedded service alone. */
const administrationGroups: ReadonlySet<string> = new Set([
  'keys',
  'orgs',
  'webhooks',
  'clock',
  'bill',
  'events',
] satisfies CommandGroup[]);

const globalFlagsNote = 'Global flags (-o, --profile, --database, --dry-run and more): tally --help\n';

/** What the group's help tells of each verb; the rest when the parser comes to the verb. */
function addVerbs(group: Command, commands: readonly CommandSpec[], runAction: Run): void {
  for (const command of commands) {
    const ids = command.positionals.map(({ placeholder }) => `<${placeholder}>`);
    group
      .command(command.verb)
      .summary(command.summary)
      .usage([...ids, '[flags]'].join(' '));
  }
  group.hook('preSubcommand', (_group, verb) => {
    const command = commands.find((each) => each.verb === verb.name());
    if (command !== undefined) completeVerb(verb, command, runAction);
  });
}

/** Gives the command of an operation its flags, help and action. */
export function completeVerb(verb: Command, command: CommandSpec, runAction: Run): void {
  verb.description([`${command.summary}.`, command.description].filter(Boolean).join(' '));
  // Not required of the parser: an unknown flag is the better thing to hear of, and a person can still be asked.
  for (const { placeholder, description } of command.positionals) verb.argument(`[${placeholder}]`, description);
  for (const spec of command.flags) addFlag(verb, spec);
  for (const flag of command.localFlags ?? []) verb.addOption(globalOption(flag));
  for (const flag of operationFlags) if (hasFlag(command, flag.name)) verb.addOption(globalOption(flag));
  verb.addHelpText('after', `${examplesText(command)}\n${globalFlagsNote}`);
  verb.action(async (...args: unknown[]) => {
    await runAction(async (session) => {
      const { callOperation } = await import('./call.ts');
      await callOperation(invocationOf(command, args), session);
    }, command);
  });
}

function hasFlag(command: CommandSpec, name: (typeof operationFlags)[number]['name']): boolean {
  if (name === 'input') return command.hasBody;
  if (name === 'clear') return command.flags.some((spec) => spec.isNullable === true && spec.in === 'body');
  if (name === 'all') return command.isPaged;
  return name === 'if-match' && command.isVersioned && command.isWrite;
}

const repeatableKinds = new Set(['list', 'object', 'objects', 'members']);

function addFlag(verb: Command, spec: FlagSpec): void {
  const choices = spec.choices ?? spec.element?.choices;
  const notes = [
    spec.isRequired === true ? 'required' : '',
    choices === undefined ? '' : `one of ${choices.join(', ')}`,
  ];
  const suffix = notes.filter((note) => note !== '').join('; ');
  const value = spec.kind === 'boolean' ? `[${spec.placeholder}]` : `<${spec.placeholder}>`;
  for (const name of [spec.flag, spec.alias]) {
    if (name === undefined) continue;
    const option = new Option(
      `--${name} ${value}`,
      [spec.description, suffix === '' ? '' : `(${suffix})`].filter(Boolean).join(' '),
    );
    option.argParser((text: string, before: readonly string[] | undefined) => collected(spec, text, before));
    if (spec.kind === 'boolean') option.preset('true');
    verb.addOption(name === spec.flag ? option : option.hideHelp());
  }
}

function collected(spec: FlagSpec, text: string, before: readonly string[] | undefined): readonly string[] {
  if (before !== undefined && !repeatableKinds.has(spec.kind)) throw givenTwice(spec);
  if (spec.kind === 'boolean' && text !== 'true' && text !== 'false') {
    throw new BillingError('usage', `--${spec.flag} takes true or false, not "${text}"`, {
      hint: 'ids stand before the flags',
    });
  }
  return [...(before ?? []), text];
}

function givenTwice({ flag, alias }: FlagSpec): BillingError {
  const also = alias === undefined ? '' : `, which --${alias} says too,`;
  return new BillingError('usage', `--${flag}${also} was given twice`);
}

function invocationOf(command: CommandSpec, args: readonly unknown[]) {
  const options = args[command.positionals.length] as Readonly<Record<string, unknown>>;
  const positionals = args
    .slice(0, command.positionals.length)
    .filter((each): each is string => typeof each === 'string');
  const flags: Record<string, readonly string[]> = {};
  for (const spec of command.flags) {
    const texts = [spec.flag, spec.alias ?? spec.flag]
      .filter((name, index, names) => names.indexOf(name) === index)
      .flatMap((name) => (options[new Option(`--${name}`).attributeName()] ?? []) as readonly string[]);
    if (texts.length > 1 && !repeatableKinds.has(spec.kind)) throw givenTwice(spec);
    if (texts.length > 0) flags[spec.flag] = texts;
  }
  const cleared = options['clear'] as string | undefined;
  return {
    command,
    given: {
      positionals,
      flags,
      cleared: cleared?.split(',').map((name) => name.trim()) ?? [],
      ifMatch: options['ifMatch'] as string | undefined,
    },
    inputPath: options['input'] as string | undefined,
    isAll: options['all'] === true,
    local: Object.fromEntries(
      (command.localFlags ?? []).flatMap((flag) => {
        const value = options[new Option(`--${flag.name}`).attributeName()] as string | true | undefined;
        return value === undefined ? [] : [[flag.name, value]];
      }),
    ),
  };
}

/** What stands below the help of a group: the first example of its first verbs. */
export function examplesOfGroup(commands: readonly CommandSpec[]): string {
  const [alone, ...others] = commands;
  if (alone !== undefined && others.length === 0) return examplesText({ examples: alone.examples });
  const [first, more] = [
    commands.flatMap(({ examples }) => examples.filter(isDone).slice(0, 1)),
    commands[0]?.examples.filter(isDone).slice(1) ?? [],
  ];
  return examplesText({ examples: [...first, ...more].slice(0, 3) });
}

function isDone({ line }: ExampleLine): boolean {
  return !line.endsWith(' --dry-run');
}

function examplesText({ examples, localExamples = [] }: Pick<CommandSpec, 'examples' | 'localExamples'>): string {
  if (examples.length === 0) return '';
  return `\nExamples:\n${[...examples, ...localExamples].map(({ about, line }) => `  # ${about}\n  ${line}\n`).join('')}`;
}
