/** Lists of a service, read to their end. */

import { limits } from '../limits.ts';
import type { Billing, ResponseBody } from '../operations/index.ts';
import { valueAt, wireText } from './wire/rows.ts';

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
  query: PageQuery = {},
): Promise<RowOf<N>[]> {
  const found: RowOf<N>[] = [];
  const read = async (paged: PageQuery) => (await billing.call(name, { query: paged })).body;
  for await (const { rows } of pagesOf<RowOf<N>>(read, query)) found.push(...rows);
  return found;
}

type PageQuery = Readonly<Record<string, string>>;

export interface ListPage<R> {
  /** Without those that a page before has had. */
  readonly rows: readonly R[];
  /** How many the list has by now; undefined where a service does not say. */
  readonly total: number | undefined;
}

interface PageBody<R> {
  readonly data: readonly R[];
  readonly total?: number;
  readonly hasMore: boolean;
}

/**
 * The pages of a list from the offset of `query` on; there is one at least. `read` gives the body of one. Holds the ids of all
 * rows, and a page of them.
 */
export async function* pagesOf<R>(
  read: (query: PageQuery) => Promise<unknown>,
  query: PageQuery = {},
): AsyncGenerator<ListPage<R>, void> {
  const seen = new Set<string>();
  for (let offset = Number(query['offset'] ?? 0); ;) {
    const page = await read({ ...query, limit: String(limits.pageSize), offset: String(offset) });
    const { data, total, hasMore } = page as PageBody<R>;
    const first = offset;
    const rows = data.filter((row, index) => {
      const id = wireText(valueAt(row, 'id')) || `row ${first + index}`;
      return !seen.has(id) && seen.add(id);
    });
    yield { rows, total };
    offset += data.length;
    if (!hasMore || data.length === 0) return;
  }
}
