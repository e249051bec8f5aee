/** What happened at a service, as far as it affects billing: contracts, their credits, and usage. Only read. */

import { assert } from '../../assert.ts';
import { NotFoundError } from '../../errors.ts';
import { textOfNumber } from '../../exact-json.ts';
import { limits } from '../../limits.ts';
import { timestampOf } from '../../operations/field-rules.ts';
import type { Billing, ResponseBody } from '../../operations/index.ts';
import { compareText } from '../../text-order.ts';
import type { Contract, Invoice, LedgerEntry } from './books.ts';
import { ledgerOf, oldestFirst } from './books.ts';
import { readHistoryCatalog } from './history-catalog.ts';
import type { HistoryCatalog } from './history-catalog.ts';

export type HistoricEvent = Pick<
  ResponseBody<'usage.events'>['data'][number],
  'timestamp' | 'eventName' | 'customerId' | 'contractId' | 'idempotencyKey' | 'properties'
>;
type Budget = ResponseBody<'budgets.list'>['data']['budgets'][number];

/** A movement of credits that somebody made, not one that follows from usage or time. */
export type Movement = {
  /** When the replay repeats it. */
  readonly at: string;
  readonly entry: LedgerEntry;
} & (
  | { readonly kind: 'grant'; readonly paysFor: Readonly<Record<string, unknown>> }
  | { readonly kind: 'adjust'; readonly grantId: string }
  | { readonly kind: 'reverse'; readonly targetId: string }
);

export interface HistoricContract {
  readonly contract: Contract & { readonly terms: NonNullable<Contract['terms']> };
  /** When it was cancelled, if the replay can do that too; else its service ends on the date of the terms. */
  readonly cancelledAt?: string | undefined;
  readonly budgets: readonly Budget[];
  /** Entry of the contract's initial grant. */
  readonly ownGrantId: string | undefined;
  /** Oldest first. */
  readonly movements: readonly Movement[];
}

export interface HistoricCustomer {
  readonly id: string;
  /** The caller's own id, if there is one; else the id. */
  readonly label: string;
  readonly name: string;
}

export interface History {
  /** The named customers, or else those with contracts. */
  readonly customers: readonly HistoricCustomer[];
  readonly catalog: HistoryCatalog;
  /** In the order of creation. */
  readonly contracts: readonly HistoricContract[];
  /** Events of the customers, in order of time, without late ones, which cost nothing. */
  readonly events: readonly HistoricEvent[];
  /** What was really billed, with periods; drafts as they are now. */
  readonly billed: readonly Invoice[];
}

const firstDay = `${limits.firstYear}-01-01`;

/**
 * Reads the history. `only` names customers by either id; empty means all. `until` is the end of usage and movements of credits,
 * exclusive, if not all count.
 */
export async function readHistory(
  billing: Billing,
  { only, until }: { readonly only: readonly string[]; readonly until: string | undefined },
): Promise<History> {
  const rows = await oldestFirst(billing, 'customers.list');
  const all = await oldestFirst(billing, 'contracts.list', { include: 'terms' });
  const customers = chosen(rows, only, all);
  const ids = new Set(customers.map(({ id }) => id));
  const events: HistoricEvent[] = [];
  const billed: Invoice[] = [];
  for (const { id } of customers) {
    for (const invoice of await oldestFirst(billing, 'invoices.list', { customerId: id, include: 'period' })) {
      billed.push(invoice);
    }
    // From the very first day: if events were dropped, the service refuses this, so the rest is never taken for all.
    const usage = { customerId: id, start: firstDay, ...(until === undefined ? {} : { end: until }) };
    for (const event of await oldestFirst(billing, 'usage.events', usage)) {
      if (!event.isLate) events.push(event);
    }
  }
  const billedOn = Map.groupBy(billed, ({ contractId }) => contractId);
  const contracts: HistoricContract[] = [];
  for (const { terms, ...contract } of all.filter(({ customerId }) => ids.has(customerId))) {
    assert(terms !== undefined, `contract ${contract.id} came with its terms`);
    const invoices = billedOn.get(contract.id) ?? [];
    const { ownGrantId, movements } = await creditsOf(billing, { ...contract, terms }, invoices);
    contracts.push({
      contract: { ...contract, terms },
      cancelledAt: cancellationOf(terms.effectiveEndDate, invoices),
      budgets: (await billing.call('budgets.list', { params: { contractId: contract.id } })).body.data.budgets,
      ownGrantId,
      movements: movements.filter(({ at }) => until === undefined || at < until),
    });
  }
  const planIds = new Set(contracts.map(({ contract }) => contract.planId));
  return {
    customers,
    catalog: await readHistoryCatalog(billing, planIds),
    contracts,
    events: events.toSorted((one, other) => compareText(one.timestamp, other.timestamp)),
    billed,
  };
}

