/** What must hold in every ledger, whatever happened to it (reliability 5, invariants 1 to 6 and 10). */

import type { LedgerEntry } from './ledger.ts';

export interface LedgerProblem {
  /** The entry that breaks the rule, or the grant that does. */
  readonly entryId: string;
  readonly problem: string;
}

export type LedgerRule =
  | 'entry-signs'
  | 'grant-bounds'
  | 'balances'
  | 'no-dust'
  | 'grant-links'
  | 'conservation'
  | 'reversals';

/** What breaks each rule in one contract's whole ledger, given oldest entry first. */
export const ledgerRules: Readonly<Record<LedgerRule, (entries: readonly LedgerEntry[]) => LedgerProblem[]>> = {
  'entry-signs': signProblems,
  balances: balanceProblems,
  'grant-links': linkProblems,
  reversals: reversalProblems,
  'grant-bounds': boundProblems,
  'no-dust': dustProblems,
  conservation: conservationProblems,
};

/** Every broken rule of one contract's whole ledger, oldest entry first; empty for a sound one. */
export function ledgerProblems(entries: readonly LedgerEntry[]): string[] {
  return Object.values(ledgerRules).flatMap((rule) => rule(entries).map(({ problem }) => problem));
}

function signProblems(entries: readonly LedgerEntry[]): LedgerProblem[] {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  return entries.flatMap((entry) => {
    const problem = signProblem(entry, byId.get(entry.reversesEntryId ?? ''));
    return problem === undefined ? [] : [{ entryId: entry.id, problem }];
  });
}

function signProblem(entry: LedgerEntry, target: LedgerEntry | undefined): string | undefined {
  const { id, type, amountCents, creditMicros, appliedCents } = entry;
  const isPositive = amountCents >= 0n && creditMicros >= 0n;
  const isNegative = amountCents <= 0n && creditMicros <= 0n;
  if (type === 'grant' && !isPositive) return `grant ${id} is negative`;
  if ((type === 'usage' || type === 'expiration') && !isNegative) return `${type} ${id} is positive`;
  if (type !== 'reversal' || target === undefined) return undefined;
  const isOpposite =
    amountCents === -target.amountCents &&
    creditMicros === -target.creditMicros &&
    appliedCents === -target.appliedCents;
  return isOpposite ? undefined : `reversal ${id} is not the opposite of ${target.id}`;
}

function balanceProblems(entries: readonly LedgerEntry[]): LedgerProblem[] {
  let cents = 0n;
  let micros = 0n;
  return entries.flatMap(({ id, ...entry }) => {
    cents += entry.amountCents;
    micros += entry.creditMicros;
    const isSum = entry.balanceAfterCents === cents && entry.creditBalanceAfterMicros === micros;
    return isSum ? [] : [{ entryId: id, problem: `the balance after entry ${id} is not the sum of the entries` }];
  });
}

function linkProblems(entries: readonly LedgerEntry[]): LedgerProblem[] {
  const earlier = new Map<string, LedgerEntry>();
  return entries.flatMap((entry) => {
    const grant = earlier.get(entry.grantEntryId ?? '');
    earlier.set(entry.id, entry);
    if (entry.type === 'grant' || entry.grantEntryId === undefined) return [];
    const isLinked =
      grant?.type === 'grant' && grant.contractId === entry.contractId && grant.currency === entry.currency;
    return isLinked ? [] : [{ entryId: entry.id, problem: `${entry.type} ${entry.id} has no grant before it` }];
  });
}

function reversalProblems(entries: readonly LedgerEntry[]): LedgerProblem[] {
  const earlier = new Map<string, LedgerEntry>();
  const reversed = new Set<string>();
  return entries.flatMap((entry) => {
    const problem = reversalProblem(entry, earlier, reversed);
    earlier.set(entry.id, entry);
    if (entry.reversesEntryId !== undefined) reversed.add(entry.reversesEntryId);
    return problem === undefined ? [] : [{ entryId: entry.id, problem }];
  });
}

function reversalProblem(
  entry: LedgerEntry,
  earlier: ReadonlyMap<string, LedgerEntry>,
  reversed: ReadonlySet<string>,
): string | undefined {
  if (entry.type !== 'reversal') return undefined;
  const target = earlier.get(entry.reversesEntryId ?? '');
  if (target === undefined) return `reversal ${entry.id} undoes nothing`;
  if (target.type === 'reversal' || target.type === 'expiration') return `reversal ${entry.id} undoes a ${target.type}`;
  return reversed.has(target.id) ? `entry ${target.id} is reversed twice` : undefined;
}

/** What a grant has left, entry by entry. */
interface Block {
  readonly grant: LedgerEntry;
  cents: bigint;
  micros: bigint;
}

/** A grant never falls below nothing, nor rises above what was granted; of each grant the first entry that breaks it. */
function boundProblems(entries: readonly LedgerEntry[]): LedgerProblem[] {
  const broken = new Map<string, LedgerProblem>();
  foldBlocks(entries, ({ grant, cents, micros }, { id }) => {
    const isWithin = cents >= 0n && micros >= 0n && cents <= grant.amountCents && micros <= grant.creditMicros;
    if (isWithin || broken.has(grant.id)) return;
    broken.set(grant.id, { entryId: grant.id, problem: `grant ${grant.id} is out of bounds after entry ${id}` });
  });
  return [...broken.values()];
}

/** Of a grant with a rate the last cent goes with the last credit. */
function dustProblems(entries: readonly LedgerEntry[]): LedgerProblem[] {
  const blocks = foldBlocks(entries);
  const dusty = blocks.filter(({ grant, cents, micros }) => {
    const isRated = grant.creditRateCents > 0n && grant.amountCents > 0n;
    return isRated && (cents === 0n) !== (micros === 0n);
  });
  return dusty.map(({ grant }) => ({ entryId: grant.id, problem: `grant ${grant.id} keeps dust` }));
}

/** Every entry belongs to exactly one grant, so what the grants hold together is the wallet. */
function conservationProblems(entries: readonly LedgerEntry[]): LedgerProblem[] {
  const ids = new Set(entries.filter((entry) => entry.type === 'grant').map((grant) => grant.id));
  const strays = entries.filter((entry) => !ids.has(entry.grantEntryId ?? entry.id));
  return strays.map(({ id }) => ({
    entryId: id,
    problem: `entry ${id} belongs to no grant, so cents are not conserved`,
  }));
}

/** Folds each grant's entries; calls `onEntry` after every one of them. */
function foldBlocks(
  entries: readonly LedgerEntry[],
  onEntry: (block: Block, entry: LedgerEntry) => void = () => undefined,
): Block[] {
  const grants = entries.filter((entry) => entry.type === 'grant');
  const blocks = new Map<string, Block>(grants.map((grant) => [grant.id, { grant, cents: 0n, micros: 0n }]));
  for (const entry of entries) {
    const block = blocks.get(entry.grantEntryId ?? entry.id);
    if (block === undefined) continue;
    block.cents += entry.amountCents;
    block.micros += entry.creditMicros;
    onEntry(block, entry);
  }
  return [...blocks.values()];
}
