/**
 * Lines of the operator journal: what was written, by whom, when, with which outcome. Each carries the hash of the line before
 * it, so that the following lines reveal one that was changed or removed.
 */

import { sha256Of } from '../../digest.ts';
import { reviveExactJson } from '../../exact-json.ts';

/**
 * `begun`: about to be sent, outcome not known yet. `repeated`: an earlier request had done it already. `refused`: nothing was
 * done. `unknown`: no answer says whether it was done.
 */
export type CallState = 'begun' | 'done' | 'repeated' | 'refused' | 'unknown';

export interface JournalFacts {
  readonly at: string;
  /** Id of the call: the same in the lines of its beginning and its outcome. */
  readonly call: string;
  readonly state: CallState;
  /** User of the operating system. */
  readonly operator: string;
  readonly environment: string;
  readonly profile?: string | undefined;
  /** Address of the service, or the database. */
  readonly target: string;
  readonly organization?: string | undefined;
  readonly operation: string;
  readonly params?: Readonly<Record<string, string>> | undefined;
  /** SHA-256 of the canonical request: operation, ids, query, If-Match, body without externalId. No key is part of it. */
  readonly requestHash: string;
  readonly externalId?: string | undefined;
  /** The external id was made here, because the request had none. */
  readonly isGeneratedId?: true | undefined;
  /** Value of a grant in cents; absent if it has none. */
  readonly amountCents?: string | undefined;
  readonly creditAmount?: string | undefined;
  /** Body of a grant that was begun, to send it again with its external id. */
  readonly body?: unknown;
  /** Why the policy was overridden, and which of its rules. */
  readonly override?: { readonly reason: string; readonly rules: readonly string[] } | undefined;
  /** Id of the resource in the answer. */
  readonly responseId?: string | undefined;
  /** Code of the failure. */
  readonly error?: string | undefined;
}

export interface JournalLine extends JournalFacts {
  /** Hash of the line before this one; absent in the first. */
  readonly previous?: string;
  readonly hash: string;
}

/** The end of a line. */
const hashed = /^,"hash":"([0-9a-f]{64})"\}$/;
export const hashedLength = `,"hash":"${'0'.repeat(64)}"}`.length;

/** Removes secrets from a text; from a name only the known ones. */
export type Clean = (text: string, isName?: boolean) => string;

/** A grant is found again by these, so they stay as they are, even if one has the form of a key. */
const names: ReadonlySet<string> = new Set(['environment', 'profile', 'target', 'organization']);

/** The text of a line, without its line end; `clean` removes secrets from every text in it. */
export function lineOf(facts: JournalFacts, previous: string | undefined, clean: Clean): string {
  const line = { ...facts, ...(previous === undefined ? {} : { previous }) };
  const text = JSON.stringify(line, function cleaned(this: unknown, key, value: unknown) {
    return typeof value === 'string' ? clean(value, this === line && names.has(key)) : value;
  });
  return seal(text);
}

/** The JSON of an object, with its own hash as the last member. */
export function seal(text: string): string {
  return `${text.slice(0, -1)},"hash":"${sha256Of(text)}"}`;
}

/** Whether a sealed text is as it was written. */
export function isAsSealed(text: string): boolean {
  const named = namedHash(text);
  return named !== undefined && sha256Of(`${text.slice(0, -hashedLength)}}`) === named;
}

/** The line in a text; undefined if the text is not a line or was changed after it was written. */
export function readLine(text: string): JournalLine | undefined {
  if (!isAsSealed(text)) return undefined;
  const line = JSON.parse(text) as JournalLine;
  // Only a body holds numbers. Most come out as they were written.
  const { body } = line;
  return body === undefined || text.includes(JSON.stringify(body)) ? line : (reviveExactJson(text) as JournalLine);
}

/** The hash that the next line carries: the one this text names, whether or not it still matches. */
export function namedHash(text: string): string | undefined {
  return hashed.exec(text.slice(-hashedLength))?.[1];
}

export interface Verification {
  readonly lines: number;
  /** Hash of the last line, to be noted elsewhere: a journal that was truncated no longer contains it. */
  readonly head: string | null;
  readonly findings: readonly { readonly line: number; readonly problem: string }[];
}

/** Checks that every line is as it was written and that none is missing between two. */
export function verifyLines(texts: readonly string[]): Verification {
  const findings: { line: number; problem: string }[] = [];
  let previous: string | undefined;
  for (const [index, text] of texts.entries()) {
    const line = index + 1;
    const found = readLine(text);
    if (found === undefined) {
      const wasCut = namedHash(text) === undefined;
      findings.push({
        line,
        problem: wasCut ? 'is not a whole line: it was cut off' : 'was changed after it was written',
      });
    } else if (found.previous !== previous) {
      findings.push({ line, problem: 'does not follow the line before it: lines were taken out, added or moved' });
    }
    previous = namedHash(text) ?? previous;
  }
  return { lines: texts.length, head: previous ?? null, findings };
}
