/** Refusals of what a request says, for reasons that its declaration cannot know. */

import {
  type InputIssue,
  InvalidInputError,
  namesArchivedMessage,
  namesNoMessage,
  NotFoundError,
  unknownIdMessage,
} from '../errors.ts';
import { listed } from '../operations/listed.ts';

/** Throws InvalidInputError with the issues, where there are any: the first `limits.listedIssues` of them. */
export function refuse(issues: readonly InputIssue[]): void {
  if (issues.length > 0) throw new InvalidInputError(listed(issues, (message) => ({ path: '', message })));
}

/** What an id names; NotFoundError in the same words for an unknown id and another tenant's, with a `listing` command as hint. */
export function existing<T>(value: T | undefined, noun: string, listing: string): T {
  if (value !== undefined) return value;
  throw new NotFoundError(unknownIdMessage(noun), { hint: `see them with: tally ${listing}` });
}

/** An issue for a record that a field names and that is not there, or is archived; none for one that can be used. */
export function unusableIssues(
  path: string,
  noun: string,
  found: { readonly name: string; readonly archivedAt: string | null } | undefined,
): InputIssue[] {
  if (found === undefined) return [{ path, message: namesNoMessage(noun) }];
  return found.archivedAt === null ? [] : [{ path, message: namesArchivedMessage(noun, found.name) }];
}

/** An issue for an end that is not after now, both in UTC with milliseconds; none where no end is given. */
export function pastIssues(path: string, end: string | null | undefined, now: string): InputIssue[] {
  return typeof end === 'string' && end <= now ? [{ path, message: `must be after now, ${now}` }] : [];
}
