/** Lists of a service, read to the end. */

import { BillingError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { Billing, ResponseBody } from '../operations/index.ts';
import { moreFollow, valueAt, wireText } from './wire/rows.ts';

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

/** Every row, newest first, and each once, even if other clients' writes moved it to the next page during the reading. */
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
  /** Without the rows of earlier pages. */
  readonly rows: readonly R[];
  /** How many rows the list has now; undefined where a service does not say. */
  readonly total: number | undefined;
}

interface PageBody<R> {
  readonly data: readonly R[];
  readonly total?: number;
  readonly hasMore?: boolean;
}

/**
 * The pages of a list from the offset of `query` on; at least one. `read` returns the body of a page. Holds one page and the
 * ids of all rows. Throws a network error if a page has only rows that came before: a service that ignores the offset would
 * be read forever. So it does if a page has none although more are said to follow, and the total does not say that these were
 * all: what was read would pass for the whole.
 */
export async function* pagesOf<R>(
  read: (query: PageQuery) => Promise<unknown>,
  query: PageQuery = {},
): AsyncGenerator<ListPage<R>, void> {
  const seen = new Set<string>();
  let before: number | undefined;
  for (let offset = Number(query['offset'] ?? 0); ;) {
    const body = await read({ ...query, limit: String(limits.pageSize), offset: String(offset) });
    const page = body as PageBody<R>;
    const { data, total } = page;
    const first = offset;
    const rows = data.filter((row, index) => {
      const id = wireText(valueAt(row, 'id')) || `row ${first + index}`;
      return !seen.has(id) && seen.add(id);
    });
    yield { rows, total };
    offset += data.length;
    if (!moreFollow(page, offset)) return;
    if (data.length === 0) {
      // Some services go by the unfiltered list where they say that more follow.
      if (total !== undefined && total <= offset) return;
      throw brokenOff(offset);
    }
    // If the list has grown by a whole page meanwhile, the rows already read have moved here.
    if (rows.length === 0 && !((total ?? 0) > (before ?? 0))) throw sameAgain();
    before = total;
  }
}

function sameAgain(): BillingError {
  return new BillingError('network', 'the list does not end: each page has the rows of the one before', {
    hint: 'the service may not know the offset of a page: then only the first page of a list can be read',
  });
}

function brokenOff(row: number): BillingError {
  return new BillingError('network', `the list breaks off after row ${row}: more are said to follow, and none came`, {
    hint: 'repeat the command; if it breaks off again, tell whoever runs the service',
  });
}
