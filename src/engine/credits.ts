/** Credits of a contract: grants, ledger, balance, corrections (interface 4.15, 4.16; semantics 9). */

import { adjustmentOf, reversalOf } from '../calculation/corrections.ts';
import type { Refusal } from '../calculation/corrections.ts';
import { hasExpired } from '../calculation/ledger.ts';
import { grantIn, walletIn } from '../calculation/ledger-fold.ts';
import { decimal, microsOfCredits, sumOf } from '../calculation/money.ts';
import { ConflictError, InvalidInputError, namesNoMessage } from '../errors.ts';
import type { creditOperations } from '../operations/credits.ts';
import { findInvoice, listInvoicesOfContract } from '../store/records/invoices.ts';
import { listLedger, listLedgerPage } from '../store/records/ledger.ts';
import type { StoredLedgerEntry } from '../store/records/ledger.ts';
import { getContract, getWallet } from './contract-lookup.ts';
import { grantCredits, refuseOver } from './credits-grant.ts';
import type { Granted, GrantKind } from './credits-grant.ts';
import { examineContract } from './doctor/examination.ts';
import { wireBalance } from './credits-balance.ts';
import { strikePrepaid } from './credits-prepaid.ts';
import { projectGrants } from './credits-projected.ts';
import { wireEntry, wireEntryWithOrigin, wireGrant } from './credits-wire.ts';
import type { CallContext, HandlersOf } from './handler.ts';
import { ledgerUpTo } from './known-ledgers.ts';
import { createLedgerWriter, expireRest, ofGrant, totalsOf } from './ledger-writing.ts';
import { existing } from './refuse.ts';
import {
  isBilledOut,
  lapseLeftovers,
  reverseEntry,
  settle,
  sweepExpired,
  sweepWallet,
  wordsByHand,
} from './settlement.ts';
import { wireCents, wireCredits } from './wire.ts';

const promotional: GrantKind = {
  isPromotional: true,
  sourceType: 'promotional',
  description: 'Promotional credit grant',
};
const purchase: GrantKind = { isPromotional: false, sourceType: 'contract', description: 'Credit purchase' };

