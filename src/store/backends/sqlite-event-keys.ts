/**
 * Which event has a key, without an index over random keys. Those of the newest events stand in a small table, or in a run of
 * their own where many came at once; absorbed they lie in sorted runs that grow by merging, each row of a run a piece with
 * its first hash. A process that sends many keys holds a filter over all of them, and asks the tables only about the few that
 * it cannot rule out.
 */

import { createKeyHashes } from '../key-hash.ts';
import { createKeyFilter } from '../key-filter.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import { plainRows } from './sqlite-event-rows.ts';

export interface SqliteEventKeys {
  /** Before the keys of a call are asked for: `count` of them. Belongs into a transaction for writing. */
  readonly prepare: (count: number) => void;
  /** The seqs of events that may have the key; their rows say which does. Empty for certain when it is new. */
  readonly candidates: (hash: number) => readonly number[];
  /** Known to `candidates` at once, and to others by `keep`. */
  readonly add: (hash: number, eventSeq: number) => void;
  /**
   * Writes the keys that were added since `prepare`: `leastRun` and more as a run, since a table in the order of hashes would
   * change a page for nearly each of them.
   */
  readonly keep: (leastRun: number) => void;
  /** Makes one run of what the small table and the fresh runs hold. */
  readonly absorb: () => void;
}

/** So that a piece lies in one page. */
const piece = 256;
/** So many runs of one level become one of the next. */
const mergedRuns = 8;
/** Runs of about a million keys stay as they are: a larger merge would hold up a write for a second. */
const highestLevel = 2;
/** The level of runs that are absorbed as the small table is. */
const fresh = -1;
/** Taken out of the small table at once, where all keys stand in it: after an upgrade, or when they are made anew. */
const longestRun = 2 ** 20;

/** A run that is long from the beginning is not merged as if it were short. */
function levelOf(count: number): number {
  if (count >= longestRun) return highestLevel;
  return count >= longestRun / mergedRuns ? 1 : 0;
}
/** How many times over a key is asked for in the tables before the filter is worth loading. */
const filterPays = 40;

const hashBytes = 8;
const entryBytes = hashBytes + 6;

