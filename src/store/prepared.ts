/**
 * Queries that most calls run: declared with Kysely like all others, but compiled once and then run with other values.
 * Building a query takes longer than SQLite takes to answer it.
 */

import type { Compilable, CompiledQuery, QueryResult } from 'kysely';

import { assert } from '../assert.ts';
import type { Transaction } from './database.ts';
import { type BoundValue, knownStatements, type Place, type Statement } from './known-statements.ts';
import { otherStatements } from './other-statements.ts';

type Values<V> = { readonly [Name in keyof V]: BoundValue | readonly BoundValue[] };

/** The values of a query over an organization, with a text of each name. */
export type OfOrganization<Name extends string = never> = { readonly orgId: string } & Readonly<Record<Name, string>>;

/** Runs a statement on its transaction, bypassing the layers that Kysely has for the general case. */
export type RunDirectly = (sql: string, parameters: readonly unknown[]) => QueryResult<unknown>;

interface Direct {
  readonly run: RunDirectly;
  /** Counts the transaction's writes and undone writes, except those that `onceUnchanged` readings never see. */
  readonly changes: () => number;
}

const direct = new WeakMap<Transaction, Direct>();

/** Lets SQLite's backend run a transaction's prepared queries itself, until the returned function is called at the end. */
export function runDirectly(tx: Transaction, way: Direct): () => void {
  direct.set(tx, way);
  return () => direct.delete(tx);
}

/**
 * A reading that all calls sharing a transaction make once per value, such as their organization's, until something is written.
 * Writing ledger entries does not count, so it must not read those.
 */
export function onceUnchanged<T>(
  read: (tx: Transaction, value: string) => Promise<T>,
): (tx: Transaction, value: string) => Promise<T> {
  const readings = new WeakMap<Transaction, { readonly changes: number; readonly of: Map<string, Promise<T>> }>();
  return (tx, value) => {
    const changes = direct.get(tx)?.changes();
    if (changes === undefined) return read(tx, value);
    let known = readings.get(tx);
    if (known?.changes !== changes) readings.set(tx, (known = { changes, of: new Map() }));
    const reading = known.of.get(value) ?? read(tx, value);
    known.of.set(value, reading);
    return reading;
  };
}

/** Declares that the bundle holds the text of a query, so that a short command need not build it (tools/build.ts). */
export interface Known<V> {
  /** Unique among known queries. */
  readonly name: string;
  /** Sample values, one for each form of the query that is worth keeping; called when the bundle is made. */
  readonly of: () => readonly V[];
  /** Every call may run it: its text belongs in the file that every call loads. */
  readonly isOfEveryCall?: true;
}

/** Placeholder values for these names, for the form of a query that has all of them. */
export function anyValues(names: readonly string[]): object {
  return Object.fromEntries(names.map((name) => [name, '']));
}

type Build = (tx: Transaction, values: object) => Compilable;

const declared: { readonly build: Build; readonly known: Known<object> }[] = [];

/**
 * The query texts for the bundle in the dialect of `tx`, by name and shape of the values: those of every call, or all others.
 */
export function knownTexts(tx: Transaction, isOfEveryCall: boolean): Record<string, Record<string, Statement>> {
  const chosen = declared.filter(({ known }) => (known.isOfEveryCall === true) === isOfEveryCall);
  const texts = chosen.map(({ build, known }) => {
    const forms = known.of().map((values) => {
      const { sql, parameters } = compile(build, tx, values);
      return [shapeOf(values), { sql, parameters }];
    });
    return [known.name, Object.fromEntries(forms)];
  });
  return Object.fromEntries(texts);
}

/**
 * A query whose text depends only on which values are undefined and how long lists are. `build` is called once for each such
 * form and each kind of database. It gets a place for every value, and may only put places where values go. Every run has to
 * give the same names. Gives the rows.
 */
export function prepared<V extends Values<V>, Row>(
  build: (tx: Transaction, values: V) => Compilable<Row>,
  known?: Known<V>,
): (tx: Transaction, values: V) => Promise<Row[]> {
  const run = preparedRun(build as Build, known);
  return async (tx, values) => {
    const outcome = run(tx, values);
    return (outcome instanceof Promise ? await outcome : outcome).rows as Row[];
  };
}

interface Insertion {
  readonly compile: () => CompiledQuery;
  readonly returning: (column: 'seq') => Compilable<{ seq: bigint }>;
}

/**
 * As `prepared`, for one new row of a table with `seq`; gives that `seq`. SQLite knows it anyway, and returning the row would
 * take it longer than inserting it.
 */
export function preparedInsertion<V extends Values<V>>(
  build: (tx: Transaction, values: V) => Insertion,
  known?: Known<V>,
): (tx: Transaction, values: V) => Promise<bigint> {
  const run = preparedRun<V>(build as unknown as Build, known);
  const giving = prepared((tx, values: V) => build(tx, values).returning('seq'));
  return async (tx, values) => {
    const isDirect = direct.has(tx);
    const seq = isDirect ? (await run(tx, values)).insertId : (await giving(tx, values))[0]?.seq;
    assert(seq !== undefined, 'an insertion gives its row a place');
    return seq;
  };
}

