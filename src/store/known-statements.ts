/**
 * SQLite texts of queries, by query name and shape of the values. The build writes them (tools/build.ts); a checkout has none
 * and compiles its queries itself. These are the queries that every call may run; `other-statements.ts` has the rest.
 */

/** What may be bound to a query; undefined if the query's text leaves out the part that needs the value. */
export type BoundValue = string | number | bigint | boolean | null | undefined;

/** Stands in a query for a value: the one of that name, or for a list of that name its element at `index`. */
export interface Place {
  readonly name: string;
  readonly index?: number;
}

/** A query as text, with what is bound to it: constants and places. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly (BoundValue | Place)[];
}

/** By the name of the query, then by the shape of its values. */
export const knownStatements: Readonly<Record<string, Readonly<Record<string, Statement>>>> = {};
