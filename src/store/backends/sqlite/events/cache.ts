/**
 * Caches segments, totals and names as they were last read, for a process that answers many questions. Once committed, the
 * content of an id and a revision never changes, because revisions only rise; nor does a name. A transaction that has changed
 * events or kept totals caches nothing that it reads: it may be undone, and its ids and revisions given to something else.
 */

import { keepNewest } from '../../../../once.ts';
import { compareText } from '../../../../text-order.ts';
import { decodeSegment } from './segment-bytes.ts';
import type { Segment } from './segment.ts';
import type { SqliteConnection } from '../connection.ts';
import { createHeld } from '../../held.ts';
import { nameReader } from './ids.ts';
import type { HourlyTotals, Totals } from './totals.ts';

export interface SegmentVersion {
  readonly id: number;
  readonly revision: number;
}

export interface ReadingCache {
  /** A segment that is read `isOnce` is not added to the cache. */
  readonly segment: (version: SegmentVersion, isOnce?: boolean) => Segment;
  readonly eventName: (nameId: number) => string;
  /** Undefined if no totals are kept. */
  readonly totals: (version: SegmentVersion, ruleId: bigint | undefined) => Totals | undefined;
  /** By hour, as `compute` gives them; undefined if they would not be held, and are not. */
  readonly hours: (
    version: SegmentVersion,
    ruleId: bigint | undefined,
    compute: () => HourlyTotals,
  ) => HourlyTotals | undefined;
  /** Notes that the running transaction changes events, or keeps totals. */
  readonly noteChange: () => void;
}

/** Events in the cached segments, some 100 bytes each once their columns are unpacked. */
const heldEvents = 400_000;
/** A segment without any event takes as much memory as this many events. */
const eventsOfBareSegment = 40;
/** Characters of the cached totals, some 2 bytes each: a day can have thousands of combinations. */
const heldCharacters = 40_000_000;
/** Totals without any combination take as much memory as this many characters. */
const charactersOfBareTotals = 400;
/** The same for the totals of hours. */
const heldHourlyCharacters = 20_000_000;
/** The same for the lists of keys that totals share. */
const heldKeyCharacters = 4_000_000;
const heldNames = 4_096;

export function createReadingCache(connection: SqliteConnection): ReadingCache {
  const segments = createHeld<string, Segment>(heldEvents);
  const totals = createHeld<string, Totals>(heldCharacters);
  const hours = createHeld<string, HourlyTotals>(heldHourlyCharacters);
  const names = new Map<number, string>();
  const withSharedKeys = createKeySharing();
  let handle = connection.handleCount;
  let changed = 0;

  const isCommitted = (): boolean => changed !== connection.transactionCount;

  /** Another handle may belong to another file. */
  function forgetOtherFile(): void {
    if (handle === connection.handleCount) return;
    handle = connection.handleCount;
    segments.clear();
    totals.clear();
    hours.clear();
    names.clear();
  }

  return {
    segment({ id, revision }, isOnce) {
      forgetOtherFile();
      const key = `${id} ${revision}`;
      const known = segments.get(key);
      if (known !== undefined) return known;
      const segment = loadSegment(connection, id);
      if (isOnce !== true && isCommitted()) segments.add(key, segment, segment.rowCount + eventsOfBareSegment);
      return segment;
    },
    eventName(nameId) {
      forgetOtherFile();
      const known = names.get(nameId);
      if (known !== undefined) return known;
      const name = nameReader(connection)(nameId);
      if (!isCommitted()) return name;
      names.set(nameId, name);
      keepNewest(names, heldNames);
      return name;
    },
    totals({ id, revision }, ruleId) {
      if (ruleId === undefined) return undefined;
      forgetOtherFile();
      const key = `${id} ${revision} ${ruleId}`;
      const known = totals.get(key);
      if (known !== undefined) return known;
      const kept = connection
        .prepare('SELECT "cells" FROM "eventTotals" WHERE "segmentId" = ? AND "ruleId" = ? AND "revision" = ?')
        .get(id, ruleId, revision);
      if (kept === undefined) return undefined;
      const cells = kept['cells'] as string;
      const found = withSharedKeys(JSON.parse(cells) as Totals);
      if (isCommitted()) totals.add(key, found, cells.length + charactersOfBareTotals);
      return found;
    },
    hours({ id, revision }, ruleId, compute) {
      if (ruleId === undefined) return undefined;
      forgetOtherFile();
      const key = `${id} ${revision} ${ruleId}`;
      const known = hours.get(key);
      if (known !== undefined || !isCommitted()) return known;
      const found = compute().map(withSharedKeys);
      hours.add(key, found, JSON.stringify(found).length + (1 + found.length) * charactersOfBareTotals);
      return found;
    },
    noteChange() {
      changed = connection.transactionCount;
    },
  };
}

/**
 * Gives totals of the same combinations one list of keys, whatever the order in which they were found: a reading then looks
 * them up once for all of its days.
 */
function createKeySharing(): (totals: Totals) => Totals {
  const lists = createHeld<string, readonly string[]>(heldKeyCharacters);
  return (totals) =>
    totals.map(([contractSeq, scales, keys, coefficients, counts]) => {
      const places = [...keys.keys()].toSorted((one, other) => compareText(keys[one] ?? '', keys[other] ?? ''));
      const inOrder = <T>(values: readonly T[]): T[] => places.map((place) => values[place] as T);
      const sorted = inOrder(keys);
      const text = sorted.join('\n');
      const shared = lists.get(text) ?? sorted;
      if (shared === sorted) lists.add(text, sorted, text.length + charactersOfBareTotals);
      return [contractSeq, inOrder(scales), shared, inOrder(coefficients), inOrder(counts)];
    });
}

function loadSegment(connection: SqliteConnection, id: number): Segment {
  const row = connection.prepare('SELECT "data" FROM "eventSegments" WHERE "id" = ?').get(id);
  return decodeSegment(row?.['data'] as Uint8Array);
}
