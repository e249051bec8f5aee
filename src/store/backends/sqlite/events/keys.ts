/**
 * Which event has a key: asked of the tables, behind what a process knows by itself. That is the keys of its own call, and for
 * one that sends many keys a filter over all of them, so that the tables are asked only about the few that it cannot rule out.
 */

import type { Entries } from './key-entries.ts';
import { createKeyFilter } from './key-filter.ts';
import { createKeyHashes, crowd, secondKeyHash } from './key-hash.ts';
import type { SqliteConnection } from '../connection.ts';
import { createSqliteKeyTables } from './key-tables.ts';

export interface FoundKey {
  /** The seqs of events that may have the key; their rows say which does. Empty for certain when it is new. */
  readonly candidates: readonly number[];
  /** The hash to add it by when it is new. */
  readonly hash: number;
}

export interface SqliteEventKeys {
  /** Before the keys of a call are asked for: `count` of them. Belongs into a transaction for writing. */
  readonly prepare: (count: number) => void;
  /** Where a key is, whose hash is given: of however many that were made to be alike, few are candidates. */
  readonly find: (hash: number, orgId: string, idempotencyKey: string) => FoundKey;
  /** Known to `find` at once, and to others by `keep`. */
  readonly add: (hash: number, eventSeq: number) => void;
  /** Writes the keys that were added since `prepare`: `leastRun` and more as a run. */
  readonly keep: (leastRun: number) => void;
  /** Makes one run of what the small table and the fresh runs hold. */
  readonly absorb: () => void;
}

/** How many times over a key is asked for in the tables before the filter is worth loading. */
const filterPays = 100;

export function createSqliteEventKeys(connection: SqliteConnection): SqliteEventKeys {
  let filter: ReturnType<typeof createKeyFilter> | undefined;
  /** What the filter was made in, and of: another handle, or what others have committed, makes it incomplete. */
  let seen = { handle: -1, dataVersion: -1n, transaction: -1, committedSeq: 0n };
  let asked = 0;
  const keyHash = createKeyHashes();
  const tables = createSqliteKeyTables(connection);
  const added = createAddedKeys();

  function one(sql: string): bigint {
    return (Object.values(connection.prepare(sql).get() ?? {})[0] as bigint | null) ?? 0n;
  }

  const lastSeq = () => one('SELECT max("seq") FROM "events"');

  function prepare(count: number): void {
    const dataVersion = one('PRAGMA data_version');
    const { handleCount: handle, transactionCount: transaction } = connection;
    if (seen.handle !== handle) filter = undefined;
    const runCount = tables.findRuns();
    added.forget();
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
    const theirs = connection.prepare(`SELECT "customer"."orgId", "event"."idempotencyKey" FROM "events" AS "event"
      JOIN "customers" AS "customer" ON "customer"."seq" = "event"."customerSeq" WHERE "event"."seq" > ?`);
    for (const { orgId, idempotencyKey } of theirs.iterate(committedSeq)) {
      into.add(keyHash(String(orgId), String(idempotencyKey)));
    }
  }

  function seqsWith(hash: number): readonly number[] {
    return [...added.seqsOf(hash), ...tables.seqsWith(hash)];
  }

  function find(hash: number, orgId: string, idempotencyKey: string): FoundKey {
    if (filter !== undefined && !filter.mayHave(hash)) return { candidates: [], hash };
    const candidates = seqsWith(hash);
    if (candidates.length < crowd) return { candidates, hash };
    const second = secondKeyHash(orgId, idempotencyKey);
    // Without the filter, which does not know by which hash another process has added a key.
    return { candidates: [...candidates, ...seqsWith(second)], hash: second };
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

/** The keys of one call, of which two may have the same hash. */
function createAddedKeys() {
  const seqs = new Map<number, number>();
  /** Of a hash that has been added before. */
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
