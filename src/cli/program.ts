/** Commands from the manifest: builds those that the command line needs, parses it, runs it and reports failures. */

import { CommanderError, Help } from 'commander';
import type { Command, Option } from 'commander';

import { BillingError } from '../errors.ts';
import { commandGroups } from '../operations/operation.ts';
import type { CommandGroup } from '../operations/operation.ts';
import { commandWords, normalized, refuseKeys, refuseMangled, wantsJson } from './command-line/command-line.ts';
import { Parser } from './command-line/parser.ts';
import type { AllCommands, Declaring, Run } from './commands/command.ts';
import { localCommands, localVerbs } from './commands/index.ts';
import { allowInspect, refuseRevealing } from './command-line/revealing.ts';
import { tellFailure } from './failure.ts';
import { globalFlags } from './command-line/global-flags.ts';
import type { GlobalFlag, GlobalFlags } from './command-line/global-flags.ts';
import { describeGroup, describeRoot, globalFlagsNote } from './help/examples.ts';
import type { CommandSpec, LoadManifest } from './command-line/manifest.ts';
import { vouch } from './terminal/safe-text.ts';
import type { Dependencies, Session } from './session/session.ts';
import type { Target } from './target/target.ts';
import type { Named } from './usage-error.ts';
import { completeVerb, globalOption, summarizeVerb } from './verb.ts';

/** What is known by the time something fails. */
interface Progress {
  command?: CommandSpec;
  flags?: GlobalFlags;
  target?: Target;
}

/** Runs one command line, without the program's name; returns the exit code. Never throws. */
export async function run(given: readonly string[], dependencies: Dependencies, load: LoadManifest): Promise<number> {
  const { terminal, env, nodeFlags = [] } = dependencies;
  const argv = given.filter((word) => word !== allowInspect);
  const progress: Progress = {};
  const argvToParse = normalized(argv, { isCommand, isGroup });
  const words = commandWords(argvToParse);
  let helpText = '';
  let named: Named = { known: [], isUnknown: false, path: [] };
  try {
    if (argv.length === given.length) refuseRevealing(env, nodeFlags);
    refuseKeys(argv);
    refuseMangled(argv);
    const parse = async (known: readonly GlobalFlag[]): Promise<void> => {
      const program = createProgram(dependencies, known, (text) => (helpText += text));
      const runAction: Run = async (action, command) => {
        dependencies.noteCommand?.(words.slice(0, isGroup(words[0]) ? 2 : 1).join('-'));
        if (command !== undefined) progress.command = command;
        progress.flags = program.opts<GlobalFlags>();
        await action(noted(await startSession(dependencies, progress.flags), progress));
      };
      await addCommands(program, { words, load, runAction });
      if (words.length === 0 && !argv.some((word) => word.startsWith('-'))) program.help();
      named = namedIn(program, words);
      await program.parseAsync(named.isUnknown ? withoutHelp(argvToParse) : argvToParse, { from: 'user' });
    };
    const flags = globalFlagsOf(words[0]);
    const seen = isAlone(words[0]) ? flags.filter((flag) => isSeen(flag, argvToParse)) : flags;
    try {
      await parse(seen);
    } catch (error) {
      // Nothing has begun yet. The parser reads a line that it refused once more with all flags: one of them may be the
      // cause, or what was meant.
      if (seen.length === flags.length || progress.flags !== undefined || !isRefusal(error)) throw error;
      await parse(flags);
    }
    return 0;
  } catch (error) {
    const isUsage = isRefusal(error);
    if (error instanceof CommanderError && !isUsage) {
      terminal.out(vouch(helpText));
      return 0;
    }
    return tellFailure(isUsage ? await (await import('./usage-error.ts')).usageError(error, named, load) : error, {
      terminal,
      isJson: wantsJson(argv),
      isDebug: argv.includes('--debug'),
      command: progress.command,
      profile: progress.target?.profile,
      environment: progress.target?.environment,
      flags: progress.flags,
    });
  }
}

