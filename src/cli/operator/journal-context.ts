/** What the journal records with every call: who sends it, from here or elsewhere, to which place, and under which policy. */

import { resolve } from 'node:path';

import { inMemory, withoutPassword } from '../../database-url.ts';
import type { Moment } from '../../operations/field-rules.ts';
import type { Target } from '../target/target.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import type { Place } from './grant-history.ts';
import type { Journal } from './journal.ts';
import type { Policy } from './policy.ts';

/** Ids of all contracts of the customer of a contract. */
export type ContractLookup = (contractId: string) => Promise<readonly string[]>;

export interface JournalContext {
  readonly journal: Journal;
  readonly place: Place;
  /** Whether the service is in this process: its refusals then say whether anything was done. */
  readonly isHere: boolean;
  readonly operator: string;
  readonly policy: Policy | undefined;
  /** Why the policy is overridden for this command. */
  readonly overrideReason: string | undefined;
  /** Looked up when not given. */
  readonly contractsOf?: ContractLookup | undefined;
  readonly now: () => Moment;
  readonly newId: () => string;
  readonly tell: (note: SafeText) => void;
  /** Sets what is said if the person interrupts the program from now on. */
  readonly atInterrupt: (words: SafeText | undefined) => void;
  /** Whether the same command, given again, makes the calls that are left. */
  readonly isResumable?: boolean | undefined;
  /** Takes work for when the answer has been shown; done at once when not given. */
  readonly onceShown?: ((work: () => Promise<void>) => void) | undefined;
}

/** Where the calls of a target go, as the journal names it: without a key, and the same in every working directory. */
export function placeOf(target: Target): Place {
  const { environment, profile } = target;
  if (target.kind === 'remote') return { environment, target: target.baseUrl, profile };
  return { environment, target: databaseName(target.database), organization: target.organization, profile };
}

function databaseName(url: string): string {
  if (url === inMemory) return url;
  const match = /^([a-z]+:\/\/)(?:[^@/]*@)?(.*)$/.exec(withoutPassword(url));
  return match === null ? resolve(url) : `${match[1]}${match[2]}`;
}
