/**
 * Lines of the operator journal: what was written, by whom, when, with which outcome. Each carries the hash of the one before
 * it, so that a line that was changed or taken out is seen by those that follow.
 */

import { sha256Of } from '../../digest.ts';
import { reviveExactJson } from '../../exact-json.ts';

/**
 * `begun`: about to be sent, and its outcome not known yet. `repeated`: an earlier request had done it already.
 * `refused`: nothing was done. `unknown`: no answer says whether it was done.
 */
export type CallState = 'begun' | 'done' | 'repeated' | 'refused' | 'unknown';

export interface JournalFacts {
  readonly at: string;
  /** Id of the call: the same in the line of its beginning and of its outcome. */
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
  /** SHA-256 of the request in canonical form: operation, ids, query, and body without externalId. A key is no part of it. */
  readonly requestHash: string;
  readonly externalId?: string | undefined;
  /** The external id was made here, since the request had none. */
  readonly isGeneratedId?: true | undefined;
  /** Worth of a grant; absent where there is none. */
  readonly amountCents?: string | undefined;
  readonly creditAmount?: string | undefined;
  /** Body of a grant that was begun, to send it again with its id. */
  readonly body?: unknown;
  /** Why the policy was overridden, and which of its rules. */
  readonly override?: { readonly reason: string; readonly rules: readonly string[] } | undefined;
  /** Id of what the answer shows. */
  readonly responseId?: string | undefined;
  /** Code of the failure. */
  readonly error?: string | undefined;
}

export interface JournalLine extends JournalFacts {
  /** Hash of the line before this one; absent in the first. */
  readonly previous?: string;
  readonly hash: string;
}

const hashed = /^(.*),"hash":"([0-9a-f]{64})"\}$/s;

/** Takes secrets out of a text; of a name those alone that are known. */
export type Clean = (text: string, isName?: boolean) => string;

/** By these a grant is found again, so they stand as they are, even where one has the form of a key. */
const names: ReadonlySet<string> = new Set(['environment', 'profile', 'target', 'organization']);

/** The text of a line, without its line end; `clean` takes secrets out of every text in it. */
export function lineOf(facts: JournalFacts, previous: string | undefined, clean: Clean): string {
  const line = { ...facts, ...(previous === undefined ? {} : { previous }) };
  const text = JSON.stringify(line, function cleaned(this: unknown, key, value: unknown) {
    return typeof value === 'string' ? clean(value, this === line && names.has(key)) : value;
  });
  return `${text.slice(0, -1)},"hash":"${sha256Of(text)}"}`;
}

/** The line of a text; undefined where it is none, or not the one that was written. */
export function readLine(text: string): JournalLine | undefined {
  const match = hashed.exec(text);
  if (match === null || sha256Of(`${match[1]}}`) !== match[2]) return undefined;
  return reviveExactJson(text) as JournalLine;
}

/** The hash that the line after this one carries: the one it names, whether or not it is still its own. */
export function namedHash(text: string): string | undefined {
  return hashed.exec(text)?.[2];
}

export interface Verification {
  readonly lines: number;
  /** Hash of the last line, to be noted elsewhere: a journal that was cut does not contain it any more. */
  readonly head: string | null;
  readonly findings: readonly { readonly line: number; readonly problem: string }[];
}

/** Whether every line is as it was written, and none is missing between two. */
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
