/** Pages of lists, the same for every room (interface 2.1, semantics 2). */

import { limits } from '../limits.ts';
import type { Page, Rows } from '../store/records/page.ts';

/** The page that a query asks for; the first, of the list's usual size, when it says nothing. */
export function pageOf(
  query: { readonly limit?: number | undefined; readonly offset?: number | undefined },
  defaultLimit: number = limits.defaultPageSize,
): Page {
  return { limit: query.limit ?? defaultLimit, offset: query.offset ?? 0 };
}

/** One page as an answer; `data` may differ from the rows in form, not in number. */
export function listBody<T>({ total }: Rows<unknown>, { offset }: Page, data: T[]) {
  return { data, hasMore: offset + data.length < total, total };
}
