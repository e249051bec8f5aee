/** What we use of the library, whose own types are those of a whole table. */

declare module 'cli-table3/src/utils.js' {
  /** How many columns of a terminal the text takes. */
  export function strlen(text: string): number;
}
