/** Questions to a person: only if one sits at the terminal, and never answered by the end of input. */

import { BadRequestError, BillingError, InvalidInputError } from '../../errors.ts';
import type { OperationName } from '../../operations/index.ts';
import type { ReferenceKind } from '../../operations/references.ts';
import { byFlags } from '../command-line/by-flags.ts';
import { inputOf } from '../command-line/flags.ts';
import type { Given } from '../command-line/flags.ts';
import type { CommandSpec, FlagSpec } from '../command-line/manifest.ts';
import { recordMembers } from '../command-line/record-members.ts';
import { readTextFile } from '../files/files.ts';
import { safe, say, vouch } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import type { OpenBilling, Session } from './session.ts';
import { requireEmbedded, whereOf } from '../target/target.ts';
import type { Target } from '../target/target.ts';
import { plainChoice } from '../terminal/questions.ts';
import type { Choice, Question } from '../terminal/questions.ts';

/**
 * Whether questions may be asked: standard input, output and error are a terminal (the questions appear on the last), and
 * neither `--no-input` nor `CI` forbids it.
 */
export function mayAsk({
  terminal,
  flags,
  dependencies,
}: Pick<Session, 'terminal' | 'flags' | 'dependencies'>): boolean {
  const isCi = !['', '0', 'false', undefined].includes(dependencies.env['CI']);
  const isSeen = terminal.stdout.isTerminal && terminal.stderr.isTerminal;
  // Standard input last: Node loads all its streams to open it, a tenth of a command that writes.
  return flags.input !== false && !isCi && isSeen && terminal.stdin.isTerminal;
}

/**
 * The command line with its missing values filled in. Throws a usage error that names all of them if nobody can be asked, and
 * `notOffered` if no answer would help.
 */
export async function completed(
  command: CommandSpec,
  given: Given,
  missing: readonly FlagSpec[],
  session: Session,
): Promise<Given> {
  // An empty value is a variable that a script forgot to set.
  const typed = command.positionals.map((_, index) => given.positionals[index] ?? '');
  const ids = command.positionals.filter((_, index) => typed[index] === '');
  if (missing.length === 0 && ids.length === 0) return given;
  if (!mayAsk(session)) throw missingError(command, missing, ids);
  if (command.path === undefined) requireEmbedded(await session.target(), `${command.group} ${command.verb}`);
  const service = lateService(session);
  try {
    const positionals = [...typed];
    for (const [index, { placeholder, description, reference, choices }] of command.positionals.entries()) {
      if (positionals[index] !== '') continue;
      const fetched = await service.choices(reference, positionals[0]);
      const message = say`${placeholder}${description === '' ? '' : ` (${description.replace(/\.$/, '')})`}`;
      positionals[index] = await answer(session, { message, choices: fetched ?? choices?.map(plainChoice) });
    }
    const flags: Record<string, readonly string[]> = { ...given.flags };
    for (const spec of missing) {
      const fetched = await service.choices(spec.reference, positionals[0]);
      flags[spec.flag] = [await answerFor(session, { command, spec, fetched })];
    }
    return { ...given, positionals, flags };
  } finally {
    await service.close();
  }
}

/**
 * The command line with what rules across fields require, such as the amount of a grant, of which there are two kinds. Asks
 * until nothing is missing, and only while nothing else is wrong.
 */
export async function completedByRules(command: CommandSpec, given: Given, session: Session): Promise<Given> {
  const service = lateService(session);
  const flags: Record<string, readonly string[]> = { ...given.flags };
  const sofar = { ...given, flags };
  try {
    for (;;) {
      const spec = await missedByRule(command, sofar, session);
      if (spec === undefined) return sofar;
      if (command.path === undefined) requireEmbedded(await session.target(), `${command.group} ${command.verb}`);
      const fetched = await service.choices(spec.reference, given.positionals[0]);
      flags[spec.flag] = [await answerFor(session, { command, spec, fetched })];
    }
  } finally {
    await service.close();
  }
}

