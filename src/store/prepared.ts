/**
 * Queries that most calls run: declared with Kysely like all others, but built and compiled once, and then run with other
 * values. Building a query takes longer than SQLite takes to answer it.
 */

import type { Compilable, CompiledQuery } from 'kysely';

import type { Transaction } from './database.ts';

type Values<V> = { readonly [Name in keyof V]: string | number | bigint | boolean | null };

/** Runs a statement on the transaction that it was given for, past the layers that Kysely has for the general case. */
export type RunDirectly = (sql: string, parameters: readonly unknown[]) => unknown[];

interface Direct {
  readonly run: RunDirectly;
  /** Nothing is written in the transaction, and it sees nothing of what others write. */
  readonly isSnapshot: boolean;
}

const direct = new WeakMap<Transaction, Direct>();

/** Has a backend run prepared queries of a transaction itself, until what it gives back is called at its end. */
export function runDirectly(tx: Transaction, way: Direct): () => void {
  direct.set(tx, way);
  return () => direct.delete(tx);
}

/** A reading that readers who share a snapshot make once for each value, such as that of their organization. */
export function onceASnapshot<T>(
  read: (tx: Transaction, value: string) => Promise<T>,
): (tx: Transaction, value: string) => Promise<T> {
  const readings = new WeakMap<Transaction, Map<string, Promise<T>>>();
  return (tx, value) => {
    if (direct.get(tx)?.isSnapshot !== true) return read(tx, value);
    const known = readings.get(tx) ?? new Map<string, Promise<T>>();
    const reading = known.get(value) ?? read(tx, value);
    readings.set(tx, known.set(value, reading));
    return reading;
  };
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
    return (direct.get(tx)?.run(query.sql, parameters) ??
      (await tx.executeQuery({ ...query, parameters })).rows) as Row[];
  };
}

function placesFor<V extends object>(values: V): V {
  return Object.fromEntries(Object.keys(values).map((name) => [name, new Place(name)])) as V;
}