export function createSqliteEventKeys(connection: SqliteConnection): SqliteEventKeys {
  let filter: ReturnType<typeof createKeyFilter> | undefined;
  /** What the filter was made in, and of: another handle, or what others have committed, makes it incomplete. */
  let seen = { handle: -1, dataVersion: -1n, transaction: -1, committedSeq: 0n };
  let asked = 0;
  const keyHash = createKeyHashes();
  let runs: readonly bigint[] = [];
  const added = new Map<number, number>();
  /** Of a hash that has been added before. */
  const addedAgain = new Map<number, number[]>();
  let addedCount = 0;

  function one(sql: string, ...values: bigint[]): bigint {
    return (Object.values(connection.prepare(sql).get(...values) ?? {})[0] as bigint | null) ?? 0n;
  }

  const lastSeq = () => one('SELECT max("seq") FROM "events"');

  function prepare(count: number): void {
    const dataVersion = one('PRAGMA data_version');
    const { handleCount: handle, transactionCount: transaction } = connection;
    if (seen.handle !== handle) filter = undefined;
    runs = listRuns();
    forgetAdded();
    asked += count;
    if (filter === undefined) {
      const known = Number(lastSeq());
      if (asked * (runs.length + 1) * filterPays > known) load(known);
    } else if (seen.dataVersion !== dataVersion) catchUp(filter, seen.committedSeq);
    // Only what stood there when the transaction began is sure to stay.
    const committedSeq = seen.transaction === transaction && seen.handle === handle ? seen.committedSeq : lastSeq();
    seen = { handle, dataVersion, transaction, committedSeq };
  }

  function load(known: number): void {
    const loaded = createKeyFilter(known);
    for (const run of runs) {
      for (const row of connection.prepare('SELECT "data" FROM "eventKeyPieces" WHERE "runId" = ?').iterate(run)) {
        for (const hash of hashesOf(row['data'] as Uint8Array)) loaded.add(hash);
      }
    }
    const tail = connection.prepare('SELECT "hash" FROM "eventKeyTail"').iterate();
    for (const row of tail) loaded.add(Number(row['hash']));
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

  function listRuns(): readonly bigint[] {
    const rows = connection.prepare('SELECT "id" FROM "eventKeyRuns" ORDER BY "id"').all();
    return rows.map((row) => row['id'] as bigint);
  }

  function candidates(hash: number): readonly number[] {
    if (filter !== undefined && !filter.mayHave(hash)) return [];
    const found = seqsAdded(hash);
    const inTail = connection.prepare('SELECT "eventSeq" FROM "eventKeyTail" WHERE "hash" = ?').all(hash);
    for (const row of inTail) found.push(Number(row['eventSeq']));
    for (const run of runs) found.push(...inRun(run, hash));
    return found;
  }

  /** A hash that stands more than once may go over the end of a piece. */
  function inRun(run: bigint, hash: number): number[] {
    const before = connection.prepare(`SELECT "data" FROM "eventKeyPieces" WHERE "runId" = ? AND "firstHash" < ?
      ORDER BY "firstHash" DESC, "id" DESC LIMIT 1`);
    const beginning = connection.prepare('SELECT "data" FROM "eventKeyPieces" WHERE "runId" = ? AND "firstHash" = ?');
    return [...before.all(run, hash), ...beginning.all(run, hash)].flatMap((row) =>
      seqsOf(row['data'] as Uint8Array, hash),
    );
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
    if (entries.hashes.length >= leastRun) {
      writeRun(entries, fresh);
      mergeLevel(fresh, fresh);
      return;
    }
    const insert = connection.prepare('INSERT INTO "eventKeyTail" VALUES (?, ?)');
    for (const [place, hash] of entries.hashes.entries()) insert.run(hash, entries.seqs[place] ?? 0);
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

  function absorb(): void {
    let rest = taken(runsOf(fresh));
    for (;;) {
      const tail = readTail();
      const whole = merged(rest, tail);
      const count = whole.hashes.length;
      if (count > 0) writeRun(whole, levelOf(count));
      if (tail.hashes.length < longestRun) break;
      rest = noEntries;
      connection
        .prepare('DELETE FROM "eventKeyTail" WHERE ("hash", "eventSeq") <= (?, ?)')
        .run(tail.hashes.at(-1) ?? 0, tail.seqs.at(-1) ?? 0);
    }
    connection.execute('DELETE FROM "eventKeyTail"');
    for (let level = 0; level < highestLevel && mergeLevel(level, level + 1); level += 1);
    runs = listRuns();
  }

  function readTail(): Entries {
    const rows = plainRows(
      connection,
      'SELECT "hash", "eventSeq" FROM "eventKeyTail" ORDER BY "hash", "eventSeq" LIMIT ?',
    ).iterate(longestRun);
    const [hashes, seqs]: [number[], number[]] = [[], []];
    for (const [hash, seq] of rows as Iterable<unknown> as Iterable<readonly [number, number]>) {
      hashes.push(hash);
      seqs.push(seq);
    }
    return { hashes: Float64Array.from(hashes), seqs: Float64Array.from(seqs) };
  }

  function writeRun({ hashes, seqs }: Entries, level: number): void {
    const { lastInsertRowid: run } = connection.prepare('INSERT INTO "eventKeyRuns" ("level") VALUES (?)').run(level);
    const insert = connection.prepare('INSERT INTO "eventKeyPieces" ("runId", "firstHash", "data") VALUES (?, ?, ?)');
    for (let start = 0; start < hashes.length; start += piece) {
      const part = { hashes: hashes.subarray(start, start + piece), seqs: seqs.subarray(start, start + piece) };
      insert.run(run, part.hashes[0] ?? 0, bytesOf(part));
    }
  }

  /** The runs of a level as one of another, once there are enough of them. */
  function mergeLevel(level: number, into: number): boolean {
    const found = runsOf(level);
    if (found.length < mergedRuns) return false;
    writeRun(taken(found), into);
    return true;
  }

  function runsOf(level: number): bigint[] {
    const rows = connection.prepare('SELECT "id" FROM "eventKeyRuns" WHERE "level" = ? ORDER BY "id"').all(level);
    return rows.map((row) => row['id'] as bigint);
  }

  /** What the runs hold, which are no more. */
  function taken(found: readonly bigint[]): Entries {
    let whole = noEntries;
    for (const run of found) {
      whole = merged(whole, entriesOfRun(run));
      connection.prepare('DELETE FROM "eventKeyPieces" WHERE "runId" = ?').run(run);
      connection.prepare('DELETE FROM "eventKeyRuns" WHERE "id" = ?').run(run);
    }
    return whole;
  }

  function entriesOfRun(run: bigint): Entries {
    const rows = connection
      .prepare('SELECT "data" FROM "eventKeyPieces" WHERE "runId" = ? ORDER BY "firstHash", "id"')
      .all(run);
    const pieces = rows.map((row) => entriesOf(row['data'] as Uint8Array));
    const count = pieces.reduce((sum, { hashes }) => sum + hashes.length, 0);
    const whole = { hashes: new Float64Array(count), seqs: new Float64Array(count) };
    let offset = 0;
    for (const { hashes, seqs } of pieces) {
      whole.hashes.set(hashes, offset);
      whole.seqs.set(seqs, offset);
      offset += hashes.length;
    }
    return whole;
  }

  return { prepare, candidates, add, keep, absorb };
}

/** Sorted by hash, and then by seq. */
export interface Entries {
  readonly hashes: Float64Array;
  readonly seqs: Float64Array;
}

const noEntries: Entries = { hashes: new Float64Array(0), seqs: new Float64Array(0) };

function merged(a: Entries, b: Entries): Entries {
  const count = a.hashes.length + b.hashes.length;
  const whole = { hashes: new Float64Array(count), seqs: new Float64Array(count) };
  let left = 0;
  let right = 0;
  for (let place = 0; place < count; place += 1) {
    const one = a.hashes[left] ?? Infinity;
    const other = b.hashes[right] ?? Infinity;
    const isLeft = one < other || (one === other && (a.seqs[left] ?? Infinity) < (b.seqs[right] ?? Infinity));
    whole.hashes[place] = isLeft ? one : other;
    whole.seqs[place] = (isLeft ? a.seqs[left] : b.seqs[right]) ?? 0;
    if (isLeft) left += 1;
    else right += 1;
  }
  return whole;
}

/** All hashes, then the low 32 bits of all seqs, then the high 16. */
function bytesOf({ hashes, seqs }: Entries): Uint8Array {
  const bytes = new Uint8Array(hashes.length * entryBytes);
  bytes.set(new Uint8Array(hashes.buffer, hashes.byteOffset, hashes.byteLength));
  const low = new Uint32Array(seqs.length);
  const high = new Uint16Array(seqs.length);
  for (let place = 0; place < seqs.length; place += 1) {
    const seq = seqs[place] ?? 0;
    low[place] = seq % 2 ** 32;
    high[place] = seq / 2 ** 32;
  }
  bytes.set(new Uint8Array(low.buffer), hashes.byteLength);
  bytes.set(new Uint8Array(high.buffer), hashes.byteLength + low.byteLength);
  return bytes;
}

function hashesOf(bytes: Uint8Array): Float64Array {
  return new Float64Array(bytes.slice(0, (bytes.length / entryBytes) * hashBytes).buffer);
}

export function entriesOf(bytes: Uint8Array): Entries {
  const hashes = hashesOf(bytes);
  const low = new Uint32Array(bytes.slice(hashes.byteLength, hashes.byteLength + hashes.length * 4).buffer);
  const high = new Uint16Array(bytes.slice(hashes.byteLength + low.byteLength).buffer);
  const seqs = new Float64Array(hashes.length);
  for (let place = 0; place < seqs.length; place += 1) seqs[place] = (low[place] ?? 0) + (high[place] ?? 0) * 2 ** 32;
  return { hashes, seqs };
}

/** Looks at the few entries that a search meets, and at no other. */
function seqsOf(bytes: Uint8Array, hash: number): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = bytes.length / entryBytes;
  const hashAt = (place: number) => view.getFloat64(place * hashBytes, true);
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (hashAt(middle) < hash) low = middle + 1;
    else high = middle;
  }
  const found: number[] = [];
  for (; low < count && hashAt(low) === hash; low += 1) {
    const lowBits = view.getUint32(count * hashBytes + low * 4, true);
    found.push(lowBits + view.getUint16(count * (hashBytes + 4) + low * 2, true) * 2 ** 32);
  }
  return found;
}