async function missedByRule(
  command: CommandSpec,
  given: Given,
  { terminal }: Pick<Session, 'terminal'>,
): Promise<FlagSpec | undefined> {
  const { parseCall } = await import('../../operations/parse.ts');
  const input = await inputOf(command, given, { readText: async (path) => await readTextFile(path, terminal) });
  const isAbsent = ({ name }: FlagSpec): boolean => !Object.hasOwn(input.body as object, name);
  try {
    await parseCall(command.operation as OperationName, input);
    return undefined;
  } catch (error) {
    if (!(error instanceof InvalidInputError)) return undefined;
    const specs = error.issues.map(({ path }) => command.flags.find((spec) => spec.name === path && isAbsent(spec)));
    return specs.includes(undefined) ? undefined : specs[0];
  }
}

function missingError(
  command: CommandSpec,
  missing: readonly FlagSpec[],
  ids: CommandSpec['positionals'],
): BillingError {
  const names = [...ids.map(({ placeholder }) => `<${placeholder}>`), ...missing.map(({ flag }) => `--${flag}`)];
  return new BillingError('usage', `missing ${names.join(', ')}`, {
    hint: `see: tally ${command.group} ${command.verb} --help`,
  });
}

/** Short, because a person waits for the question. */
export const patienceMilliseconds = 5_000;

/** The service, opened for the first question that needs it. If it does not answer, the person types an id. */
function lateService(session: Session) {
  let opened: OpenBilling | undefined;
  return {
    /** Undefined where there is nothing to choose from, as where a field refers to nothing. */
    async choices(
      kind: ReferenceKind | undefined,
      firstId: string | undefined,
    ): Promise<readonly Choice[] | undefined> {
      if (kind === undefined) return undefined;
      const { choicesOf } = await import('./choices.ts');
      try {
        const options = { timeoutMilliseconds: patienceMilliseconds };
        opened ??= await session.dependencies.openBilling(await session.target(), options);
        const found = await choicesOf(kind, opened.billing, { contractId: firstId });
        return found.length === 0 ? undefined : found;
      } catch (error) {
        if (!(error instanceof BillingError) || error.kind === 'usage' || error.kind === 'refused') throw error;
        return undefined;
      }
    },
    close: async () => await opened?.close(),
  };
}

async function answerFor(
  session: Session,
  { command, spec, fetched }: { command: CommandSpec; spec: FlagSpec; fetched: readonly Choice[] | undefined },
): Promise<string> {
  const own = spec.kind === 'boolean' ? ['true', 'false'] : spec.kind === 'text' ? spec.choices : undefined;
  const known = spec.element?.choices;
  const form = known === undefined ? formOf(spec) : `${spec.placeholder} of ${known.join(', ')}`;
  const description = byFlags(spec.description, command).replace(/\.$/, '');
  const message = safe(`${spec.flag} (${description}; ${form})`);
  const validate = async (text: string) => await problemOf(command, spec, { text, session });
  return await answer(session, { message, choices: fetched ?? own?.map(plainChoice), validate });
}

/** What the declaration of the field says against a text, checked as a flag would be; undefined for nothing. */
async function problemOf(
  command: CommandSpec,
  spec: FlagSpec,
  { text, session }: { readonly text: string; readonly session: Session },
): Promise<string | undefined> {
  const [{ loadOperation }, { parseInput }] = await Promise.all([
    import('../../operations/index.ts'),
    import('../../operations/parse.ts'),
  ]);
  const operation = await loadOperation(command.operation as OperationName);
  const readText = async (path: string) => await readTextFile(path, session.terminal);
  try {
    const given = { positionals: [], flags: { [spec.flag]: [text] }, cleared: [] };
    parseInput(operation, await inputOf(command, given, { readText }));
    return undefined;
  } catch (error) {
    if (error instanceof InvalidInputError) {
      return error.issues.find(({ path }) => /^\w*/.exec(path)?.[0] === spec.name)?.message;
    }
    if (error instanceof BadRequestError) {
      const own = error.message.split('; ').find((part) => part.startsWith(`${spec.name}: `));
      return own?.slice(spec.name.length + 2);
    }
    if (error instanceof BillingError) return error.message;
    throw error;
  }
}

function formOf(spec: FlagSpec): string {
  const members = recordMembers(spec.fields ?? {});
  return members.length > 0 ? members.map(({ name }) => `${name}=…`).join(',') : spec.placeholder;
}

