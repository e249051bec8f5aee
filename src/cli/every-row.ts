/** Lists of a service, read to their end. */

import { BillingError } from '../errors.ts';
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
  for await (const { rows } of pagesOf<RowOf<N>>(read, query)) for (const row of rows) found.push(row);
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
 * rows, and a page of them. Throws a network error where a service gives nothing but rows that it gave before: one that does
 * not know the offset would be read for ever.
 */
export async function* pagesOf<R>(
  read: (query: PageQuery) => Promise<unknown>,
  query: PageQuery = {},
): AsyncGenerator<ListPage<R>, void> {
  const seen = new Set<string>();
  let before: number | undefined;
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
    // Where the list has grown by as many meanwhile, that is where they are now.
    if (rows.length === 0 && !((total ?? 0) > (before ?? 0))) throw sameAgain();
    before = total;
  }
}

function sameAgain(): BillingError {
  return new BillingError('network', 'the list does not end: each page has the rows of the one before', {
    hint: 'read its first page, without --all: the service may not know the offset of a page',
  });
}
