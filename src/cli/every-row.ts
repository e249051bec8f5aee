/** Lists of a service, read to their end. */

import { limits } from '../limits.ts';
import type { Billing, OperationName, ResponseBody } from '../operations/index.ts';
import type { CallInput } from '../operations/operation.ts';

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
  const found: RowOf<N>[] = [];
  for await (const { rows } of pagesOf<RowOf<N>>(billing, name, { query })) found.push(...rows);
  return found;
}

export interface ListPage<R> {
  /** Without those that a page before has had. */
  readonly rows: readonly R[];
  /** How many the list has by now. */
  readonly total: number;
}

interface PageBody<R> {
  readonly data: readonly R[];
  readonly total: number;
  readonly hasMore: boolean;
}

/** The pages of any list from the offset of `input` on; there is one at least. Holds the ids of all rows, and a page of them. */
export async function* pagesOf<R>(
  billing: Billing,
  name: OperationName,
  input: CallInput,
): AsyncGenerator<ListPage<R>, void> {
  const seen = new Set<unknown>();
  for (let offset = Number(input.query?.['offset'] ?? 0); ;) {
    const query = { ...input.query, limit: String(limits.pageSize), offset: String(offset) };
    const { body } = await billing.call(name, { ...input, query });
    const { data, total, hasMore } = body as unknown as PageBody<R>;
    const rows = data.filter((row, index) => {
      const id = (row as { readonly id?: unknown }).id ?? offset + index;
      return !seen.has(id) && seen.add(id);
    });
    yield { rows, total };
    offset += data.length;
    if (!hasMore || data.length === 0) return;
  }
}
