/** The input of a call: flags, the files that they name, and what a person is asked for. */

import type { CallInput } from '../../operations/operation.ts';
import { inputOf, missingFlags, wholeBody } from '../command-line/flags.ts';
import type { Given } from '../command-line/flags.ts';
import type { Invocation } from '../command-line/invocation.ts';
import { readTextFile } from '../files/files.ts';
import { completed, completedByRules, mayAsk } from '../session/prompts.ts';
import type { Session } from '../session/session.ts';

/** The input from the flags, their files and the answers to questions. */
export async function readInput(
  { command, given: typed, inputPath }: Invocation,
  session: Session,
): Promise<{ readonly given: Given; readonly asked: CallInput }> {
  const readText = (path: string) => readTextFile(path, session.terminal);
  const whole = inputPath === undefined ? undefined : wholeBody(await readText(inputPath), command.isBulk);
  const named = await completed(command, typed, missingFlags(command, typed, whole !== undefined), session);
  const mayMiss = command.hasBody && whole === undefined && mayAsk(session);
  const given = mayMiss ? await completedByRules(command, named, session) : named;
  return { given, asked: await inputOf(command, given, { whole, readText }) };
}
