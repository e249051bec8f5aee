/** Totals of a segment for the rules of a meter, kept as long as the segment does not change. */

import type { MeterRules } from '../../../../calculation/usage-fold.ts';
import type { Cells } from './cells.ts';
import { foldSegment, type SegmentQuery } from './segment-fold.ts';
import { millisecondsPerHour } from './segment-hours.ts';
import { chooseByContract, type ChosenRows } from './segment-rows.ts';
import type { Segment } from './segment.ts';
import type { EventAggregation } from '../../../event-store.ts';
import type { SqliteConnection } from '../connection.ts';

/** Totals that a reader computed, for a later writer to keep. */
export interface FoundTotals {
  readonly rules: string;
  readonly segmentId: bigint;
  readonly revision: bigint;
  readonly cells: string;
}

type TotalRules = Pick<EventAggregation, 'rules' | 'dimensions'>;

/** One text for everything that totals depend on. */
export function textOfRules({ rules, dimensions }: TotalRules): string {
  const { aggregationType, aggregationKey = null, eventTypeFilter, propertyFilters, groupKeys } = rules;
  const { include, exclude } = eventTypeFilter;
  const filters = propertyFilters.map((filter) => [
    filter.name,
    filter.exists ?? null,
    filter.include ?? [],
    filter.exclude ?? [],
  ]);
  const { needsEventName, propertyKeys } = dimensions;
  return JSON.stringify([
    aggregationType,
    aggregationKey,
    include,
    exclude,
    filters,
    groupKeys,
    needsEventName,
    propertyKeys,
  ]);
}

type RulesText = [
  MeterRules['aggregationType'],
  string | null,
  string[],
  string[],
  [string, boolean | null, string[], string[]][],
  string[],
  boolean,
  string[],
];

export function rulesOfText(text: string): TotalRules {
  const [aggregationType, aggregationKey, include, exclude, filters, groupKeys, needsEventName, propertyKeys] =
    JSON.parse(text) as RulesText;
  const propertyFilters = filters.map(([name, exists, wanted, unwanted]) => ({
    name,
    exists: exists ?? undefined,
    include: wanted,
    exclude: unwanted,
  }));
  const eventTypeFilter = { include, exclude };
  return {
    rules: { aggregationType, aggregationKey, eventTypeFilter, propertyFilters, groupKeys },
    dimensions: { needsEventName, propertyKeys },
  };
}

/** The rows of each contract that the events name; 0 stands for none. */
export type ContractRows = readonly (readonly [contractSeq: number, rows: ChosenRows])[];

export function rowsOfContracts(segment: Segment): ContractRows {
  return chooseByContract(segment, { from: 0, to: Infinity });
}

/** Per contract that the events name (0 for none): scales, keys, coefficients (texts beyond 2^53), and counts. */
export type Totals = readonly (readonly [
  contractSeq: number,
  scales: readonly number[],
  keys: readonly string[],
  coefficients: readonly (number | string)[],
  counts: readonly number[],
])[];

export function computeTotals(segment: Segment, query: SegmentQuery, contracts: ContractRows): Totals {
  return contracts.map(([contractSeq, rows]) => {
    const cells: Cells = new Map();
    foldSegment(segment, query, rows, cells);
    const values = [...cells.values()];
    return [
      contractSeq,
      values.map(({ scale }) => scale),
      [...cells.keys()],
      values.map(({ coefficient }) => (typeof coefficient === 'number' ? coefficient : coefficient.toString())),
      values.map(({ count }) => count),
    ];
  });
}

/** By hour, from the first of the segment; empty if reading them would cost no less than reading rows. */
export type HourlyTotals = readonly Totals[];

/** An hour's total of a combination takes as long to add as so many rows do to read. */
const rowsPerTotal = 4;

export function computeHourlyTotals(segment: Segment, query: SegmentQuery, hours: number): HourlyTotals {
  const totals = Array.from({ length: hours }, (_, hour) => {
    const from = hour * millisecondsPerHour;
    return computeTotals(segment, query, chooseByContract(segment, { from, to: from + millisecondsPerHour }));
  });
  const count = totals.flat().reduce((sum, [, , keys]) => sum + keys.length, 0);
  return count * rowsPerTotal > segment.rowCount ? [] : totals;
}

/** Keeps those totals whose segment still has the same revision. Belongs in a transaction for writing. */
export function keepTotals(connection: SqliteConnection, found: readonly FoundTotals[]): void {
  for (const { rules, segmentId, revision, cells } of found) {
    connection.prepare('INSERT INTO "eventRules" ("rules") VALUES (?) ON CONFLICT DO NOTHING').run(rules);
    connection
      .prepare(`INSERT INTO "eventTotals" ("segmentId", "ruleId", "revision", "cells")
        SELECT "segment"."id", "rule"."id", "segment"."revision", ? FROM "eventSegments" AS "segment", "eventRules" AS "rule"
        WHERE "segment"."id" = ? AND "segment"."revision" = ? AND "rule"."rules" = ?
        ON CONFLICT DO UPDATE SET "revision" = excluded."revision", "cells" = excluded."cells"`)
      .run(cells, segmentId, revision, rules);
  }
}
