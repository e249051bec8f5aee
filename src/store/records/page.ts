/** A page of a list. */

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

export interface Rows<T> {
  readonly rows: readonly T[];
  /** How many there are on all pages. */
  readonly total: number;
}
