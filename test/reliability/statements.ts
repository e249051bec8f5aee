/**
 * Every statement that SQLite is given, caught where node:sqlite takes it. It stands here so that the program has no door
 * for tests, and so that no statement gets past it.
 */

import { DatabaseSync, StatementSync } from 'node:sqlite';

import { isSameImage, takeImage } from './database-image.ts';
import type { DatabaseImage } from './database-image.ts';

type Watch = (sql: string, values: readonly unknown[]) => void;

/** Calls `before` ahead of each statement of this process, until the function that it gives is called. */
export function watchStatements(before: Watch): () => void {
  const undo = [
    ...(['run', 'get', 'all', 'iterate'] as const).map((name) => wrap(StatementSync.prototype, name, before)),
    wrap(DatabaseSync.prototype, 'exec', before),
  ];
  return () => {
    for (const restore of undo) restore();
  };
}

function wrap<Name extends string>(prototype: Record<Name, unknown>, name: Name, before: Watch): () => void {
  const original = prototype[name] as (...values: unknown[]) => unknown;
  prototype[name] = function watched(this: { readonly sourceSQL?: string }, ...values: unknown[]): unknown {
    before(this.sourceSQL ?? String(values[0]), values);
    return original.apply(this, values);
  };
  return () => {
    prototype[name] = original;
  };
}

/** What the files of a database were between two statements. */
export interface Moment {
  readonly image: DatabaseImage;
  /** Number of the statement that came next, from 1; behind the last one, one more than there are. */
  readonly statement: number;
  /** Its text; empty behind the last one. */
  readonly sql: string;
}

/**
 * Does `work`, and gives each different state of the files of a database ahead of every statement and behind the last one:
 * everything that kill -9 between two statements can leave.
 */
export async function momentsOf(file: string, work: () => Promise<unknown>): Promise<Moment[]> {
  const moments: Moment[] = [];
  let statement = 0;
  const note = (sql: string): void => {
    statement += 1;
    const image = takeImage(file);
    const last = moments.at(-1);
    if (last === undefined || !isSameImage(last.image, image)) moments.push({ image, statement, sql });
  };
  const stop = watchStatements(note);
  try {
    await work();
  } finally {
    stop();
  }
  note('');
  return moments;
}

/**
 * From here on rows come in the opposite order wherever a statement does not ask for one: what depends on an order that it
 * did not ask for comes out otherwise (https://sqlite.org/pragma.html#pragma_reverse_unordered_selects).
 */
export function keepRowsReversed(): void {
  // The program gives its settings to a connection as one text, first of all.
  const exec: (this: DatabaseSync, sql: string) => void = Reflect.get(DatabaseSync.prototype, 'exec');
  DatabaseSync.prototype.exec = function reversed(sql: string): void {
    exec.call(this, 'PRAGMA reverse_unordered_selects = ON');
    exec.call(this, sql);
  };
}
