/**
 * `tally __complete`: candidates for a value, one per line, each with a tab and a label if there is one. Prints nothing if it
 * does not know, and never waits for a remote service.
 */

import { existsSync } from 'node:fs';

import type { ReferenceKind } from '../../operations/references.ts';
import { plainChoice } from '../terminal/questions.ts';
import type { Choice } from '../terminal/questions.ts';
import { globalFlags } from '../command-line/global-flags.ts';
import { localReferences, profileFlags, takesProfile } from '../command-line/local-references.ts';
import { isClearable } from '../command-line/manifest.ts';
import { safe, vouch } from '../terminal/safe-text.ts';
import { reading } from '../session/open-session.ts';
import type { Session } from '../session/session.ts';
import type { CommandModule, Declaring } from './command.ts';

export const declare: CommandModule['declare'] = (command, { runAction, ...declaring }) => {
  command
    .argument('<what>', 'name of a flag without dashes, or the place of an id, from 1')
    .argument('[group]')
    .argument('[verb]')
    .argument('[ids...]', 'ids that stand before it')
    .option('--behind <text>', 'the word as far as it is typed, to its last comma', '')
    .action(
      async (what: string, group: string | undefined, verb: string | undefined, ids: readonly string[], flags) => {
        await runAction(async (session) => {
          const place = { command: `${group} ${verb}`, firstId: ids[0], behind: (flags as { behind: string }).behind };
          const candidates = await candidatesFor(what, place, { declaring, session });
          // Each line is a candidate. A value that a shell would show differently is not a candidate (security 4, SEC-24).
          const plain = candidates.filter(({ value }) => value !== '' && safe(value) === value);
          const lines = plain.map(({ value, label }) => (label === '' ? `${value}\n` : `${value}\t${safe(label)}\n`));
          session.terminal.out(vouch(lines.join('')));
        });
      },
    );
};

interface Place {
  /** Group and verb. */
  readonly command: string;
  readonly firstId: string | undefined;
  /** Empty, or ends with a comma. */
  readonly behind: string;
}

interface Asking {
  readonly declaring: Pick<Declaring, 'loadManifest' | 'allCommands'>;
  readonly session: Session;
}

const mostCandidates = 300;

async function candidatesFor(
  what: string,
  { command, firstId, behind }: Place,
  { declaring, session }: Asking,
): Promise<readonly Choice[]> {
  const isId = /^\d+$/.test(what);
  if (profileFlags.includes(what) || (isId && takesProfile(command))) {
    const profiles = Object.entries((await session.profiles()).list());
    return profiles.map(([value, { environment }]) => ({ value, label: environment }));
  }
  const { commands } = await declaring.loadManifest();
  const found = commands.find((each) => `${each.group} ${each.verb}` === command);
  if (found === undefined && !isGlobal(what)) return await localCandidates(what, command, { declaring, session });
  if (what === 'clear') {
    const clearable = (found?.flags ?? []).filter(isClearable);
    return further(
      clearable.map(({ flag, description }) => ({ value: flag, label: description })),
      behind,
    );
  }
  if (what === 'json' || what === 'columns') return further((found?.fields ?? []).map(plainChoice), behind);
  const id = isId ? found?.positionals[Number(what) - 1] : undefined;
  const flag = found?.flags.find((each) => each.flag === what || each.alias === what);
  const reference = what === 'org' ? 'organizations' : (id ?? flag)?.reference;
  if (reference !== undefined) return await stored(reference, { session, firstId });
  if (flag?.kind === 'boolean') return ['true', 'false'].map(plainChoice);
  const own = id?.choices ?? flag?.choices ?? flag?.element?.choices;
  const global = globalFlags.find((each) => each.name === what)?.choices;
  const choices = (own ?? global ?? []).map(plainChoice);
  // Others take one value (interface 4.5 for `include`), which may have commas of its own.
  return flag?.kind === 'list' || flag?.name === 'include' ? further(choices, behind) : choices;
}

/** The whole word with each value that a list does not have yet. */
function further(choices: readonly Choice[], behind: string): readonly Choice[] {
  const given = new Set(behind.split(','));
  return choices
    .filter(({ value }) => !given.has(value))
    .map(({ value, label }) => ({ value: `${behind}${value}`, label }));
}

function isGlobal(what: string): boolean {
  return globalFlags.some(({ name }) => name === what);
}

/** For a command that is not an operation: its ids, and the choices of its flags. */
async function localCandidates(
  what: string,
  place: string,
  { declaring, session }: Asking,
): Promise<readonly Choice[]> {
  const page = (await declaring.allCommands.helpPages()).find(({ words }) => words.join(' ') === place);
  const argument = page?.arguments[Number(what) - 1];
  const flag = page?.flags.find(({ form }) => form.split(' ')[0] === `--${what}`);
  const name = argument?.name ?? (flag === undefined ? undefined : what);
  const reference = name === undefined ? undefined : localReferences[name];
  if (reference !== undefined) return await stored(reference, { session, firstId: undefined });
  return (flag?.choices ?? []).map(plainChoice);
}

/** From the database in use, if it exists: asking for candidates creates none, and changes none. */
async function stored(
  kind: ReferenceKind,
  { session, firstId }: { readonly session: Session; readonly firstId: string | undefined },
): Promise<readonly Choice[]> {
  const target = await session.embeddedTarget();
  if (target === undefined || !existsSync(target.database)) return [];
  const { choicesOf } = await import('../session/choices.ts');
  const place = { contractId: firstId, most: mostCandidates };
  return await reading(session, target, async ({ billing }) => await choicesOf(kind, billing, place), {
    isReading: true,
  });
}
