/**
 * Queries that most calls run: declared with Kysely like all others, but built and compiled once, and then run with other
 * values. Building a query takes longer than SQLite takes to answer it.
 */

import type { Compilable, CompiledQuery } from 'kysely';

import type { Transaction } from './database.ts';

type Values<V> = { readonly [Name in keyof V]: string | number | bigint | boolean | null };

/** Runs a statement on the transaction that it was given for, past the layers that Kysely has for the general case. */
export type RunDirectly = (sql: string, parameters: readonly unknown[]) => unknown[];

const direct = new WeakMap<Transaction, RunDirectly>();

/** Has a backend run prepared queries of a transaction itself, until what it gives back is called at its end. */
export function runDirectly(tx: Transaction, run: RunDirectly): () => void {
  direct.set(tx, run);
  return () => direct.delete(tx);
}

/** Stands in a query where a value will. */
class Place {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/**
 * A query whose text never changes: `build` is called once for each kind of database, with a place for every value of the
 * first run, and may only put them where values go. Every run has to give the same names. Gives the rows.
 */
export function prepared<V extends Values<V>, Row>(
  build: (tx: Transaction, values: V) => Compilable<Row>,
): (tx: Transaction, values: V) => Promise<Row[]> {
  const compiled = new Map<unknown, CompiledQuery>();
  return async (tx, values) => {
    const kind = tx.getExecutor().adapter.constructor;
    const query = compiled.get(kind) ?? build(tx, placesFor(values)).compile();
    compiled.set(kind, query);
    const given = values as Readonly<Record<string, unknown>>;
    const parameters = query.parameters.map((each) => (each instanceof Place ? given[each.name] : each));
    const run = direct.get(tx);
    return (run?.(query.sql, parameters) ?? (await tx.executeQuery({ ...query, parameters })).rows) as Row[];
  };
}

function placesFor<V extends object>(values: V): V {
  return Object.fromEntries(Object.keys(values).map((name) => [name, new Place(name)])) as V;
}
