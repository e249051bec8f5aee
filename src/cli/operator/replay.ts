/** Whether the entry that an idempotent write returns is the one that was asked for. */

import { ConflictError } from '../../errors.ts';
import { isExactNumber, textOfNumber } from '../../exact-json.ts';
import type { Answer } from '../../operations/index.ts';
import type { CallInput } from '../../operations/operation.ts';
import type { CommandSpec } from '../command-line/manifest.ts';
import { valueAt, wireText } from '../wire/rows.ts';

/** Throws ConflictError for an entry made by an earlier, different request: it does not answer this one (semantics 9). */
export function checkReplay(command: CommandSpec, input: CallInput, answer: Answer): void {
  const member = command.idempotencyMember;
  const body = (input.body ?? {}) as Record<string, unknown>;
  if (member === undefined || body[member] === undefined) return;
  const entry = valueAt(answer.body, 'data') ?? {};
  const differing = differingMembers(input, answer);
  if (differing.length === 0) return;
  throw new ConflictError(
    `an entry with this ${member} exists and differs in ${differing.join(', ')}: nothing was created (entry ${wireText(valueAt(entry, 'id'))})`,
    { hint: `use another ${member}, or look at the entry there is` },
  );
}

/** Members in which the entry of an answer differs from the request. */
export function differingMembers({ body }: CallInput, answer: Answer): readonly string[] {
  const entry = valueAt(answer.body, 'data') ?? {};
  const asked = (body ?? {}) as Record<string, unknown>;
  return answer.mismatches ?? Object.keys(asked).filter((name) => differs(asked[name], valueAt(entry, name)));
}

/** Compares plain values only: the service returns structures in a form of its own. */
function differs(asked: unknown, found: unknown): boolean {
  if (found === undefined || found === null || asked === undefined || asked === null) return false;
  if (isExactNumber(asked) && isExactNumber(found)) return Number(textOfNumber(asked)) !== Number(textOfNumber(found));
  if (typeof asked !== 'string' || typeof found !== 'string') return false;
  return asked.normalize('NFC') !== found && instantOf(asked) !== instantOf(found);
}

function instantOf(text: string): string {
  try {
    return Temporal.Instant.from(text).round('millisecond').toString();
  } catch {
    return text;
  }
}