/**
 * As `prepared`, for any number of new rows, in their order; `build` gets at least one. SQLite takes rows one by one the fastest;
 * a server gets many in a statement, because the way to it takes longer than a row does.
 */
export function preparedRows<V extends Readonly<Record<keyof V, BoundValue>>>(
  build: (tx: Transaction, rows: readonly V[]) => Compilable,
  known?: Known<V>,
): (tx: Transaction, rows: readonly V[]) => Promise<void> {
  const insertOne = prepared<V, unknown>((tx, row) => build(tx, [row]), known);
  const insertSeveral = prepared<Columns<V>, unknown>((tx, columns) => build(tx, rowsOf(columns)));
  return async (tx, rows) => {
    const columnCount = Object.keys(rows[0] ?? {}).length;
    const isEven = rows.every((row) => Object.keys(row).length === columnCount);
    assert(isEven, 'rows that are inserted together have the same columns');
    if (direct.has(tx)) {
      for (const row of rows) await insertOne(tx, row);
      return;
    }
    for (let first = 0; first < rows.length;) {
      const part = rows.slice(first, first + rowsAtOnce(rows.length - first));
      await insertSeveral(tx, columnsOf(part));
      first += part.length;
    }
  };
}

/** A few rows by their number, more by powers of two, so that lists of all lengths share few statements. */
function rowsAtOnce(count: number): number {
  return count <= 8 ? count : Math.min(64, 2 ** Math.floor(Math.log2(count)));
}

/** By the name of a column, its value in each row. */
type Columns<V> = { readonly [Name in keyof V]: readonly V[Name][] };

function columnsOf<V extends object>(rows: readonly V[]): Columns<V> {
  const names = Object.keys(rows[0] ?? {}) as (keyof V)[];
  return Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name])])) as unknown as Columns<V>;
}

function rowsOf<V>(columns: Columns<V>): readonly V[] {
  const lists = Object.entries(columns) as [string, readonly unknown[]][];
  const length = lists[0]?.[1].length ?? 0;
  return Array.from(
    { length },
    (_row, index) => Object.fromEntries(lists.map(([name, list]) => [name, list[index]])) as V,
  );
}

function preparedRun<V extends Values<V>>(
  build: Build,
  known?: Known<V>,
): (tx: Transaction, values: V) => QueryResult<unknown> | Promise<QueryResult<unknown>> {
  if (known !== undefined) declared.push({ build, known });
  const compiled = new Map<unknown, Map<string, CompiledQuery | Statement>>();

  function statementOf(tx: Transaction, way: Direct | undefined, values: V): CompiledQuery | Statement {
    const kind = way === undefined ? tx.getExecutor().adapter.constructor : 'direct';
    const form = formOf(values);
    const forms = compiled.get(kind) ?? new Map<string, CompiledQuery | Statement>();
    compiled.set(kind, forms);
    const statement = forms.get(form) ?? (way && knownText(known, values)) ?? compile(build, tx, values);
    forms.set(form, statement);
    return statement;
  }

  return (tx, values) => {
    const way = direct.get(tx);
    const statement = statementOf(tx, way, values);
    const parameters = statement.parameters.map((each) => (isPlace(each) ? valueAt(values, each) : each));
    return way?.run(statement.sql, parameters) ?? tx.executeQuery({ ...(statement as CompiledQuery), parameters });
  };
}

function knownText(known: { readonly name: string } | undefined, values: object): Statement | undefined {
  return known && (knownStatements[known.name] ?? otherStatements[known.name])?.[shapeOf(values)];
}

function compile(build: Build, tx: Transaction, values: object): CompiledQuery {
  const places = Object.entries(values).map(([name, value]: [string, unknown]) => [name, placeFor(name, value)]);
  return build(tx, Object.fromEntries(places) as object).compile();
}

function placeFor(name: string, value: unknown): Place | Place[] | undefined {
  if (value === undefined) return undefined;
  return Array.isArray(value) ? value.map((_element, index): Place => ({ name, index })) : { name };
}

/** Empty if all values are there and none is a list. */
function formOf(values: object): string {
  let form = '';
  for (const name in values) {
    const value = (values as Readonly<Record<string, unknown>>)[name];
    if (value === undefined) form += ` -${name}`;
    else if (typeof value === 'object' && value !== null) form += ` ${(value as readonly unknown[]).length} ${name}`;
  }
  return form;
}

/** The names of all values, and the form: a precompiled text fits no others. */
function shapeOf(values: object): string {
  return `${Object.keys(values).sort().join(' ')}${formOf(values)}`;
}

function isPlace(parameter: unknown): parameter is Place {
  return typeof parameter === 'object' && parameter !== null;
}

function valueAt(values: object, { name, index }: Place): unknown {
  const value = (values as Readonly<Record<string, unknown>>)[name];
  return index === undefined ? value : (value as readonly unknown[])[index];
}
