/** How a failure is reported: what failed and what to do next, a line each; the same as JSON for scripts; the exit code. */

import { BillingError, InvalidInputError, errorFacts } from '../errors.ts';
import type { GlobalFlags } from './command-line/global-flags.ts';
import type { CommandSpec } from './command-line/manifest.ts';
import { onSameTarget } from './command-line/same-target.ts';
import { safe, safeJson, say, vouch } from './terminal/safe-text.ts';
import type { Terminal } from './terminal/terminal.ts';
import { UnprintedError } from './terminal/unprinted.ts';

export interface FailureContext {
  readonly terminal: Terminal;
  /** Whether the failure is written as JSON, too. */
  readonly isJson: boolean;
  readonly isDebug: boolean;
  readonly profile?: string | undefined;
  readonly environment?: string | undefined;
  readonly flags?: GlobalFlags | undefined;
  /** The operation's command, to name the flags of the fields that a refusal is about. */
  readonly command?: CommandSpec | undefined;
}

/** Writes the failure to standard error; returns the exit code. */
export function tellFailure(error: unknown, context: FailureContext): number {
  const failure = error instanceof BillingError ? error : unexpected(error);
  const facts = errorFacts[failure.kind];
  const words =
    unprintedHint(failure, context.command) ??
    mistakenFlagHint(failure, context) ??
    failure.hint ??
    flagHint(failure, context.command) ??
    debugHint(failure, error, context);
  const hint = words === undefined ? undefined : onSameTarget(words, context.flags ?? {});
  const { terminal } = context;
  terminal.err(say`tally: ${failure.message.replaceAll(/\s*\n\s*/g, ' ')}\n`);
  if (hint !== undefined) terminal.err(say`  hint: ${hint}\n`);
  if (context.isDebug) terminal.err(vouch(`${stackOf(error).map(safe).join('\n')}\n`));
  if (context.isJson) {
    const envelope = {
      code: facts.code,
      message: failure.message,
      status: failure.answeredStatus ?? facts.status,
      retryable: failure.isRetryable,
      hint,
      retryAfterSeconds: failure.retryAfterSeconds,
      requestId: failure.requestId,
      profile: context.profile,
      environment: context.environment,
    };
    terminal.err(safeJson(`${JSON.stringify({ error: envelope })}\n`));
  }
  return facts.exitCode;
}

/** What the system has run out of. The person must look up whether something was done before that. */
const scarce: Readonly<Record<string, string>> = {
  EMFILE: 'too many open files in this program',
  ENFILE: 'too many open files on this machine',
};

function unexpected(error: unknown): BillingError {
  const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  const scarcity = scarce[code ?? ''];
  if (scarcity !== undefined) {
    return new BillingError('unavailable', `${scarcity} (${code})`, {
      cause: error,
      hint: 'raise the limit, for example with: ulimit -n 1024; check whether it took effect before repeating the command',
    });
  }
  if (syscall === 'uv_cwd') {
    return new BillingError('usage', 'the current directory no longer exists', {
      cause: error,
      hint: 'change to another directory, and repeat the command',
    });
  }
  const message = error instanceof Error ? error.message : String(error);
  const words = code === undefined ? message : `${code}: ${message}`;
  return new BillingError('internal', `unexpected: ${words}`, { cause: error });
}

function debugHint(failure: BillingError, error: unknown, { isDebug }: FailureContext): string | undefined {
  return failure === error || isDebug ? undefined : 'run it again with --debug to see where it happened';
}

/** A person who sees no answer repeats the command, which must not happen to a write. A read needs no such hint. */
function unprintedHint(failure: BillingError, command: CommandSpec | undefined): string | undefined {
  if (!(failure instanceof UnprintedError) || command?.isWrite === false) return undefined;
  const what =
    command === undefined ? 'if the command changes something, that was done' : 'what was to be done was done';
  const done = `${what}: check before repeating it`;
  return failure.hint === undefined ? done : `${failure.hint}; ${done}`;
}

/** `--events` takes the URL of a database, and is easily given for the kinds of event of a webhook. */
function mistakenFlagHint({ kind }: BillingError, { command, flags }: FailureContext): string | undefined {
  const given = flags?.events?.split(',');
  if (kind !== 'usage' || given === undefined) return undefined;
  const meant = command?.flags.find(({ element }) => given.every((word) => element?.choices?.includes(word)));
  return meant === undefined ? undefined : `did you mean --${meant.flag}?`;
}

/** The flags for the fields whose paths a refusal names. */
function flagHint(failure: BillingError, command: CommandSpec | undefined): string | undefined {
  if (command === undefined || !(failure.kind === 'invalidInput' || failure.kind === 'badRequest')) return undefined;
  const heads =
    failure instanceof InvalidInputError && failure.issues.length > 0
      ? failure.issues.map((issue) => headOf(issue.path))
      : failure.message.split('; ').map((part) => headOf(part.split(': ')[0] ?? ''));
  const flags = command.flags
    .filter((spec) => heads.includes(spec.name))
    .map((spec) => `--${spec.flag} <${spec.placeholder}>`);
  return flags.length === 0 ? undefined : `see ${flags.join(', ')} in: tally ${command.group} ${command.verb} --help`;
}

function headOf(path: string): string {
  return /^\w+/.exec(path)?.[0] ?? '';
}

function stackOf(error: unknown): string[] {
  const lines: string[] = [];
  for (let each: unknown = error; each instanceof Error && lines.length < 100; each = each.cause) {
    // A message of several lines becomes one: lines from elsewhere could look like ours.
    lines.push(...(each.stack ?? each.message).replaceAll(/\s*\n(?! {4}at )/g, ' ').split('\n'));
  }
  return lines;
}
