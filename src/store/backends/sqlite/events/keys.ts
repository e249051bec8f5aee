/**
 * Which event has a key. Before it asks the tables, a process looks at what it knows itself: the keys of the current call and,
 * if it sends many keys, a filter over all of them. The tables are then asked only about the few keys that the filter cannot
 * rule out.
 */

import type { Entries } from './key-entries.ts';
import { createKeyFilter } from './key-filter.ts';
import { createKeyHashes, crowd, secondKeyHash } from './key-hash.ts';
import type { SqliteConnection } from '../connection.ts';
import { createSqliteKeyTables } from './key-tables.ts';

export interface FoundKey {
  /** The seqs of events that may have the key; their rows tell which does. If empty, the key is certainly new. */
  readonly candidates: readonly number[];
  /** The hash under which to add the key if it is new. */
  readonly hash: number;
}

export interface SqliteEventKeys {
  /** Called before the keys of a call, which have these hashes, are looked up. Belongs in a transaction for writing. */
  readonly prepare: (hashes: readonly number[]) => void;
  /** Looks up a key by its hash, one of those. Candidates are few, even if many keys were made to share a hash. */
  readonly find: (hash: number, orgId: string, idempotencyKey: string) => FoundKey;
  /** `find` knows the key at once, others only after `keep`. */
  readonly add: (hash: number, eventSeq: number) => void;
  /** Writes the keys added since `prepare`, as a run if there are `leastRun` or more. */
  readonly keep: (leastRun: number) => void;
  /** Makes one run of the small table and the fresh runs. */
  readonly absorb: () => void;
}

/** The filter is worth loading once lookups in the tables, times this, exceed the number of keys. */
const filterPays = 100;

export function createSqliteEventKeys(connection: SqliteConnection): SqliteEventKeys {
  let filter: ReturnType<typeof createKeyFilter> | undefined;
  /** The state that the filter covers. Another handle, or commits of others, make it incomplete. */
  let seen = { handle: -1, dataVersion: -1n, transaction: -1, committedSeq: 0n };
  let asked = 0;
  /** What the tables have for the hashes of the current call, if they may have anything. */
  let stored: ReadonlyMap<number, readonly number[]> = new Map();
  const keyHash = createKeyHashes();
  const tables = createSqliteKeyTables(connection);
  const added = createAddedKeys();

  function one(sql: string): bigint {
    return (Object.values(connection.prepare(sql).get() ?? {})[0] as bigint | null) ?? 0n;
  }

  const lastSeq = () => one('SELECT max("seq") FROM "events"');

  function prepare(hashes: readonly number[]): void {
    const dataVersion = one('PRAGMA data_version');
    const { handleCount: handle, transactionCount: transaction } = connection;
    if (seen.handle !== handle) filter = undefined;
    const runCount = tables.findRuns();
    added.forget();
    asked += hashes.length;
    if (filter === undefined) {
      const known = Number(lastSeq());
      if (asked * (runCount + 1) * filterPays > known) load(known);
    } else if (seen.dataVersion !== dataVersion) catchUp(filter, seen.committedSeq);
    // Only rows that were there when the transaction began are certain to stay.
    const committedSeq = seen.transaction === transaction ? seen.committedSeq : lastSeq();
    seen = { handle, dataVersion, transaction, committedSeq };
    stored = tables.seqsWith(Float64Array.from(filter === undefined ? hashes : hashes.filter(filter.mayHave)).sort());
  }

  function load(known: number): void {
    const loaded = createKeyFilter(known);
    tables.eachHash(loaded.add);
    filter = loaded;
  }

  /** Another process has written: the keys that it added have seqs above the last one committed before. */
  function catchUp(into: NonNullable<typeof filter>, committedSeq: bigint): void {
    const theirs = connection.prepare(`SELECT "customer"."orgId", "event"."idempotencyKey" FROM "events" AS "event"
      JOIN "customers" AS "customer" ON "customer"."seq" = "event"."customerSeq" WHERE "event"."seq" > ?`);
    for (const { orgId, idempotencyKey } of theirs.iterate(committedSeq)) {
      into.add(keyHash(String(orgId), String(idempotencyKey)));
    }
  }

  function find(hash: number, orgId: string, idempotencyKey: string): FoundKey {
    // Most keys are new, and the filter knows those of the call as well.
    if (filter !== undefined && !filter.mayHave(hash)) return { candidates: [], hash };
    const candidates = [...added.seqsOf(hash), ...(stored.get(hash) ?? [])];
    if (candidates.length < crowd) return { candidates, hash };
    const second = secondKeyHash(orgId, idempotencyKey);
    // Without the filter, which does not know under which hash another process added a key.
    const others = tables.seqsWith(Float64Array.of(second)).get(second) ?? [];
    return { candidates: [...candidates, ...added.seqsOf(second), ...others], hash: second };
  }

  return {
    prepare,
    find,
    add(hash, eventSeq) {
      added.add(hash, eventSeq);
      filter?.add(hash);
    },
    keep(leastRun) {
      const entries = added.entries();
      added.forget();
      tables.write(entries, leastRun);
    },
    absorb: tables.absorb,
  };
}

/** The keys of one call, two of which may share a hash. */
function createAddedKeys() {
  const seqs = new Map<number, number>();
  /** Further seqs of a hash that was added before. */
  const others = new Map<number, number[]>();
  let count = 0;

  function seqsOf(hash: number): number[] {
    const first = seqs.get(hash);
    return first === undefined ? [] : [first, ...(others.get(hash) ?? [])];
  }

  return {
    seqsOf,
    add(hash: number, eventSeq: number): void {
      if (seqs.has(hash)) others.getOrInsertComputed(hash, () => []).push(eventSeq);
      else seqs.set(hash, eventSeq);
      count += 1;
    },
    entries(): Entries {
      const entries = { hashes: new Float64Array(count), seqs: new Float64Array(count) };
      let place = 0;
      const put = (hash: number, seq: number): void => {
        entries.hashes[place] = hash;
        entries.seqs[place] = seq;
        place += 1;
      };
      for (const hash of Float64Array.from(seqs.keys()).sort()) {
        put(hash, seqs.get(hash) ?? 0);
        for (const seq of others.get(hash) ?? []) put(hash, seq);
      }
      return entries;
    },
    forget(): void {
      seqs.clear();
      others.clear();
      count = 0;
    },
  };
}
