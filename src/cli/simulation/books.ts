/** Reads what a simulated service holds through its lists, in the order of creation. */

import type { Billing, ResponseBody } from '../../operations/index.ts';
import { everyRow, type ListName, type RowOf } from '../every-row.ts';
import { valueAt } from '../wire/rows.ts';

export type Contract = ResponseBody<'contracts.list'>['data'][number];
export type Invoice = ResponseBody<'invoices.list'>['data'][number];
export type LedgerEntry = ResponseBody<'credits.ledger'>['data']['entries'][number];
export type Delivery = ResponseBody<'webhooks.deliveries'>['data'][number];

/** Every row of a list, oldest first. */
export async function oldestFirst<N extends ListName>(
  billing: Billing,
  name: N,
  query: Readonly<Record<string, string>> = {},
): Promise<RowOf<N>[]> {
  return (await everyRow(billing, name, query)).toReversed();
}

/** All invoices, with lines and periods. */
export async function invoicesOf(billing: Billing, customerId?: string): Promise<Invoice[]> {
  const ofCustomer = customerId === undefined ? {} : { customerId };
  return await oldestFirst(billing, 'invoices.list', { ...ofCustomer, include: 'lineItems,period' });
}

/** The whole ledger, oldest first; `query` must not leave entries out. */
export async function ledgerOf(
  billing: Billing,
  contractId: string,
  query: { readonly include?: string } = {},
): Promise<LedgerEntry[]> {
  const { entries } = (await billing.call('credits.ledger', { params: { contractId }, query })).body.data;
  return entries.toReversed();
}

/** The events that webhooks would have sent. */
export async function deliveriesOf(billing: Billing): Promise<Delivery[]> {
  return await oldestFirst(billing, 'webhooks.deliveries', { include: 'payload' });
}

/** The contract that an event is about; undefined if there is none. */
export function contractIdOf({ eventType, payload }: Delivery): string | undefined {
  const data = (payload?.['data'] ?? {}) as { readonly id?: string; readonly contractId?: string };
  return eventType.startsWith('contract.') ? data.id : data.contractId;
}

/** The instant at which a budget was first found exhausted; null if it was not. */
export function exhaustionOf(deliveries: readonly Delivery[], contractId: string, label: string): string | null {
  const found = deliveries.find(
    (each) =>
      each.eventType === 'credit.budget.exhausted' &&
      contractIdOf(each) === contractId &&
      valueAt(each.payload, 'data.budget.label') === label,
  );
  return found?.createdAt ?? null;
}
