/** What we use of the library, whose own types are those of a whole table. */

declare module 'cli-table3/src/utils.js' {
  /** How many columns of a terminal the text takes; its styles take none. */
  export function strlen(text: string): number;
  /** The text in at most so many columns, with `…` at its end if it had more. */
  export function truncate(text: string, columns: number): string;
  /** The text with `filler` on its other side until it takes so many columns. */
  export function pad(text: string, columns: number, filler: string, side: 'left' | 'right'): string;
}
