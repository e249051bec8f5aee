/**
 * Texts of queries for SQLite, by name and shape of the values: written by the build (tools/build.ts). A checkout has none, and
 * builds its own. Those that every call may run; the rest is in `other-statements.ts`.
 */

/** What may be bound to a query; undefined where its text leaves out what asks for it. */
export type BoundValue = string | number | bigint | boolean | null | undefined;

/** Stands in a query where a value will: the one of that name, or in a list of that name the one at a place. */
export interface Place {
  readonly name: string;
  readonly index?: number;
}

/** A query as text, with what is bound to it: constants, and places. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly (BoundValue | Place)[];
}

/** By the name of the query, then by the shape of its values. */
export const knownStatements: Readonly<Record<string, Readonly<Record<string, Statement>>>> = {};