async function answer(session: Session, { choices, ...question }: Omit<Question, 'kind'>): Promise<string> {
  const text = await session.terminal.ask(
    choices === undefined ? { kind: 'text', ...question } : { kind: 'choice', choices, ...question },
  );
  if (text === undefined || text === '') throw new BillingError('refused', 'nothing was entered: nothing was done');
  return text;
}

/** What a write would do; a function where finding the words takes longer than a script wants to wait. */
type Effect = SafeText | (() => Promise<SafeText>);

/** Whether the command line says yes; for production only if it names production. */
export function isAgreed({ flags }: Session, { environment }: Pick<Target, 'environment'>): boolean {
  return flags.yes === true && (environment !== 'production' || flags.expectEnv === 'production');
}

/**
 * Requires a yes for a write to production: a person's, or a script's by `--yes` with `--expect-env production`. Shows target,
 * effect and environment before it asks. Throws BillingError `refused`.
 */
export async function confirmWrite(session: Session, target: Target, effect: Effect): Promise<void> {
  if (target.environment !== 'production') return;
  await confirm(session, target, {
    head: say`${nameOf(target)}`,
    effect,
    unasked: 'a write to production needs confirmation: nothing was sent',
    hint: 'in a script give --yes together with --expect-env production',
    declined: 'not confirmed: nothing was sent',
  });
}

/**
 * Requires a yes, in every environment, for what cannot be undone: a person's, or a script's by `--yes`, on production with
 * `--expect-env production`. Throws BillingError `refused`.
 */
export async function confirmLoss(session: Session, target: Target, effect: Effect): Promise<void> {
  const expected = target.environment === 'production' ? ' together with --expect-env production' : '';
  await confirm(session, target, {
    head: say`${nameOf(target)}: this cannot be undone`,
    effect,
    unasked: 'this cannot be undone, and needs confirmation: nothing was done',
    hint: `look first with --dry-run; then, in a script, give --yes${expected}`,
    declined: 'not confirmed: nothing was done',
  });
}

function nameOf(target: Target): string {
  const profile = target.profile === undefined ? '' : ` (profile ${target.profile})`;
  const name = target.environment === 'production' ? `PRODUCTION  ${whereOf(target)}` : target.environment;
  return `${name}${profile}`;
}

/**
 * Requires a yes in every environment, for what a person has seen: on production like any write, elsewhere a person's or
 * `--yes`. Throws BillingError `refused`.
 */
export async function confirmShown(
  session: Session,
  target: Target,
  { effect, ...words }: { readonly effect: SafeText } & Pick<YesOrNo, 'message' | 'unasked' | 'declined'>,
): Promise<void> {
  if (target.environment === 'production') return await confirmWrite(session, target, effect);
  if (session.flags.yes !== true) await askForYes(session, { hint: 'in a script give --yes', ...words });
}

interface Confirmation extends Omit<YesOrNo, 'message' | 'shown'> {
  readonly head: SafeText;
  readonly effect: Effect;
}

async function confirm(session: Session, target: Target, { head, effect, ...words }: Confirmation): Promise<void> {
  if (isAgreed(session, target)) return;
  const shown = async () => vouch(`${head}\n${typeof effect === 'function' ? await effect() : effect}\n`);
  await askForYes(session, { message: say`Go on?`, shown, ...words });
}

interface YesOrNo {
  readonly message: SafeText;
  /** What a person has to see first, if it is not on the screen yet. */
  readonly shown?: () => Promise<SafeText>;
  /** What is said, with the hint, if nobody can be asked. */
  readonly unasked: string;
  readonly hint: string;
  readonly declined: string;
}

/** Returns only after a person's yes; otherwise throws BillingError `refused`. */
export async function askForYes(session: Session, { message, shown, unasked, hint, declined }: YesOrNo): Promise<void> {
  const { terminal } = session;
  if (!mayAsk(session)) throw new BillingError('refused', unasked, { hint });
  if (shown !== undefined) terminal.err(await shown());
  const reply = await terminal.ask({ kind: 'confirm', message });
  if (reply !== 'yes') throw new BillingError('refused', declined);
}
