/** Ledger entries: written once, read in their order. */

import type { Insertable, Selectable } from 'kysely';

import type { LedgerEntry } from '../../calculation/ledger.ts';
import type { Specifiers } from '../../calculation/specifiers.ts';
import { reviveExactJson } from '../../exact-json.ts';
import type { LedgerEntryType } from '../../operations/ledger-entry.ts';
import type { Database, Transaction } from '../database.ts';
import { anyValues, type OfOrganization, prepared, preparedInsertion } from '../prepared.ts';
import { entryHash, noHash } from './hash-chain.ts';
import { askedInParts, ofFew, type OfList } from './padded.ts';
import { countOf, type Page, type Rows } from './page.ts';
import { instantText, oneRow, optionalInstant, optionalInstantText } from './row-values.ts';

/** An entry as it is stored (interface 2.8). */
export interface StoredLedgerEntry extends LedgerEntry {
  /** The request as JSON: compared when the same `externalId` comes again. */
  readonly fingerprint?: string | undefined;
}

/** An entry that has no place in the ledger yet. */
export type NewLedgerEntry = Omit<StoredLedgerEntry, 'seq'>;

/** All given fields must match; times are those of creation. */
export interface LedgerFilter {
  readonly type?: LedgerEntryType | undefined;
  /** Inclusive. */
  readonly createdAfter?: string | undefined;
  /** Exclusive. */
  readonly createdBefore?: string | undefined;
}

