/**
 * The tables that find events by the hashes of their keys, without an index over random keys. The newest hashes stand in a
 * small table, or in a fresh run if many arrived at once. Once absorbed, they lie in sorted runs that grow by merging; a run
 * consists of pieces, each a row with its first hash.
 */

import { bytesOf, type Entries, entriesOf, hashesOf, lastHashOf, merged, noEntries, seqsOf } from './key-entries.ts';
import type { SqliteConnection } from '../connection.ts';
import { plainRows } from './rows.ts';

export interface SqliteKeyTables {
  /** Reads which runs there are, for `eachHash` and `seqsWith`; gives their number. */
  readonly findRuns: () => number;
  /** Calls `use` with every hash, in no particular order. */
  readonly eachHash: (use: (hash: number) => void) => void;
  /** By hash, the seqs of the events whose keys have it. The hashes are ascending: each piece is read once for all it holds. */
  readonly seqsWith: (hashes: Float64Array) => ReadonlyMap<number, readonly number[]>;
  /** `leastRun` or more entries become a run: in a table ordered by hash, nearly each of them would change another page. */
  readonly write: (entries: Entries, leastRun: number) => void;
  /** Makes one run of the small table and the fresh runs. */
  readonly absorb: () => void;
}

/** Small enough for a piece to fit in one page. */
const piece = 256;
/** How many runs of one level are merged into one of the next. */
const mergedRuns = 8;
/** Runs of about a million keys stay as they are: a larger merge would block writes for a second. */
const highestLevel = 2;
/** The level of runs that are absorbed together with the small table. */
const fresh = -1;
/** How many entries leave the small table at once when it holds all keys: after an upgrade, or when they are rebuilt. */
const longestRun = 2 ** 20;

/** A run that is long from the start is not merged as if it were short. */
function levelOf(count: number): number {
  if (count >= longestRun) return highestLevel;
  return count >= longestRun / mergedRuns ? 1 : 0;
}

/** The tables of a database; methods that change them belong in a transaction for writing. */
export function createSqliteKeyTables(connection: SqliteConnection): SqliteKeyTables {
  let runs: readonly bigint[] = [];

  function findRuns(): number {
    const rows = connection.prepare('SELECT "id" FROM "eventKeyRuns" ORDER BY "id"').all();
    runs = rows.map((row) => row['id'] as bigint);
    return runs.length;
  }

  function eachHash(use: (hash: number) => void): void {
    for (const run of runs) {
      for (const row of connection.prepare('SELECT "data" FROM "eventKeyPieces" WHERE "runId" = ?').iterate(run)) {
        for (const hash of hashesOf(dataOf(row))) use(hash);
      }
    }
    for (const row of connection.prepare('SELECT "hash" FROM "eventKeyTail"').iterate()) use(Number(row['hash']));
  }

  function seqsWith(hashes: Float64Array): ReadonlyMap<number, readonly number[]> {
    const inTail = connection.prepare('SELECT "eventSeq" FROM "eventKeyTail" WHERE "hash" = ?');
    const found = new Map<number, number[]>();
    for (const hash of hashes) {
      found.set(
        hash,
        inTail.all(hash).map((row) => Number(row['eventSeq'])),
      );
    }
    for (const run of runs) {
      let read: Piece | undefined;
      for (const [hash, seqs] of found) {
        // The last hash of a piece may be the first of the next.
        if (read === undefined || hash >= read.lastHash) read = pieceOf(connection, run, hash);
        if (read === undefined) continue;
        const isFirst = read.firstHash === hash;
        seqs.push(...(isFirst ? seqsOverPieces(connection, run, hash) : seqsOf(read.data, hash)));
      }
    }
    return found;
  }

  function write(entries: Entries, leastRun: number): void {
    if (entries.hashes.length >= leastRun) {
      writeRun(connection, entries, fresh);
      mergeLevel(connection, fresh, fresh);
      return;
    }
    const insert = connection.prepare('INSERT INTO "eventKeyTail" VALUES (?, ?)');
    for (const [place, hash] of entries.hashes.entries()) insert.run(hash, entries.seqs[place] ?? 0);
  }

  function absorb(): void {
    let rest = taken(connection, runsOf(connection, fresh));
    for (;;) {
      const tail = readTail(connection);
      const whole = merged(rest, tail);
      const count = whole.hashes.length;
      if (count > 0) writeRun(connection, whole, levelOf(count));
      if (tail.hashes.length < longestRun) break;
      rest = noEntries;
      connection
        .prepare('DELETE FROM "eventKeyTail" WHERE ("hash", "eventSeq") <= (?, ?)')
        .run(tail.hashes.at(-1) ?? 0, tail.seqs.at(-1) ?? 0);
    }
    connection.execute('DELETE FROM "eventKeyTail"');
    for (let level = 0; level < highestLevel && mergeLevel(connection, level, level + 1); level += 1);
    findRuns();
  }

  return { findRuns, eachHash, seqsWith, write, absorb };
}

