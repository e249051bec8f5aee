/** Lists of a service, read to their end. */

import { limits } from '../limits.ts';
import type { Billing, ResponseBody } from '../operations/index.ts';

export type ListName =
  | 'customers.list'
  | 'contracts.list'
  | 'invoices.list'
  | 'meters.list'
  | 'plans.list'
  | 'pricing.list'
  | 'products.list'
  | 'usage.events'
  | 'webhooks.deliveries';

export type RowOf<N extends ListName> = ResponseBody<N>['data'][number];

/** Every row, newest first. A row that others moved to the next page while it was read is kept once. */
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
    if (!hasMore || data.length === 0) return [...rows.values()];
  }
}
