/** Writing into a contract's ledger: every entry carries the balance after it, and the whole is checked at the end. */

import { assert } from '../assert.ts';

import { balancesAfter } from '../calculation/ledger.ts';
import type { GrantTotals, LedgerEntry } from '../calculation/ledger.ts';
import { growLedger, nextExpiryIn, problemsIn } from '../calculation/ledger-fold.ts';
import { ConflictError, UnavailableError } from '../errors.ts';
import { limits } from '../limits.ts';
import { currency } from '../operations/wire-values.ts';
import { closeExpiries, scheduleExpiry } from '../store/records/due-work.ts';
import { insertLedgerEntry } from '../store/records/ledger.ts';
import type { NewLedgerEntry, StoredLedgerEntry } from '../store/records/ledger.ts';
import type { WalletHolder } from '../store/records/wallets.ts';
import { creditsText } from '../whole-amounts.ts';
import type { CallContext } from './handler.ts';
import type { KnownLedger } from './known-ledgers.ts';
import { tellOfFall } from './ledger-alerts.ts';

/** What differs from entry to entry; the writer adds id, contract, instant and balances. */
export type EntryFacts = Omit<
  NewLedgerEntry,
  'id' | 'contractId' | 'currency' | 'createdAt' | 'balanceAfterCents' | 'creditBalanceAfterMicros'
>;

type Balances = ReturnType<typeof balancesAfter>;

export interface LedgerWriter {
  /** The ledger of the contract, with what was written. */
  readonly ledger: KnownLedger;
  /** What this writer wrote, oldest first. */
  readonly written: readonly StoredLedgerEntry[];
  /** Writes an entry; `target` is the one that it reverses. Throws ConflictError for more than `limits.walletMaximum`. */
  readonly append: (facts: EntryFacts, target?: StoredLedgerEntry) => Promise<StoredLedgerEntry>;
  /** Ends the writing: fails the transaction when a rule of reliability 5 is broken, so that a wrong book is never kept. */
  readonly close: () => void;
  /**
   * Closes, and emits webhooks for a balance that has fallen: since `since` where the call had closed another writer before,
   * because of what one call writes only the outcome counts.
   */
  readonly finish: (since?: LedgerEntry) => Promise<void>;
}

/** A writer that continues `before`, the ledger of the contract so far. */
export function createLedgerWriter(context: CallContext, contract: WalletHolder, before: KnownLedger): LedgerWriter {
  const written: StoredLedgerEntry[] = [];
  const { fold, add } = growLedger(before.fold);
  let { head } = before;
  let isClosed = false;

  function close(): void {
    isClosed = true;
    const problems = problemsIn(fold).map(({ problem }) => problem);
    assert(problems.length === 0, `the ledger of contract ${contract.id} is wrong: ${problems.join('; ')}`);
    if (written.length > 0) context.ledgers.keep(contract.id, { head, fold });
  }

  /** A contract falls due when a grant expires, unless the grant is undone before. */
  async function noteExpiry(entry: LedgerEntry, target: LedgerEntry | undefined): Promise<void> {
    const { tx, orgId, now } = context;
    if (entry.type === 'grant' && entry.expiresAt !== undefined) {
      await scheduleExpiry(tx, orgId, { contractId: contract.id, expiresAt: entry.expiresAt });
    }
    if (target?.type === 'grant' && target.expiresAt !== undefined) {
      // Whoever undoes a grant has settled all that had expired before.
      const next = nextExpiryIn(fold, now);
      await closeExpiries(tx, orgId, { contractId: contract.id, until: target.expiresAt, next });
    }
  }

  return {
    get ledger() {
      return { head, fold };
    },
    written,
    append: async (facts, target) => {
      assert(!isClosed, 'a ledger that is kept is written no more');
      const balances = balancesAfter(fold.last, facts);
      refuseFull(contract, balances);
      const entry: NewLedgerEntry = {
        ...facts,
        ...balances,
        id: idBehind(fold.last, context),
        contractId: contract.id,
        currency,
        createdAt: context.now,
      };
      const { seq, hash } = await insertLedgerEntry(context.tx, context.orgId, { entry, head });
      refusePlace(fold.last, seq);
      const stored = { ...entry, seq };
      head = hash;
      add(stored, target);
      await noteExpiry(stored, target);
      written.push(stored);
      return stored;
    },
    close,
    finish: async (since = before.fold.last) => {
      close();
      const after = fold.last;
      if (after !== undefined) await tellOfFall(context, contract, { before: since, after });
    },
  };
}

function refuseFull({ id }: WalletHolder, { balanceAfterCents, creditBalanceAfterMicros }: Balances): void {
  if (balanceAfterCents <= limits.walletMaximum && creditBalanceAfterMicros <= limits.walletMaximum) return;
  const most = `${limits.walletMaximum} cents or ${creditsText(limits.walletMaximum)} credits`;
  throw new ConflictError(`the wallet of contract ${id} would hold more than ${most}`, {
    hint: 'take away what is not needed, or grant credits on another contract of the customer',
  });
}

/** Among older entries an entry would fit none of its neighbours, and could never be taken out again. */
function refusePlace(last: LedgerEntry | undefined, seq: number): void {
  if (last === undefined || seq > last.seq) return;
  throw new UnavailableError('the database counts ledger entries from before those that it has; nothing was changed', {
    hint: 'its rows were copied without their counters: set each behind its newest row',
  });
}

/**
 * Ids decide which of two grants of one instant pays first (semantics 9), and UUIDs of version 7 are ordered by their
 * milliseconds alone. So within one instant each id is made greater than the one before.
 */
function idBehind(last: LedgerEntry | undefined, { newId, now }: CallContext): string {
  const id = newId();
  if (last === undefined || id > last.id || !last.createdAt.equals(now)) return id;
  const tail = (Number.parseInt(last.id.slice(-12), 16) + 1) % 2 ** 48;
  return last.id.slice(0, -12) + tail.toString(16).padStart(12, '0');
}

/** Lapses what a grant has left, if it has anything. */
export async function expireRest(writer: LedgerWriter, grantId: string): Promise<void> {
  const { grant, remainingCents, remainingMicros } = totalsOf(writer, grantId);
  if (remainingCents === 0n && remainingMicros === 0n) return;
  await writer.append({
    ...ofGrant(grant),
    type: 'expiration',
    sourceType: 'expiration',
    description: `Expired: ${grant.description}`,
    amountCents: -remainingCents,
    creditMicros: -remainingMicros,
    appliedCents: 0n,
    expiresAt: grant.expiresAt,
  });
}

/** The totals of a grant in the ledger that is being written. */
export function totalsOf({ ledger }: LedgerWriter, grantId: string): GrantTotals {
  const totals = ledger.fold.grants.get(grantId);
  assert(totals !== undefined, `grant ${grantId} is in its own ledger`);
  return totals;
}

/** What an entry takes over from the grant that it moves. */
export function ofGrant(
  grant: LedgerEntry,
): Pick<EntryFacts, 'grantEntryId' | 'creditRateCents' | 'purchaseRateCents' | 'isPromotional'> {
  const { id, creditRateCents, purchaseRateCents, isPromotional } = grant;
  return { grantEntryId: id, creditRateCents, purchaseRateCents, isPromotional };
}
