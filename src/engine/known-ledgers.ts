/**
 * Ledgers that this process has read. What a ledger comes to follows from its entries, and the seal of the newest entry
 * seals them all: where that seal is known, the entries need not be read. A ledger that was rolled back, or that another
 * process wrote to, has a different seal.
 */

import { emptyLedger, foldWhole } from '../calculation/ledger-fold.ts';
import type { LedgerFold } from '../calculation/ledger-fold.ts';
import { limits } from '../limits.ts';
import type { Transaction } from '../store/database.ts';
import { noHash } from '../store/records/hash-chain.ts';
import { findLedgerHead, listLedger } from '../store/records/ledger.ts';
import type { StoredLedgerEntry } from '../store/records/ledger.ts';
import type { Wallet } from '../store/records/wallets.ts';

/** A ledger up to the entry whose seal is `head`. */
export interface KnownLedger {
  readonly head: string;
  readonly fold: LedgerFold;
}

/** The most recently used ledgers of one store, by contract. */
export interface KnownLedgers {
  readonly find: (contractId: string) => KnownLedger | undefined;
  readonly keep: (contractId: string, ledger: KnownLedger) => void;
}

/** Keeps the most recently used ledgers: at most `most` ledgers, grants and reversals together. */
export function createKnownLedgers(most: number = limits.knownLedgerGrants): KnownLedgers {
  const kept = new Map<string, KnownLedger>();
  let size = 0;

  function forget(contractId: string): void {
    const ledger = kept.get(contractId);
    if (ledger === undefined) return;
    kept.delete(contractId);
    size -= sizeOf(ledger);
  }

  return {
    find(contractId) {
      const ledger = kept.get(contractId);
      if (ledger === undefined) return undefined;
      // Moved behind all others, as the one used last.
      kept.delete(contractId);
      kept.set(contractId, ledger);
      return ledger;
    },
    keep(contractId, ledger) {
      forget(contractId);
      kept.set(contractId, ledger);
      size += sizeOf(ledger);
      while (size > most) forget(kept.keys().next().value ?? contractId);
    },
  };
}

/**
 * For work that is taken back. What it makes of a known ledger is kept apart: in `ledgers` it would replace the ledger as it
 * really is, and the next call would have to read that anew.
 */
export function borrowedLedgers(ledgers: KnownLedgers): KnownLedgers {
  const own = createKnownLedgers();
  return {
    find: (contractId) => own.find(contractId) ?? ledgers.find(contractId),
    keep(contractId, ledger) {
      const place = ledgers.find(contractId) === undefined ? ledgers : own;
      place.keep(contractId, ledger);
    },
  };
}

function sizeOf({ fold }: KnownLedger): number {
  return 1 + fold.grants.size + fold.reversedIds.size;
}

interface LedgerContext {
  readonly tx: Transaction;
  readonly orgId: string;
  readonly ledgers: KnownLedgers;
}

/** The ledger of a contract as this transaction sees it. A caller that has read all of its `entries` passes them. */
export async function readLedger(
  context: LedgerContext,
  contractId: string,
  entries?: readonly StoredLedgerEntry[],
): Promise<KnownLedger> {
  return await ledgerUpTo(
    context,
    { id: contractId, head: await findLedgerHead(context.tx, context.orgId, contractId) },
    entries,
  );
}

/** The same for a wallet that was found in this transaction and not written since. */
export async function ledgerUpTo(
  { tx, orgId, ledgers }: LedgerContext,
  { id: contractId, head }: Pick<Wallet, 'id' | 'head'>,
  entries?: readonly StoredLedgerEntry[],
): Promise<KnownLedger> {
  if (head === undefined) return { head: noHash, fold: emptyLedger };
  const known = ledgers.find(contractId);
  if (known?.head === head && head !== noHash) return known;
  const fold = foldWhole(entries ?? (await listLedger(tx, orgId, contractId)));
  const ledger = { head, fold };
  ledgers.keep(contractId, ledger);
  return ledger;
}