interface Piece {
  readonly firstHash: number;
  readonly lastHash: number;
  readonly data: Uint8Array;
}

/** The last piece of the run that begins with this hash or a lower one. */
function pieceOf(connection: SqliteConnection, run: bigint, hash: number): Piece | undefined {
  const row = connection
    .prepare(`SELECT "firstHash", "data" FROM "eventKeyPieces" WHERE "runId" = ? AND "firstHash" <= ?
      ORDER BY "firstHash" DESC, "id" DESC LIMIT 1`)
    .get(run, hash);
  if (row === undefined) return undefined;
  const data = dataOf(row);
  return { firstHash: Number(row['firstHash']), lastHash: lastHashOf(data), data };
}

/** For a hash that begins a piece: its entries may begin in the piece before, and go on in the next. */
function seqsOverPieces(connection: SqliteConnection, run: bigint, hash: number): number[] {
  const before = connection.prepare(`SELECT "data" FROM "eventKeyPieces" WHERE "runId" = ? AND "firstHash" < ?
    ORDER BY "firstHash" DESC, "id" DESC LIMIT 1`);
  const beginning = connection.prepare('SELECT "data" FROM "eventKeyPieces" WHERE "runId" = ? AND "firstHash" = ?');
  return [...before.all(run, hash), ...beginning.all(run, hash)].flatMap((row) => seqsOf(dataOf(row), hash));
}

function dataOf(row: Record<string, unknown>): Uint8Array {
  return row['data'] as Uint8Array;
}

function readTail(connection: SqliteConnection): Entries {
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

function writeRun(connection: SqliteConnection, { hashes, seqs }: Entries, level: number): void {
  const { lastInsertRowid: run } = connection.prepare('INSERT INTO "eventKeyRuns" ("level") VALUES (?)').run(level);
  const insert = connection.prepare('INSERT INTO "eventKeyPieces" ("runId", "firstHash", "data") VALUES (?, ?, ?)');
  for (let start = 0; start < hashes.length; start += piece) {
    const part = { hashes: hashes.subarray(start, start + piece), seqs: seqs.subarray(start, start + piece) };
    insert.run(run, part.hashes[0] ?? 0, bytesOf(part));
  }
}

/** Merges the runs of a level into one of level `into`, once there are enough of them. */
function mergeLevel(connection: SqliteConnection, level: number, into: number): boolean {
  const found = runsOf(connection, level);
  if (found.length < mergedRuns) return false;
  writeRun(connection, taken(connection, found), into);
  return true;
}

function runsOf(connection: SqliteConnection, level: number): bigint[] {
  const rows = connection.prepare('SELECT "id" FROM "eventKeyRuns" WHERE "level" = ? ORDER BY "id"').all(level);
  return rows.map((row) => row['id'] as bigint);
}

/** The entries of the runs, which are deleted. */
function taken(connection: SqliteConnection, found: readonly bigint[]): Entries {
  let whole = noEntries;
  for (const run of found) {
    whole = merged(whole, entriesOfRun(connection, run));
    connection.prepare('DELETE FROM "eventKeyPieces" WHERE "runId" = ?').run(run);
    connection.prepare('DELETE FROM "eventKeyRuns" WHERE "id" = ?').run(run);
  }
  return whole;
}

function entriesOfRun(connection: SqliteConnection, run: bigint): Entries {
  const rows = connection
    .prepare('SELECT "data" FROM "eventKeyPieces" WHERE "runId" = ? ORDER BY "firstHash", "id"')
    .all(run);
  const pieces = rows.map((row) => entriesOf(dataOf(row)));
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