/** Whether the parser refused the line. It ends help and version with an error too. */
function isRefusal(error: unknown): error is CommanderError {
  return error instanceof CommanderError && error.exitCode !== 0 && error.code !== 'commander.help';
}

/** The flags of all commands, except those that this command replaces by its own. */
function globalFlagsOf(command: string | undefined): readonly GlobalFlag[] {
  const ownFlags = localCommands[command ?? '']?.ownFlags ?? [];
  return globalFlags.filter(({ name }) => !ownFlags.includes(name));
}

/** Whether the line may give the flag. Declaring one costs more than reading it, and most lines give two or three. */
function isSeen({ name, short }: GlobalFlag, argv: readonly string[]): boolean {
  return argv.some((word) => word.startsWith(`--${name}`) || (short !== undefined && word.startsWith(`-${short}`)));
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

/** Otherwise the parser would print the help of a different command than the one meant. */
function withoutHelp(argv: readonly string[]): string[] {
  return argv.filter((word) => word !== '--help' && word !== '-h');
}

function isCommand(word: string | undefined): boolean {
  return word !== undefined && (Object.hasOwn(commandGroups, word) || Object.hasOwn(localCommands, word));
}

/** Whether a line that begins with this word needs no other command to be read. */
function isAlone(word: string | undefined): boolean {
  return isCommand(word) && word !== 'help';
}

/** Whether a verb follows this word. */
function isGroup(word: string | undefined): boolean {
  if (word === undefined) return false;
  return Object.hasOwn(commandGroups, word) || (isCommand(word) && localCommands[word]?.hasVerbs === true);
}

async function startSession(dependencies: Dependencies, flags: GlobalFlags): Promise<Session> {
  const { openSession } = await import('./session/open-session.ts');
  const session = openSession(dependencies, flags);
  if (flags.jq !== undefined) {
    dependencies.leaveInterrupts();
    await (await import('./output/jq.ts')).checkJq(flags.jq);
  }
  return session;
}

/** The session, but what it works on is known when something fails. */
function noted(session: Session, progress: Progress): Session {
  progress.flags = session.flags;
  return {
    ...session,
    onProfile: (name) => noted(session.onProfile(name), progress),
    async target() {
      progress.target = await session.target();
      return progress.target;
    },
  };
}

function createProgram(
  { version, terminal }: Dependencies,
  known: readonly GlobalFlag[],
  write: (text: string) => void,
): Command {
  const program = describeRoot(new Parser('tally'))
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
    .hook('preAction', (_program, command) => refuseEmpty(command));
  for (const flag of known) program.addOption(globalOption(flag));
  return program;
}

/** Refuses an empty argument: it is usually a variable that a script forgot to set. */
function refuseEmpty(command: Command): void {
  const empty = command.registeredArguments.find(({ required }, index) => required && command.args[index] === '');
  if (empty === undefined) return;
  command.error(`error: missing required argument '${empty.name()}'`, { code: 'commander.missingArgument' });
}

/** Commands come before flags, of which the root has many. */
function formatHelp(command: Command, helper: Help): string {
  const sections = Help.prototype.formatHelp
    .call(helper, command, helper)
    .trimEnd()
    .split(/\n\n(?=\w)/);
  const isFlags = (section: string) => section.startsWith('Options:');
  return `${[...sections.filter((each) => !isFlags(each)), ...sections.filter(isFlags)].join('\n\n')}\n`;
}

/** Leaves out the parser's remark on what a flag means without its value: the flag's form says it already. */
function optionDescription(option: Option): string {
  return Help.prototype.optionDescription.call(new Help(), option).replace(/ ?\(preset: [^)]*\)/, '');
}

function subcommandTerm(command: Command): string {
  return `${command.name()} ${command.parent?.parent === null ? '' : command.usage().replace(/ ?\[flags\]$/, '')}`.trim();
}

