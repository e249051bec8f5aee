/** Questions to a person: only where one sits at the terminal, and never answered by the end of input. */

import { BillingError } from '../errors.ts';
import type { Given } from './flags.ts';
import type { CommandSpec, FlagSpec } from './manifest.ts';
import { safe, say, vouch } from './safe-text.ts';
import type { SafeText } from './safe-text.ts';
import type { Session } from './session.ts';
import type { Target } from './target.ts';

/** Whether questions may be asked: both ends are a terminal, and neither `--no-input` nor `CI` speaks against it. */
export function mayAsk({
  terminal,
  flags,
  dependencies,
}: Pick<Session, 'terminal' | 'flags' | 'dependencies'>): boolean {
  const isCi = !['', '0', 'false', undefined].includes(dependencies.env['CI']);
  return terminal.stdin.isTerminal && terminal.stdout.isTerminal && flags.input !== false && !isCi;
}

/** The same command line with what was missing. Throws a usage error naming all of it where nobody can be asked. */
export async function completed(
  command: CommandSpec,
  given: Given,
  missing: readonly FlagSpec[],
  session: Session,
): Promise<Given> {
  const ids = command.positionals.slice(given.positionals.length);
  if (missing.length === 0 && ids.length === 0) return given;
  if (!mayAsk(session))
    throw missingError(
      command,
      missing,
      ids.map(({ placeholder }) => placeholder),
    );
  const positionals = [...given.positionals];
  for (const { placeholder } of ids) positionals.push(await answer(session, { message: say`${placeholder}` }));
  const flags: Record<string, readonly string[]> = { ...given.flags };
  for (const spec of missing) flags[spec.flag] = [await answerFor(session, spec)];
  return { ...given, positionals, flags };
}

function missingError(command: CommandSpec, missing: readonly FlagSpec[], ids: readonly string[]): BillingError {
  const names = [...ids.map((id) => `<${id}>`), ...missing.map(({ flag }) => `--${flag}`)];
  return new BillingError('usage', `missing ${names.join(', ')}`, {
    hint: `see: tally ${command.group} ${command.verb} --help`,
  });
}

async function answerFor(session: Session, spec: FlagSpec): Promise<string> {
  const choices = spec.kind === 'boolean' ? ['true', 'false'] : spec.kind === 'text' ? spec.choices : undefined;
  const message = safe(`${spec.flag} (${spec.description.replace(/\.$/, '')}; ${formOf(spec)})`);
  return await answer(session, choices === undefined ? { message } : { message, choices });
}

function formOf(spec: FlagSpec): string {
  const members = Object.keys(spec.fields ?? {});
  return members.length > 0 ? members.map((name) => `${name}=…`).join(',') : spec.placeholder;
}

async function answer(
  session: Session,
  question: { message: ReturnType<typeof safe>; choices?: readonly string[] },
): Promise<string> {
  const text = await session.terminal.ask({ kind: question.choices === undefined ? 'text' : 'choice', ...question });
  if (text === undefined || text === '') throw new BillingError('refused', 'nothing was entered: nothing was done');
  return text;
}

/**
 * Lets a write to production pass only with a yes: a person's, or a script's by `--yes` with `--expect-env production`.
 * Shows target, effect and environment before it asks. Throws BillingError `refused`.
 */
export async function confirmWrite(session: Session, target: Target, effect: SafeText): Promise<void> {
  if (target.environment !== 'production' || target.kind !== 'remote') return;
  const { flags, terminal } = session;
  if (flags.yes === true && flags.expectEnv === 'production') return;
  if (!mayAsk(session)) {
    throw new BillingError('refused', 'a write to production needs confirmation: nothing was sent', {
      hint: 'in a script give --yes together with --expect-env production',
    });
  }
  const profile = target.profile === undefined ? '' : ` (profile ${target.profile})`;
  terminal.err(vouch(`${say`PRODUCTION  ${target.baseUrl}${profile}`}\n${effect}\n`));
  const reply = await terminal.ask({ kind: 'confirm', message: say`Go on?` });
  if (reply !== 'yes') throw new BillingError('refused', 'not confirmed: nothing was sent');
}
