/** A page of a list. */

/** At most `limit` rows behind the first `offset`. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** What is on one page. */
export interface Rows<T> {
  readonly rows: readonly T[];
  /** How many there are on all pages. */
  readonly total: number;
}