/** The customers named by either id, or else those with contracts; throws NotFoundError for a name that nobody has. */
export function chosen(
  rows: readonly Pick<ResponseBody<'customers.list'>['data'][number], 'id' | 'name' | 'metadata'>[],
  only: readonly string[],
  contracts: readonly { readonly customerId?: string }[],
): HistoricCustomer[] {
  const customers = rows.map(({ id, name, metadata }) => ({ id, name, label: metadata.externalCustomerId ?? id }));
  const isNamed = (customer: HistoricCustomer, name: string) => customer.id === name || customer.label === name;
  const missing = only.find((name) => !customers.some((customer) => isNamed(customer, name)));
  if (missing !== undefined) {
    throw new NotFoundError(`there is no customer ${missing}`, { hint: 'see them with: tally customers list' });
  }
  const owners = new Set(contracts.map(({ customerId }) => customerId));
  return customers.filter((customer) =>
    only.length === 0 ? owners.has(customer.id) : only.some((name) => isNamed(customer, name)),
  );
}

/** When a contract was cancelled: its drafts of the time after its service went then. */
export function cancellationOf(effectiveEndDate: string | null, invoices: readonly Invoice[]): string | undefined {
  if (effectiveEndDate === null) return undefined;
  // In a mirror they have no lines, and so no period.
  const dropped = invoices.filter(
    ({ status, period, invoiceDate }) => status === 'Cancelled' && (period?.start ?? invoiceDate) >= effectiveEndDate,
  );
  return dropped
    .map(({ updatedAt }) => updatedAt)
    .toSorted()
    .at(-1);
}

/** Grants except the contract's initial one, adjustments, and reversals of either. */
async function creditsOf(
  billing: Billing,
  { id: contractId, terms }: HistoricContract['contract'],
  invoices: readonly Invoice[],
): Promise<Pick<HistoricContract, 'ownGrantId' | 'movements'>> {
  const entries = await ledgerOf(billing, contractId, { include: 'origin' });
  const hasOwn = textOfNumber(terms.creditGrantCents ?? 0) !== '0';
  const ownGrantId = hasOwn ? firstPaidGrant(entries)?.id : undefined;
  const manual = new Set(entries.filter((entry) => isManual(entry, ownGrantId)).map(({ id }) => id));
  const movements: Movement[] = [];
  for (const entry of entries) {
    const { createdAt: at, grantEntryId, paysFor = {}, reversesEntryId = '' } = entry;
    if (manual.has(reversesEntryId)) movements.push({ kind: 'reverse', at, entry, targetId: reversesEntryId });
    if (!manual.has(entry.id)) continue;
    if (entry.type === 'grant') {
      movements.push({ kind: 'grant', entry, paysFor, at: inTime(entry, entries, invoices) });
    } else movements.push({ kind: 'adjust', at, entry, grantId: grantEntryId ?? '' });
  }
  return { ownGrantId, movements };
}

/**
 * When a grant is repeated. An invoice waits for its finalization, and a grant made meanwhile pays it too, but a replay
 * finalizes at the end of the period. So the grant comes before the end of the first period that it paid for, or that is still
 * a draft.
 */
export function inTime(grant: LedgerEntry, entries: readonly LedgerEntry[], invoices: readonly Invoice[]): string {
  const paid = new Set(
    entries.filter(({ grantEntryId }) => grantEntryId === grant.id).map(({ invoiceId }) => invoiceId),
  );
  const ends = invoices
    .filter(({ id, status }) => paid.has(id) || status === 'Drafted')
    .flatMap(({ period }) => (period === undefined ? [] : [lastMillisecondBefore(period.end)]));
  return [grant.createdAt, ...ends].toSorted()[0] ?? grant.createdAt;
}

function lastMillisecondBefore(date: string): string {
  const end = Temporal.Instant.from(`${date}T00:00:00Z`);
  return timestampOf(end.subtract({ milliseconds: 1 }));
}

/** The contract's initial grant, if it began with one: later purchases have the same source. Entries must be oldest first. */
export function firstPaidGrant(entries: readonly LedgerEntry[]): LedgerEntry | undefined {
  return entries.find(({ type, sourceType }) => type === 'grant' && sourceType === 'contract');
}

export function isManual({ id, type }: LedgerEntry, ownGrantId: string | undefined): boolean {
  return type === 'adjustment' || (type === 'grant' && id !== ownGrantId);
}