/** Without a limit, all matching entries (semantics 2). */
export interface LedgerPageQuery extends LedgerFilter {
  readonly contractId: string;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

const ofContract = (tx: Transaction, { orgId, contractId }: OfOrganization<'contractId'>) =>
  tx.selectFrom('ledgerEntries').where('orgId', '=', orgId).where('contractId', '=', contractId);

/** The whole ledger of a contract, oldest entry first. */
export async function listLedger(
  tx: Transaction,
  orgId: string,
  contractId: string,
): Promise<readonly StoredLedgerEntry[]> {
  return (await entriesOfContract(tx, { orgId, contractId })).map(toLedgerEntry);
}

/** The whole ledger of a contract, and the seal of its newest entry. */
export interface StoredLedger {
  /** Oldest first. */
  readonly entries: readonly StoredLedgerEntry[];
  /** Undefined if there are no entries. */
  readonly head: string | undefined;
}

/** The ledger of a contract that was granted nothing. */
export const emptyStoredLedger: StoredLedger = { entries: [], head: undefined };

/** Empty also for a contract that the organization does not have. */
export async function readStoredLedger(tx: Transaction, orgId: string, contractId: string): Promise<StoredLedger> {
  return toStoredLedger(await entriesOfContract(tx, { orgId, contractId }));
}

/** The ledgers of these contracts, by contract, without empty ones; undefined if they have more than `most` entries together. */
export async function listLedgersOf(
  tx: Transaction,
  orgId: string,
  contractIds: readonly string[],
  most: number,
): Promise<ReadonlyMap<string, StoredLedger> | undefined> {
  const rows = await askedInParts(contractIds, (part) =>
    entriesOfContracts(tx, { orgId, contractIds: part, limit: most + 1 }),
  );
  if (rows.length > most) return undefined;
  const byContract = Map.groupBy(rows, ({ contractId }) => contractId);
  return new Map([...byContract].map(([contractId, own]) => [contractId, toStoredLedger(own)]));
}

const entriesOfContracts = prepared(
  (tx, { orgId, contractIds, limit }: OfList<'contractIds'> & { readonly limit: number }) =>
    tx
      .selectFrom('ledgerEntries')
      .selectAll()
      .where('orgId', '=', orgId)
      .where('contractId', 'in', contractIds)
      .orderBy('contractId')
      .orderBy('seq')
      .limit(limit),
  { name: 'ledgers', of: () => ofFew('contractIds').map((few) => ({ ...few, limit: 1 })) },
);

function toStoredLedger(rows: readonly Selectable<Database['ledgerEntries']>[]): StoredLedger {
  return { entries: rows.map(toLedgerEntry), head: rows.at(-1)?.hash };
}

/** The rows of a contract's ledger, oldest entry first. */
export const entriesOfContract = prepared(
  (tx, of: OfOrganization<'contractId'>) => ofContract(tx, of).selectAll().orderBy('seq'),
  { name: 'ledger', of: () => [{ orgId: '', contractId: '' }] },
);

/** One entry of any contract; undefined for an id that the organization does not have. */
export async function findLedgerEntry(
  tx: Transaction,
  orgId: string,
  id: string,
): Promise<StoredLedgerEntry | undefined> {
  const [row] = await entryOfId(tx, { orgId, id });
  return row === undefined ? undefined : toLedgerEntry(row);
}

const entryOfId = prepared(
  (tx, { orgId, id }: OfOrganization<'id'>) =>
    tx.selectFrom('ledgerEntries').selectAll().where('orgId', '=', orgId).where('id', '=', id),
  { name: 'entry', of: () => [{ orgId: '', id: '' }] },
);

/** A page of a contract's ledger, newest entry first; without a limit, all of it. */
export async function listLedgerPage(
  tx: Transaction,
  orgId: string,
  { contractId, limit, offset, ...filter }: LedgerPageQuery,
): Promise<Rows<StoredLedgerEntry>> {
  const chosen = { ...unfiltered, ...filter, orgId, contractId };
  const rows = await pageOfLedger(tx, { ...chosen, limit: limit ?? Number.MAX_SAFE_INTEGER, offset: offset ?? 0 });
  const [count] = await entryCount(tx, chosen);
  return { rows: rows.map(toLedgerEntry), total: Number(count?.total) };
}

type Chosen = OfOrganization<'contractId'> & { readonly [Name in keyof Required<LedgerFilter>]: LedgerFilter[Name] };

const unfiltered: Chosen = {
  orgId: '',
  contractId: '',
  type: undefined,
  createdAfter: undefined,
  createdBefore: undefined,
};

function entriesAmong(tx: Transaction, { type, createdAfter, createdBefore, ...of }: Chosen) {
  let query = ofContract(tx, of);
  if (type !== undefined) query = query.where('type', '=', type);
  if (createdAfter !== undefined) query = query.where('createdAt', '>=', createdAfter);
  if (createdBefore !== undefined) query = query.where('createdAt', '<', createdBefore);
  return query;
}

const pageOfLedger = prepared(
  (tx, { limit, offset, ...chosen }: Chosen & Page) =>
    entriesAmong(tx, chosen)
      .selectAll()
      // `seq` is also the order of time, and the index of a contract has it. By time, each page would sort all entries.
      .orderBy('seq', 'desc')
      .limit(limit)
      .offset(offset),
  { name: 'page of a ledger', of: () => [{ ...unfiltered, limit: 1, offset: 0 }] },
);

const entryCount = prepared((tx, chosen: Chosen) => countOf(entriesAmong(tx, chosen)), {
  name: 'number of entries',
  of: () => [unfiltered],
});

/** What was written for one invoice, oldest entry first. */
export async function listLedgerOfInvoice(
  tx: Transaction,
  orgId: string,
  invoiceId: string,
): Promise<readonly StoredLedgerEntry[]> {
  const rows = await tx
    .selectFrom('ledgerEntries')
    .selectAll()
    .where('orgId', '=', orgId)
    .where('invoiceId', '=', invoiceId)
    .orderBy('seq')
    .execute();
  return rows.map(toLedgerEntry);
}

/** Every grant and every reversal on any contract of a customer, oldest first (semantics 11, Credits). */
export async function listGrantsOfCustomer(
  tx: Transaction,
  orgId: string,
  customerId: string,
): Promise<readonly StoredLedgerEntry[]> {
  const rows = await tx
    .selectFrom('ledgerEntries')
    .selectAll()
    .where('orgId', '=', orgId)
    .where('type', 'in', ['grant', 'reversal'])
    .where('contractId', 'in', (row) =>
      row
        .selectFrom('contracts')
        .select('contracts.id')
        .where('contracts.orgId', '=', orgId)
        .where('contracts.customerId', '=', customerId),
    )
    .orderBy('seq')
    .execute();
  return rows.map(toLedgerEntry);
}

/** The grant of a contract that was made with a caller's idempotency key. */
export async function findGrantByExternalId(
  tx: Transaction,
  orgId: string,
  { contractId, externalId }: { readonly contractId: string; readonly externalId: string },
): Promise<StoredLedgerEntry | undefined> {
  const [row] = await entryOfExternalId(tx, { orgId, contractId, externalId });
  return row === undefined ? undefined : toLedgerEntry(row);
}

const entryOfExternalId = prepared(
  (tx, of: OfOrganization<'contractId' | 'externalId'>) =>
    ofContract(tx, of).selectAll().where('externalId', '=', of.externalId),
  { name: 'entry of an external id', of: () => [{ orgId: '', contractId: '', externalId: '' }] },
);

/** Writes an entry after the contract's newest one, whose seal is `head`; gives the place and seal of the new entry. */
export async function insertLedgerEntry(
  tx: Transaction,
  orgId: string,
  { entry, head }: { readonly entry: NewLedgerEntry; readonly head: string },
): Promise<{ readonly seq: number; readonly hash: string }> {
  const row = rowOf(orgId, entry);
  row.hash = entryHash(head, row);
  return { seq: Number(await insertion(tx, row)), hash: row.hash };
}

type NewRow = Omit<Insertable<Database['ledgerEntries']>, 'seq'>;
type WholeRow = { readonly [Column in keyof NewRow]-?: Exclude<NewRow[Column], undefined> };

const insertion = preparedInsertion((tx, row: WholeRow) => tx.insertInto('ledgerEntries').values(row), {
  name: 'new entry',
  of: () => {
    const entry = { createdAt: Temporal.Instant.fromEpochMilliseconds(0) } as NewLedgerEntry;
    return [anyValues(Object.keys(rowOf('', entry))) as WholeRow];
  },
});

/** Written out field by field, because copying so many is slow. The seal is still missing. */
function rowOf(orgId: string, entry: NewLedgerEntry): WholeRow & { hash: string } {
  return {
    orgId,
    id: entry.id,
    contractId: entry.contractId,
    type: entry.type,
    amountCents: entry.amountCents,
    creditMicros: entry.creditMicros,
    creditRateCents: entry.creditRateCents,
    purchaseRateCents: entry.purchaseRateCents,
    currency: entry.currency,
    description: entry.description,
    sourceType: entry.sourceType,
    invoiceId: entry.invoiceId ?? null,
    lineKey: entry.lineKey ?? null,
    grantEntryId: entry.grantEntryId ?? null,
    reversesEntryId: entry.reversesEntryId ?? null,
    expiresAt: optionalInstantText(entry.expiresAt),
    isPromotional: entry.isPromotional,
    externalId: entry.externalId ?? null,
    fingerprint: entry.fingerprint ?? null,
    specifiers: entry.specifiers === undefined ? null : JSON.stringify(entry.specifiers),
    metadata: entry.metadata === undefined ? null : JSON.stringify(entry.metadata),
    appliedCents: entry.appliedCents,
    balanceAfterCents: entry.balanceAfterCents,
    creditBalanceAfterMicros: entry.creditBalanceAfterMicros,
    createdAt: instantText(entry.createdAt),
    hash: noHash,
  };
}

/** The seal of a contract's newest entry; undefined if there is none. */
export async function findLedgerHead(tx: Transaction, orgId: string, contractId: string): Promise<string | undefined> {
  const [newest] = await newestHash(tx, { orgId, contractId });
  return newest?.hash;
}

const newestHash = prepared((tx, of: OfOrganization<'contractId'>) =>
  ofContract(tx, of).select('hash').orderBy('seq', 'desc').limit(oneRow()),
);

/** Converts a row, without its seal; NULL becomes undefined. */
export function toLedgerEntry(row: Selectable<Database['ledgerEntries']>): StoredLedgerEntry {
  const { id, contractId, type, amountCents, creditMicros, creditRateCents, purchaseRateCents, currency } = row;
  return {
    id,
    seq: Number(row.seq),
    contractId,
    type,
    amountCents,
    creditMicros,
    creditRateCents,
    purchaseRateCents,
    currency,
    description: row.description,
    sourceType: row.sourceType,
    invoiceId: row.invoiceId ?? undefined,
    lineKey: row.lineKey ?? undefined,
    grantEntryId: row.grantEntryId ?? undefined,
    reversesEntryId: row.reversesEntryId ?? undefined,
    expiresAt: optionalInstant(row.expiresAt),
    isPromotional: row.isPromotional === 1n,
    externalId: row.externalId ?? undefined,
    fingerprint: row.fingerprint ?? undefined,
    specifiers: row.specifiers === null ? undefined : (JSON.parse(row.specifiers) as Specifiers),
    metadata: row.metadata === null ? undefined : (reviveExactJson(row.metadata) as Record<string, unknown>),
    appliedCents: row.appliedCents,
    balanceAfterCents: row.balanceAfterCents,
    creditBalanceAfterMicros: row.creditBalanceAfterMicros,
    createdAt: Temporal.Instant.from(row.createdAt),
  };
}
