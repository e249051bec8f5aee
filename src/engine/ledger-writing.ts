/** Writing into a contract's ledger: every entry carries the balance after it, and the whole is checked at the end. */

import { assert } from '../assert.ts';

import { balancesAfter } from '../calculation/ledger.ts';
import type { LedgerEntry } from '../calculation/ledger.ts';
import { ledgerProblems } from '../calculation/ledger-check.ts';
import type { Contract } from '../store/records/contracts.ts';
import { scheduleExpiry } from '../store/records/due-work.ts';
import { insertLedgerEntry } from '../store/records/ledger.ts';
import type { NewLedgerEntry, StoredLedgerEntry } from '../store/records/ledger.ts';
import type { CallContext } from './handler.ts';
import { tellOfFall } from './ledger-alerts.ts';

/** What differs from entry to entry; the writer adds id, contract, instant and balances. */
export type EntryFacts = Omit<
  NewLedgerEntry,
  'id' | 'contractId' | 'currency' | 'createdAt' | 'balanceAfterCents' | 'creditBalanceAfterMicros'
>;

export interface LedgerWriter {
  /** The whole ledger of the contract, with what was written. */
  readonly entries: readonly StoredLedgerEntry[];
  /** What this writer wrote, oldest first. */
  readonly written: readonly StoredLedgerEntry[];
  readonly append: (facts: EntryFacts) => Promise<StoredLedgerEntry>;
  /**
   * Ends the writing: fails the transaction when a rule of reliability 5 is broken, so that a wrong book is never kept, and
   * tells of a balance that has fallen.
   */
  readonly finish: () => Promise<void>;
}

/** Interface 2.8: USD is the only currency (semantics 5). */
export const currency = 'USD';

/** A writer that goes on behind `before`, the whole ledger of the contract so far. */
export function createLedgerWriter(
  context: CallContext,
  contract: Contract,
  before: readonly StoredLedgerEntry[],
): LedgerWriter {
  const entries = [...before];
  const written: StoredLedgerEntry[] = [];
  return {
    entries,
    written,
    append: async (facts) => {
      const entry: NewLedgerEntry = {
        ...facts,
        ...balancesAfter(entries.at(-1), facts),
        id: context.newId(),
        contractId: contract.id,
        currency,
        createdAt: context.now,
      };
      const stored = { ...entry, seq: await insertLedgerEntry(context.tx, context.orgId, entry) };
      await noteExpiry(context, stored);
      entries.push(stored);
      written.push(stored);
      return stored;
    },
    finish: async () => {
      const problems = ledgerProblems(entries);
      assert(problems.length === 0, `the ledger of contract ${contract.id} is wrong: ${problems.join('; ')}`);
      const after = written.at(-1);
      if (after !== undefined) await tellOfFall(context, contract, { before: before.at(-1), after });
    },
  };
}

async function noteExpiry({ tx, orgId }: CallContext, entry: StoredLedgerEntry): Promise<void> {
  if (entry.type !== 'grant' || entry.expiresAt === undefined) return;
  const { contractId, id: grantId, expiresAt } = entry;
  await scheduleExpiry(tx, orgId, { contractId, grantId, expiresAt });
}

/** Lapses what a grant has left; nothing where it has nothing. */
export async function expireRest(writer: LedgerWriter, grantId: string): Promise<void> {
  const own = writer.entries.filter((entry) => (entry.grantEntryId ?? entry.id) === grantId);
  const grant = own.find((entry) => entry.type === 'grant');
  assert(grant !== undefined, `grant ${grantId} is in its own ledger`);
  const amountCents = own.reduce((sum, entry) => sum - entry.amountCents, 0n);
  const creditMicros = own.reduce((sum, entry) => sum - entry.creditMicros, 0n);
  if (amountCents === 0n && creditMicros === 0n) return;
  await writer.append({
    ...ofGrant(grant),
    type: 'expiration',
    sourceType: 'expiration',
    description: `Expired: ${grant.description}`,
    amountCents,
    creditMicros,
    appliedCents: 0n,
    expiresAt: grant.expiresAt,
  });
}

/** What an entry takes over from the grant that it moves. */
export function ofGrant(
  grant: LedgerEntry,
): Pick<EntryFacts, 'grantEntryId' | 'creditRateCents' | 'purchaseRateCents' | 'isPromotional'> {
  const { id, creditRateCents, purchaseRateCents, isPromotional } = grant;
  return { grantEntryId: id, creditRateCents, purchaseRateCents, isPromotional };
}
