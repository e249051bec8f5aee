/** What exactness gives and what it costs: a recount in integers, and the same fold in floating point. */

import { DatabaseSync } from 'node:sqlite';

import type { UsageReading } from '../src/calculation/usage-atoms.ts';
import { noDimensions } from '../src/calculation/usage-fold.ts';
import { type Cells, readingsOfCells } from '../src/store/backends/sqlite/events/cells.ts';
import { decodeSegment } from '../src/store/backends/sqlite/events/segment-bytes.ts';
import { createSegmentQuery, foldSegment, groupRows } from '../src/store/backends/sqlite/events/segment-fold.ts';
import { chooseRows } from '../src/store/backends/sqlite/events/segment-rows.ts';
import type { DecimalColumn } from '../src/store/backends/sqlite/events/segment.ts';
import { eventAt, millisecondsPerDay } from './event-data.ts';
import { raggedRange } from './event-limits.ts';
import { costOf, type EventService } from './event-service.ts';
import { inTurns } from './measure.ts';
import type { Result } from './report.ts';

/** Compares a cost with a recount in ten-millionths of a dollar: thousandths of a second at 0.0001 per second. */
export async function measureRecount(service: EventService, count: number): Promise<Result[]> {
  const range = raggedRange(3);
  let expected = 0n;
  for (let i = 0; i < count; i += 1) {
    const { customer, timestampEpochMs, properties } = eventAt(i, count);
    if (customer !== 0 || timestampEpochMs < range.from || timestampEpochMs >= range.to) continue;
    expected += BigInt(Math.round(properties.seconds * 1000));
  }
  const { total } = await costOf(service, range);
  const [whole = '', fraction = ''] = total.split('.');
  const difference = BigInt(whole + fraction.padEnd(7, '0')) - expected;
  const name = 'goal 9: difference to a recount in whole numbers';
  return [{ name, measured: Number(difference < 0n ? -difference : difference), unit: 'units', highest: 0 }];
}

/** Sums decimals of the largest customer by two group keys, from the bytes of its days: exactly, and in floating point. */
export async function measureExactFold(file: string): Promise<Result[]> {
  const database = new DatabaseSync(file, { readOnly: true });
  const days = database
    .prepare(`SELECT "data" FROM "eventSegments" WHERE "customerSeq" = (SELECT "customerSeq" FROM "eventSegments"
      GROUP BY "customerSeq" ORDER BY sum("rowCount") DESC LIMIT 1) LIMIT 60`)
    .all()
    .map((row) => row['data'] as Uint8Array);
  database.close();
  const { exact, float } = await inTurns(
    {
      exact: () => millisecondsOf(() => foldExactly(days)),
      float: () => millisecondsOf(() => foldInFloatingPoint(days)),
    },
    { turns: 61, warming: 1 },
  );
  return [
    { name: 'days of the largest customer summed in floating point', measured: float, unit: 'ms' },
    {
      name: 'goal 9: the same days summed exactly',
      measured: exact,
      unit: 'ms',
      ratio: exact / float,
      ratioTo: 'floating point',
      highestRatio: 1.3,
    },
  ];
}

function millisecondsOf(work: () => unknown): number {
  const begin = performance.now();
  work();
  return performance.now() - begin;
}

const rules = {
  aggregationType: 'SUM',
  aggregationKey: 'seconds',
  eventTypeFilter: { include: [], exclude: [] },
  propertyFilters: [],
  groupKeys: ['model', 'region'],
} as const;
const query = createSegmentQuery({ rules, dimensions: noDimensions }, String);
const wholeDay = { from: 0, to: millisecondsPerDay };

function foldExactly(days: readonly Uint8Array[]): readonly UsageReading[] {
  const cells: Cells = new Map();
  for (const day of days) {
    const segment = decodeSegment(day);
    foldSegment(segment, query, chooseRows(segment, wholeDay), cells);
  }
  return readingsOfCells(cells, rules, noDimensions);
}

/** The same fold, with numbers in floating point. */
function foldInFloatingPoint(days: readonly Uint8Array[]): readonly unknown[] {
  const cells = new Map<string, { readonly quantity: number; readonly count: number }>();
  for (const day of days) {
    const segment = decodeSegment(day);
    const { rows, groups, count: groupCount, keyOf } = groupRows(segment, query, chooseRows(segment, wholeDay));
    const { values, scale } = segment.properties.get(rules.aggregationKey) as DecimalColumn;
    const unit = 10 ** scale;
    const quantities = new Float64Array(groupCount);
    const counts = new Float64Array(groupCount);
    for (let place = 0; place < rows.length; place += 1) {
      const group = groups[place] ?? 0;
      const value = values[rows[place] ?? 0] ?? Number.NaN;
      if (Number.isNaN(value)) continue;
      counts[group] = (counts[group] ?? 0) + 1;
      quantities[group] = (quantities[group] ?? 0) + value / unit;
    }
    for (const [group, count] of counts.entries()) {
      if (count === 0) continue;
      const key = keyOf(group);
      const known = cells.get(key);
      const quantity = (quantities[group] ?? 0) + (known?.quantity ?? 0);
      cells.set(key, { quantity, count: count + (known?.count ?? 0) });
    }
  }
  return [...cells].map(([key, { quantity, count }]) => {
    const [, , groups] = JSON.parse(key) as [string, string[], string[]];
    return {
      groupValues: Object.fromEntries(rules.groupKeys.map((name, index) => [name, groups[index]])),
      quantity,
      count,
    };
  });
}
