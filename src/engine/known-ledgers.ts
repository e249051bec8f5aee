/**
 * Ledgers that this process has read. What a ledger comes to follows from its entries, and the seal of the newest one is a
 * seal of them all: whoever finds a seal that is known need not read the entries. What was rolled back, or what another
 * process wrote, has another seal.
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

/** The ledgers of one store, by contract; those that were used last. */
export interface KnownLedgers {
  readonly find: (contractId: string) => KnownLedger | undefined;
  readonly keep: (contractId: string, ledger: KnownLedger) => void;
}

/** Keeps at most `most` ledgers, grants and reversals together, those that were used last. */
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
      // Behind all others, as the one used last.
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
 * For work that is taken back: what it makes of a ledger that is known stays with it, since kept with the others it would push
 * the ledger as it is out, which the next work would have to read anew.
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

/** The ledger of a contract as this transaction sees it. Who has read all of its `entries` gives them. */
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

/** The same of a wallet that was found in this transaction, and not written since. */
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