/** Adds every group with its summary, or only the named group, and of its verbs only the named one: each takes time to set up. */
async function addCommands(
  program: Command,
  options: { readonly words: readonly string[]; readonly load: LoadManifest; readonly runAction: Run },
): Promise<void> {
  const { words, load, runAction } = options;
  const [named, verbWord] = words;
  // The flags given to Node have been checked by then.
  const runLine: Declaring['runLine'] = async (argv, dependencies) =>
    await run([allowInspect, ...argv], dependencies, load);
  const declaring = { loadManifest: load, allCommands: allCommandsOf(load), runLine };
  const add = (name: string, summary: string, heading: string) =>
    program.command(name).summary(summary).description(`${summary}.`).helpGroup(heading).helpCommand(false);
  const isNamedAlone = isAlone(named);
  for (const [name, summary] of Object.entries(commandGroups)) {
    if (isNamedAlone && name !== named) continue;
    const heading = administrationGroups.has(name) ? 'Administration:' : 'Billing:';
    const group = add(name, summary, heading);
    if (name !== named) continue;
    const commands = (await load(name, verbWord)).commands.filter((command) => command.group === name);
    const ownVerbs = Object.entries(localVerbs[name] ?? {});
    const isVerb = [...commands.map(({ verb }) => verb), ...ownVerbs.map(([verb]) => verb)].includes(verbWord ?? '');
    const isWanted = (verb: string): boolean => !isVerb || verb === verbWord;
    const wanted = commands.filter(({ verb }) => isWanted(verb));
    addVerbs(group, wanted, runAction);
    describeGroup(group, commands);
    for (const [verb, local] of ownVerbs.filter(([each]) => isWanted(each))) {
      const command = group.command(verb).summary(local.summary).description(`${local.summary}.`);
      (await local.load()).declare(command, { ...declaring, runAction: refusingDryRun(runAction) });
      command.addHelpText('after', globalFlagsNote);
    }
  }
  for (const [name, local] of Object.entries(localCommands)) {
    if ((isNamedAlone || local.isHidden === true) && name !== named) continue;
    const command = add(name, local.summary, local.heading);
    if (name !== named) continue;
    const runLocal = local.takesDryRun === true ? runAction : refusingDryRun(runAction);
    (await local.load()).declare(command, { ...declaring, runAction: runLocal });
    for (const each of [command, ...command.commands]) each.addHelpText('after', globalFlagsNote);
  }
}

function allCommandsOf(load: LoadManifest): AllCommands {
  return {
    helpPages: async () => await (await import('./help-pages.ts')).helpPages(await load()),
    localPages: async () => await (await import('./help-pages.ts')).localPages(await load()),
    completionPlaces: async () => await (await import('./completion-places.ts')).placesOf(await load()),
  };
}

/** Refuses `--dry-run` for commands that do not look at it: they would do all of their work. */
function refusingDryRun(runAction: Run): Run {
  return async (action) =>
    await runAction(async (session) => {
      if (session.flags.dryRun === true) {
        throw new BillingError(
          'usage',
          '--dry-run is for commands that change something and can say beforehand what; this one was not run',
        );
      }
      await action(session);
    });
}

/** Groups that only the embedded service has. */
const administrationGroups: ReadonlySet<string> = new Set([
  'keys',
  'orgs',
  'webhooks',
  'clock',
  'bill',
  'events',
] satisfies CommandGroup[]);

/** Declares of each verb what the group's help shows, and the rest when the parser reaches the verb. */
function addVerbs(group: Command, commands: readonly CommandSpec[], runAction: Run): void {
  for (const command of commands) summarizeVerb(group.command(command.verb), command);
  group.hook('preSubcommand', (_group, verb) => {
    const command = commands.find((each) => each.verb === verb.name());
    if (command !== undefined) completeVerb(verb, command, runAction);
  });
}
