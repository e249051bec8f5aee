/** The parser's command for an operation: its flags, its help, and the values given. */

import { Option } from 'commander';
import type { Command } from 'commander';

import { BillingError } from '../errors.ts';
import { byFlags } from './command-line/by-flags.ts';
import type { Run } from './commands/command.ts';
import { flagForm, operationFlags } from './command-line/global-flags.ts';
import type { GlobalFlag } from './command-line/global-flags.ts';
import { examplesText, globalFlagsNote } from './help/examples.ts';
import { fieldsNote } from './help/fields-note.ts';
import type { Invocation } from './command-line/invocation.ts';
import { clearableFlags } from './command-line/manifest.ts';
import type { CommandSpec, FlagSpec } from './command-line/manifest.ts';

/** Declares what the group's help shows of an operation's command; `completeVerb` adds the rest. */
export function summarizeVerb(verb: Command, { positionals, summary }: CommandSpec): Command {
  const ids = positionals.map(({ placeholder }) => `<${placeholder}>`);
  return verb.summary(summary).usage([...ids, '[flags]'].join(' '));
}

/** Gives the command of an operation its flags, help and action. */
export function completeVerb(verb: Command, command: CommandSpec, runAction: Run): void {
  verb.description(byFlags([`${command.summary}.`, command.description].filter(Boolean).join(' '), command));
  // The parser does not require them: an unknown flag is the more useful complaint, and a person can still be asked.
  for (const { placeholder, description } of command.positionals) verb.argument(`[${placeholder}]`, description);
  for (const spec of command.flags) addFlag(verb, { ...spec, description: byFlags(spec.description, command) });
  for (const flag of command.localFlags ?? []) verb.addOption(globalOption(flag));
  for (const flag of operationFlags) if (hasFlag(command, flag.name)) verb.addOption(operationOption(flag, command));
  verb.addHelpText('after', `${examplesText(command)}\n${globalFlagsNote}`);
  verb.action(async (...args: unknown[]) => {
    await runAction(async (session) => {
      const { callOperation } = await import('./call/call.ts');
      await callOperation(invocationOf(command, args), session);
    }, command);
  });
}

/** Whether a command takes this flag of operations; `--help` is not counted. */
export function hasFlag(command: CommandSpec, name: (typeof operationFlags)[number]['name']): boolean {
  if (name === 'input') return command.hasBody;
  if (name === 'clear') return clearableFlags(command).length > 0;
  if (name === 'all') return command.isPaged;
  return name === 'if-match' && command.isVersioned && command.isWrite;
}

/** Help lists the fields that can be cleared, so that nobody has to learn them from a refusal. */
function operationOption(flag: (typeof operationFlags)[number], command: CommandSpec): Option {
  if (flag.name !== 'clear') return globalOption(flag);
  return globalOption({ ...flag, description: `${flag.description}: ${clearableFlags(command).join(', ')}` });
}

const repeatableKinds = new Set(['list', 'object', 'objects', 'members']);

function addFlag(verb: Command, spec: FlagSpec): void {
  const choices = spec.choices ?? spec.element?.choices;
  const notes = [
    spec.isRequired === true ? 'required' : '',
    choices === undefined ? '' : `one of ${choices.join(', ')}`,
    fieldsNote(spec),
    defaultNote(spec),
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

/** The default of the service, where the flag's description does not give it. */
function defaultNote({ default: preset, description }: FlagSpec): string {
  return typeof preset !== 'string' || description.includes('when not given') ? '' : `${preset} when not given`;
}

function collected(spec: FlagSpec, text: string, before: readonly string[] | undefined): readonly string[] {
  if (before !== undefined && !repeatableKinds.has(spec.kind)) throw givenTwice(spec);
  if (spec.kind === 'boolean' && text !== 'true' && text !== 'false') {
    throw new BillingError('usage', `--${spec.flag} takes true or false, not "${text}"`, {
      hint: `--${spec.flag} alone means true, and ids come before the flags`,
    });
  }
  return [...(before ?? []), text];
}

function givenTwice({ flag, alias }: FlagSpec): BillingError {
  const also = alias === undefined ? '' : ` (the same as --${alias})`;
  return new BillingError('usage', `--${flag}${also} was given twice`);
}

function invocationOf(command: CommandSpec, args: readonly unknown[]): Invocation {
  const options = args[command.positionals.length] as Readonly<Record<string, unknown>>;
  const declared = (args[command.positionals.length + 1] as Command).options;
  const nameOf = new Map(declared.map((option) => [option.long, option.attributeName()]));
  const given = (flag: string): unknown => options[nameOf.get(`--${flag}`) ?? ''];
  const positionals = args
    .slice(0, command.positionals.length)
    .filter((each): each is string => typeof each === 'string');
  const flags: Record<string, readonly string[]> = {};
  for (const spec of command.flags) {
    const names = spec.alias === undefined ? [spec.flag] : [spec.flag, spec.alias];
    const texts = names.flatMap((name) => (given(name) ?? []) as readonly string[]);
    if (texts.length > 1 && !repeatableKinds.has(spec.kind)) throw givenTwice(spec);
    if (texts.length > 0) flags[spec.flag] = texts;
  }
  const cleared = given('clear') as string | undefined;
  return {
    command,
    given: {
      positionals,
      flags,
      cleared: cleared?.split(',').map((name) => name.trim()) ?? [],
      ifMatch: given('if-match') as string | undefined,
    },
    inputPath: given('input') as string | undefined,
    isAll: given('all') === true,
    local: Object.fromEntries(
      (command.localFlags ?? []).flatMap((flag) => {
        const value = given(flag.name) as string | true | undefined;
        return value === undefined ? [] : [[flag.name, value]];
      }),
    ),
  };
}

/** The parser's option for a flag. */
export function globalOption(flag: GlobalFlag): Option {
  const option = new Option(flagForm(flag), flag.description);
  return flag.choices === undefined ? option : option.choices([...flag.choices]);
}