export const creditHandlers: HandlersOf<typeof creditOperations> = {
  'credits.grant': async (context, { params, body }) => {
    const wallet = await getWallet(context, params.contractId);
    return grantResult(await grantCredits(context, wallet, { request: body, kind: promotional }));
  },

  'credits.grantPaid': async (context, { params, body }) => {
    const wallet = await getWallet(context, params.contractId);
    return grantResult(await grantCredits(context, wallet, { request: body, kind: purchase }));
  },

  'credits.ledger': async (context, { params, query }) => {
    const contract = await getContract(context, params.contractId);
    const page = await listLedgerPage(context.tx, context.orgId, { contractId: contract.id, ...query });
    const shown = query.include?.includes('origin') === true ? wireEntryWithOrigin : wireEntry;
    return { body: { data: { totalCount: page.total, entries: page.rows.map(shown) } } };
  },

  'credits.balance': async (context, { params, query }) => {
    const found = await getWallet(context, params.contractId);
    const { fold } = await ledgerUpTo(context, found);
    const wallet = walletIn(fold, context.now);
    const projected = query.include?.includes('projected') === true ? await projection(context, found.id) : undefined;
    return {
      body: {
        data: {
          ...wireBalance(wallet, context.now),
          ...(projected === undefined ? {} : { projected }),
        },
      },
    };
  },

  'credits.adjust': async (context, { params, body }) => {
    const wallet = await getWallet(context, params.contractId);
    const ledger = await sweepWallet(context, wallet);
    const grant = grantIn(ledger.fold, body.grantEntryId, context.now);
    if (grant === undefined) {
      const issue = { path: 'grantEntryId', message: namesNoMessage('grant of this contract') };
      throw new InvalidInputError([issue], { hint: whereGrantsAre(wallet.id) });
    }
    const correction = allowed(
      adjustmentOf(
        grant,
        body.creditAmount === undefined
          ? { amountCents: body.amountCents ?? 0n }
          : { creditMicros: microsOfCredits(decimal(body.creditAmount)) },
      ),
      wallet.id,
    );
    if (correction.amountCents > 0n || correction.creditMicros > 0n) await refuseOver(context, wallet);
    const writer = createLedgerWriter(context, wallet, ledger);
    const adjustment = await writer.append({
      ...ofGrant(totalsOf(writer, grant.grantId).grant),
      type: 'adjustment',
      sourceType: 'adjustment',
      description: body.description,
      amountCents: correction.amountCents,
      creditMicros: correction.creditMicros,
      appliedCents: 0n,
    });
    await writer.finish();
    return { body: { data: wireEntry(adjustment) } };
  },

  'credits.reverse': async (context, { params, body }) => {
    const contract = await getContract(context, params.contractId);
    const ledger = await sweepExpired(context, contract);
    const entries = await listLedger(context.tx, context.orgId, contract.id);
    const named = entries.find((each) => each.id === params.entryId);
    const entry = existing(named, 'ledger entry of this contract', `credits ledger ${contract.id}`);
    const { grantId } = allowed(reversalOf(entry, entries, walletIn(ledger.fold, context.now)), contract.id);
    await refuseFrozenUsage(context, entry);
    const writer = createLedgerWriter(context, contract, ledger);
    const reversal = await reverseEntry(writer, entry, body.description ?? wordsByHand(entry));
    const grant = entries.find((each) => each.id === grantId);
    if (grant !== undefined && hasExpired(grant, context.now)) await expireRest(writer, grantId);
    const invoices = await listInvoicesOfContract(context.tx, context.orgId, contract.id);
    if (isBilledOut(contract, invoices)) await lapseLeftovers(writer);
    await writer.finish();
    // Prepaid credits were granted with the contract, so their entry comes first.
    if (entry === entries[0] && contract.creditGrantCents !== undefined)
      await strikePrepaid(context, contract, invoices);
    return { body: { data: wireEntry(reversal) } };
  },

  'credits.verify': async (context, { params }) => {
    const contract = await getContract(context, params.contractId);
    const { books, findings } = await examineContract(context, contract.id);
    return {
      body: {
        data: {
          contractId: contract.id,
          checkedAt: context.timestamp,
          entryCount: books?.ledger.entries.length ?? 0,
          invoiceCount: books?.invoices.length ?? 0,
          ledgerHead: books?.ledger.head ?? '',
          findings,
        },
      },
    };
  },

  'credits.explain': async (context, { params }) => {
    const { explainEntry } = await import('./explain-entry.ts');
    return { body: { data: await explainEntry(context, params.entryId) } };
  },

  'credits.expiring': async (context, { query }) => {
    const { listExpiring } = await import('./credits-expiring.ts');
    return { body: { data: await listExpiring(context, query) } };
  },

  'credits.settle': async (context, { params }) => {
    const contract = await getContract(context, params.contractId);
    const { written } = await settle(context, contract);
    return { body: { data: { totalCount: written.length, entries: written.toReversed().map(wireEntry) } } };
  },
};

function grantResult({ entry, ...facts }: Granted) {
  return { body: { data: wireGrant(entry) }, ...facts };
}

/** What would be left if usage were settled now. */
async function projection(context: CallContext, contractId: string) {
  const grants = await projectGrants(context, await getContract(context, contractId));
  return {
    balanceCents: wireCents(sumOf(grants.map(({ leftCents }) => leftCents))),
    creditBalance: wireCredits(sumOf(grants.map(({ leftMicros }) => leftMicros))),
  };
}

function allowed<T extends object>(correction: T | Refusal, contractId: string): T {
  if (!('refusal' in correction)) return correction;
  throw new ConflictError(correction.refusal, { hint: whereGrantsAre(contractId) });
}

function whereGrantsAre(contractId: string): string {
  return `see what each grant holds with: tally credits balance ${contractId}`;
}

/** The credits on a finalized invoice equal those in the ledger, so its usage is undone only together with the invoice. */
async function refuseFrozenUsage({ tx, orgId }: CallContext, entry: StoredLedgerEntry): Promise<void> {
  if (entry.type !== 'usage' || entry.invoiceId === undefined) return;
  const invoice = await findInvoice(tx, orgId, entry.invoiceId);
  if (invoice === undefined || invoice.status === 'Drafted' || invoice.status === 'Refunded') return;
  throw new ConflictError(`entry ${entry.id} pays invoice ${invoice.number}, which is finalized`, {
    hint: 'cancel the invoice, or refund it with --restore-credits',
  });
}
