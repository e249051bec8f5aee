/** Whether the entry that an idempotent write returns is the one that was asked for. */

import { ConflictError } from '../../errors.ts';
import { isExactNumber, textOfNumber } from '../../exact-json.ts';
import type { Answer } from '../../operations/index.ts';
import type { CallInput } from '../../operations/operation.ts';
import type { CommandSpec } from '../command-line/manifest.ts';
import { valueAt, wireText } from '../wire/rows.ts';

/** Throws ConflictError for an entry made by an earlier, different request: it does not answer this one (semantics 9). */
export async function checkReplay(command: CommandSpec, input: CallInput, answer: Answer): Promise<void> {
  const member = command.idempotencyMember;
  const body = (input.body ?? {}) as Record<string, unknown>;
  if (member === undefined || body[member] === undefined) return;
  const differing = await differingMembers(input, answer);
  if (differing.length === 0) return;
  throw new ConflictError(
    `an entry with this ${member} exists and differs in ${differing.join(', ')}: nothing was created (entry ${wireText(valueAt(answer.body, 'data.id'))})`,
    { hint: `use another ${member}, or look at the existing entry` },
  );
}

/** What became of a grant by its answer; `failed` if its external id has an entry that differs, in the members named. */
export async function outcomeOf(input: CallInput, answer: Answer) {
  const differing = await differingMembers(input, answer);
  const status = differing.length > 0 ? 'failed' : answer.isReplay === true ? 'repeated' : 'done';
  return { id: wireText(valueAt(answer.body, 'data.id')), status, differing: differing.join(', ') } as const;
}

/** Members in which the entry of an answer differs from the request. */
async function differingMembers({ body }: CallInput, answer: Answer): Promise<readonly string[]> {
  if (answer.mismatches !== undefined) return answer.mismatches;
  const entry = valueAt(answer.body, 'data');
  const differing: string[] = [];
  for (const [name, asked] of Object.entries(body ?? {})) {
    if (await differs(asked, valueAt(entry, name))) differing.push(name);
  }
  return differing;
}

/** Compares plain values only: the service returns structures in a form of its own. */
async function differs(asked: unknown, found: unknown): Promise<boolean> {
  if (found === undefined || found === null || asked === undefined || asked === null) return false;
  if (isExactNumber(asked) && isExactNumber(found))
    return await differInValue(textOfNumber(asked), textOfNumber(found));
  if (typeof asked !== 'string' || typeof found !== 'string') return false;
  return asked.normalize('NFC') !== found && instantOf(asked) !== instantOf(found);
}

/** Loads decimals only for numbers that are spelt differently, which may still be one amount. */
async function differInValue(asked: string, found: string): Promise<boolean> {
  if (asked === found) return false;
  const { Big } = await import('big.js');
  return !new Big(asked).eq(found);
}

function instantOf(text: string): string {
  try {
    return Temporal.Instant.from(text).round('millisecond').toString();
  } catch {
    return text;
  }
}
