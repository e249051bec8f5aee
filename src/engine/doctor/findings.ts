/** Runs checks and collects what they find. */

import { BillingError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { Finding } from '../../operations/findings.ts';
import { SqlReadingNeeded } from '../usage-sql.ts';
import type { Check, Problem } from './check.ts';

export interface Findings {
  /** Runs every check on these facts; a check that fails is a finding about `objectId`. */
  readonly run: <Facts>(checks: Readonly<Record<string, Check<Facts>>>, facts: Facts, objectId: string) => void;
  readonly add: (name: string, check: Omit<Check<never>, 'find'>, problems: readonly Problem[]) => void;
  /** Grouped by check, at most `limits.findingsPerCheck` of each. */
  readonly list: () => Finding[];
  readonly count: () => number;
}

/** Keeps at most `limits.findingsPerCheck` findings of each check; all are counted. */
export function createFindings(): Findings {
  const found = new Map<string, Finding[]>();
  let count = 0;
  const add: Findings['add'] = (name, { severity, fix }, problems) => {
    if (problems.length === 0) return;
    count += problems.length;
    const kept = found.getOrInsert(name, []);
    for (const problem of problems.slice(0, limits.findingsPerCheck - kept.length)) {
      kept.push({ check: name, severity, ...problem, fix });
    }
  };
  return {
    add,
    run: (checks, facts, objectId) => {
      for (const [name, check] of Object.entries(checks)) add(name, check, problemsOf(check, facts, objectId));
    },
    list: () => [...found.values()].flat(),
    count: () => count,
  };
}

/** Stored data may be wrong in ways that no check foresaw: that is a finding, too. */
export function unexpectedProblem(error: unknown, objectId: string): Problem {
  // A disk that fails, a locked file or a meter that gives no number says nothing about the books.
  if (error instanceof BillingError || error instanceof SqlReadingNeeded) throw error;
  return {
    objectId,
    problem: `${objectId} could not be checked: ${error instanceof Error ? error.message : String(error)}`,
  };
}

function problemsOf<Facts>(check: Check<Facts>, facts: Facts, objectId: string): readonly Problem[] {
  try {
    return check.find(facts);
  } catch (error) {
    return [unexpectedProblem(error, objectId)];
  }
}
