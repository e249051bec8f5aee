/** What a simulated service holds, read through its lists, in the order in which it came to be. */

import { limits } from '../../limits.ts';
import type { Billing, ResponseBody } from '../../operations/index.ts';
import { valueAt } from '../rows.ts';

export type Contract = ResponseBody<'contracts.list'>['data'][number];
export type Invoice = ResponseBody<'invoices.list'>['data'][number];
export type LedgerEntry = ResponseBody<'credits.ledger'>['data']['entries'][number];
export type Delivery = ResponseBody<'webhooks.deliveries'>['data'][number];
type ListName = 'customers.list' | 'contracts.list' | 'invoices.list' | 'webhooks.deliveries' | 'usage.events';
type RowOf<N extends ListName> = ResponseBody<N>['data'][number];

/** Every row, oldest first. A row that others moved to the next page meanwhile is kept once. */
export async function everyRow<N extends ListName>(
  billing: Billing,
  name: N,
  query: Readonly<Record<string, string>> = {},
): Promise<RowOf<N>[]> {
  const rows = new Map<string, RowOf<N>>();
  for (let offset = 0; ;) {
    const paged = { ...query, limit: String(limits.pageSize), offset: String(offset) };
    const { body } = await billing.call(name, { query: paged });
    const { data, hasMore } = body as { readonly data: readonly RowOf<N>[]; readonly hasMore: boolean };
    for (const row of data) rows.set(row.id, row);
    offset += data.length;
    if (!hasMore || data.length === 0) return [...rows.values()].toReversed();
  }
}

/** With lines and periods. */
export async function invoicesOf(billing: Billing, customerId?: string): Promise<Invoice[]> {
  const ofCustomer = customerId === undefined ? {} : { customerId };
  return await everyRow(billing, 'invoices.list', { ...ofCustomer, include: 'lineItems,period' });
}

export async function ledgerOf(billing: Billing, contractId: string): Promise<LedgerEntry[]> {
  const { entries } = (await billing.call('credits.ledger', { params: { contractId } })).body.data;
  return entries.toReversed();
}

/** What webhooks would have told. */
export async function deliveriesOf(billing: Billing): Promise<Delivery[]> {
  return await everyRow(billing, 'webhooks.deliveries', { include: 'payload' });
}

/** The contract that an event is about; undefined where it is about none. */
export function contractIdOf({ eventType, payload }: Delivery): string | undefined {
  const data = (payload?.['data'] ?? {}) as { readonly id?: string; readonly contractId?: string };
  return eventType.startsWith('contract.') ? data.id : data.contractId;
}

/** The instant at which a budget was first found to be exhausted; null when it was not. */
export function exhaustionOf(deliveries: readonly Delivery[], contractId: string, label: string): string | null {
  const found = deliveries.find(
    (each) =>
      each.eventType === 'credit.budget.exhausted' &&
      contractIdOf(each) === contractId &&
      valueAt(each.payload, 'data.budget.label') === label,
  );
  return found?.createdAt ?? null;
}
