/**
 * Which event has a key: asked of the tables, behind what a process knows by itself. That is the keys of its own call, and for
 * one that sends many keys a filter over all of them, so that the tables are asked only about the few that it cannot rule out.
 */

import type { Entries } from '../key-entries.ts';
import { createKeyFilter } from '../key-filter.ts';
import { createKeyHashes } from '../key-hash.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import { createSqliteKeyTables } from './sqlite-event-key-tables.ts';

export interface SqliteEventKeys {
  /** Before the keys of a call are asked for: `count` of them. Belongs into a transaction for writing. */
  readonly prepare: (count: number) => void;
  /** The seqs of events that may have the key; their rows say which does. Empty for certain when it is new. */
  readonly candidates: (hash: number) => readonly number[];
  /** Known to `candidates` at once, and to others by `keep`. */
  readonly add: (hash: number, eventSeq: number) => void;
  /** Writes the keys that were added since `prepare`: `leastRun` and more as a run. */
  readonly keep: (leastRun: number) => void;
  /** Makes one run of what the small table and the fresh runs hold. */
  readonly absorb: () => void;
}

/** How many times over a key is asked for in the tables before the filter is worth loading. */
const filterPays = 40;

export function createSqliteEventKeys(connection: SqliteConnection): SqliteEventKeys {
  let filter: ReturnType<typeof createKeyFilter> | undefined;
  /** What the filter was made in, and of: another handle, or what others have committed, makes it incomplete. */
  let seen = { handle: -1, dataVersion: -1n, transaction: -1, committedSeq: 0n };
  let asked = 0;
  const keyHash = createKeyHashes();
  const tables = createSqliteKeyTables(connection);
  const added = new Map<number, number>();
  /** Of a hash that has been added before. */
  const addedAgain = new Map<number, number[]>();
  let addedCount = 0;

  function one(sql: string): bigint {
    return (Object.values(connection.prepare(sql).get() ?? {})[0] as bigint | null) ?? 0n;
  }

  const lastSeq = () => one('SELECT max("seq") FROM "events"');

  function prepare(count: number): void {
    const dataVersion = one('PRAGMA data_version');
    const { handleCount: handle, transactionCount: transaction } = connection;
    if (seen.handle !== handle) filter = undefined;
    const runCount = tables.findRuns();
    forgetAdded();
    asked += count;
    if (filter === undefined) {
      const known = Number(lastSeq());
      if (asked * (runCount + 1) * filterPays > known) load(known);
    } else if (seen.dataVersion !== dataVersion) catchUp(filter, seen.committedSeq);
    // Only what stood there when the transaction began is sure to stay.
    const committedSeq = seen.transaction === transaction && seen.handle === handle ? seen.committedSeq : lastSeq();
    seen = { handle, dataVersion, transaction, committedSeq };
  }

  function load(known: number): void {
    const loaded = createKeyFilter(known);
    tables.eachHash(loaded.add);
    filter = loaded;
  }

  /** Another process has written: a key that it added has a seq beyond what was committed before. */
  function catchUp(into: NonNullable<typeof filter>, committedSeq: bigint): void {
    const added = connection.prepare(`SELECT "customer"."orgId", "event"."idempotencyKey" FROM "events" AS "event"
      JOIN "customers" AS "customer" ON "customer"."seq" = "event"."customerSeq" WHERE "event"."seq" > ?`);
    for (const { orgId, idempotencyKey } of added.iterate(committedSeq)) {
      into.add(keyHash(String(orgId), String(idempotencyKey)));
    }
  }

  function candidates(hash: number): readonly number[] {
    if (filter !== undefined && !filter.mayHave(hash)) return [];
    return [...seqsAdded(hash), ...tables.seqsWith(hash)];
  }

  function add(hash: number, eventSeq: number): void {
    if (added.has(hash)) addedAgain.set(hash, [...(addedAgain.get(hash) ?? []), eventSeq]);
    else added.set(hash, eventSeq);
    addedCount += 1;
    filter?.add(hash);
  }

  function seqsAdded(hash: number): number[] {
    const first = added.get(hash);
    return first === undefined ? [] : [first, ...(addedAgain.get(hash) ?? [])];
  }

  function forgetAdded(): void {
    added.clear();
    addedAgain.clear();
    addedCount = 0;
  }

  function keep(leastRun: number): void {
    const entries = entriesAdded();
    forgetAdded();
    tables.write(entries, leastRun);
  }

  function entriesAdded(): Entries {
    const entries = { hashes: new Float64Array(addedCount), seqs: new Float64Array(addedCount) };
    let place = 0;
    const put = (hash: number, seq: number): void => {
      entries.hashes[place] = hash;
      entries.seqs[place] = seq;
      place += 1;
    };
    for (const hash of Float64Array.from(added.keys()).sort()) {
      put(hash, added.get(hash) ?? 0);
      for (const seq of addedAgain.get(hash) ?? []) put(hash, seq);
    }
    return entries;
  }

  return { prepare, candidates, add, keep, absorb: tables.absorb };
}
