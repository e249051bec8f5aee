/**
 * What a meter reads of a segment. Rows are selected and given group codes column by column, so that an event costs nanoseconds.
 * The rules are those of calculation's metering, applied once to every text of a column instead of to every event.
 */

import { scaledValueOf } from '../../../../calculation/aggregation.ts';
import { createEventMatcher, propertyText } from '../../../../calculation/metering.ts';
import type { PropertyFilter, PropertyValue } from '../../../../calculation/metering.ts';
import type { UsageDimensions } from '../../../../calculation/specifiers.ts';
import type { MeterRules } from '../../../../calculation/usage-fold.ts';
import { addCell, type Cell, type Cells, type Coefficient, rescaled, sumOf } from './cells.ts';
import type { ChosenRows } from './segment-rows.ts';
import { decimalTextOf, primitiveOf, type Segment } from './segment.ts';

/** What a meter asks of segments. */
export interface SegmentQuery {
  readonly rules: MeterRules;
  readonly dimensions: UsageDimensions;
  readonly nameOf: (nameId: number) => string;
  /** Whether the meter counts events of this name; undefined if it counts all. */
  readonly wantsName: ((nameId: number) => boolean) | undefined;
}

/** Makes the query of a meter, for any number of segments. */
export function createSegmentQuery(
  { rules, dimensions }: Pick<SegmentQuery, 'rules' | 'dimensions'>,
  nameOf: (nameId: number) => string,
): SegmentQuery {
  const { include, exclude } = rules.eventTypeFilter;
  if (include.length === 0 && exclude.length === 0) return { rules, dimensions, nameOf, wantsName: undefined };
  const matches = createEventMatcher({ ...rules, propertyFilters: [] });
  // Indexed by the id of the name, because every event of a tail is tested.
  const wanted: boolean[] = [];
  const wantsName = (nameId: number): boolean =>
    (wanted[nameId] ??= matches({ eventName: nameOf(nameId), properties: {} }));
  return { rules, dimensions, nameOf, wantsName };
}

/** Whether rows of events have to be read, because the segment leaves out a column that the query needs. */
export function lacksColumn({ properties }: Segment, { rules, dimensions }: SegmentQuery): boolean {
  const names = [
    rules.aggregationKey ?? '',
    ...rules.groupKeys,
    ...dimensions.propertyKeys,
    ...rules.propertyFilters.map(({ name }) => name),
  ];
  return names.some((name) => properties.get(name)?.kind === 'leftOut');
}

/** Adds to `cells` what the meter counts of the chosen rows. Not for a segment that `lacksColumn`. */
export function foldSegment(segment: Segment, query: SegmentQuery, chosen: ChosenRows, cells: Cells): void {
  const grouped = groupRows(segment, query, chosen);
  if (grouped.rows.length === 0) return;
  for (const [group, total] of accumulate(grouped, { segment, rules: query.rules })) {
    addCell(cells, grouped.keyOf(group), total, query.rules.aggregationType);
  }
}

/** Rows, and the group number of each: that of its combination. */
interface GroupedRows {
  readonly rows: Int32Array;
  /** For the row at the same place in `rows`. */
  readonly groups: Int32Array;
  /** Above every group number. */
  readonly count: number;
}

/** The chosen rows that the meter counts; `keyOf` gives the cell's key for a group number. */
export function groupRows(
  segment: Segment,
  query: SegmentQuery,
  chosen: ChosenRows,
): GroupedRows & { readonly keyOf: (group: number) => string } {
  let rows = chosen.ofNames(query);
  for (const filter of query.rules.propertyFilters) {
    if (rows.length > 0) rows = keptRows(rows, propertyTest(segment, filter));
  }
  const groups = new Int32Array(rows.length);
  // Columns are unpacked on first access, which is not needed if no row is chosen.
  const axes = rows.length === 0 ? [] : axesOf(segment, query);
  const { count, placesOf } = assignGroups(groups, rows, axes);
  const textOfPlaces = createKeys(axes, query);
  return { rows, groups, count, keyOf: (group) => textOfPlaces(placesOf(group)) };
}

/** One dimension: a code for each row, and the text of each code; null if the property is missing. */
interface Axis {
  readonly codes: Float64Array | undefined;
  readonly texts: readonly (string | null)[];
}

const nothing: Axis = { codes: undefined, texts: [null] };

/** Event name, properties, group keys: the order of a cell's key. */
function axesOf(segment: Segment, { rules, dimensions, nameOf }: SegmentQuery): Axis[] {
  const name = dimensions.needsEventName ? axisOfValues(segment.fixed.nameId, nameOf) : { ...nothing, texts: [''] };
  const properties = dimensions.propertyKeys.map((key) => propertyAxis(segment, key));
  const groups = rules.groupKeys.map((key) => withoutAbsence(propertyAxis(segment, key)));
  return [name, ...properties, ...groups];
}

function propertyAxis({ properties }: Segment, name: string): Axis {
  const column = properties.get(name);
  if (column === undefined || column.kind === 'leftOut') return nothing;
  if (column.kind === 'decimal') {
    return axisOfValues(column.values, (value) => (Number.isNaN(value) ? null : decimalTextOf(value, column.scale)));
  }
  return unified({
    codes: column.values,
    texts: column.texts.map((text, place) => (place === 0 ? null : textOf(text))),
  });
}

/** The text by which metering compares a property with this JSON text. */
function textOf(json: string): string {
  return propertyText({ value: primitiveOf(json) }, 'value') ?? '';
}

function axisOfValues(values: Float64Array, toText: (value: number) => string | null): Axis {
  const places = new Map<number, number>();
  const texts: (string | null)[] = [];
  const codes = values.map((value) => {
    let place = places.get(value);
    if (place === undefined) {
      place = texts.push(toText(value)) - 1;
      places.set(value, place);
    }
    return place;
  });
  return { codes, texts };
}

/** A missing group key counts as the group of the empty value (semantics 8). */
function withoutAbsence({ codes, texts }: Axis): Axis {
  return unified({ codes, texts: texts.map((text) => text ?? '') });
}

/** Gives one code to each text, where two spellings in JSON mean the same text. */
function unified(axis: Axis): Axis {
  const { codes, texts } = axis;
  const distinct = [...new Set(texts)];
  if (codes === undefined || distinct.length === texts.length) return axis;
  const placeOf = new Map(distinct.map((text, place) => [text, place]));
  const places = texts.map((text) => placeOf.get(text));
  return { codes: codes.map((code) => places[code] ?? 0), texts: distinct };
}

interface Groups {
  readonly count: number;
  /** The code on each axis. */
  readonly placesOf: (group: number) => readonly number[];
}

/** Numbers all possible combinations; if there are more of them than rows are likely to have, only those that occur. */
function assignGroups(groups: Int32Array, rows: Int32Array, axes: readonly Axis[]): Groups {
  const product = axes.reduce((size, { texts }) => size * texts.length, 1);
  if (product > 65_536) return assignOccurring(groups, rows, axes);
  for (const { codes, texts } of axes) {
    if (codes === undefined || texts.length === 1) continue;
    const size = texts.length;
    for (let place = 0; place < groups.length; place += 1) {
      groups[place] = (groups[place] ?? 0) * size + (codes[rows[place] ?? 0] ?? 0);
    }
  }
  const sizes = axes.map(({ codes, texts }) => (codes === undefined ? 1 : texts.length));
  return {
    count: product,
    placesOf: (group) => {
      const places = sizes.map(() => 0);
      let rest = group;
      for (let axis = sizes.length - 1; axis >= 0; axis -= 1) {
        const size = sizes[axis] ?? 1;
        places[axis] = rest % size;
        rest = Math.floor(rest / size);
      }
      return places;
    },
  };
}

function assignOccurring(groups: Int32Array, rows: Int32Array, axes: readonly Axis[]): Groups {
  const numbers = new Map<string, number>();
  const occurring: number[][] = [];
  for (const [place, row] of rows.entries()) {
    const codes = axes.map((axis) => axis.codes?.[row] ?? 0);
    const key = codes.join(' ');
    let number = numbers.get(key);
    if (number === undefined) {
      number = occurring.push(codes) - 1;
      numbers.set(key, number);
    }
    groups[place] = number;
  }
  return {
    count: occurring.length,
    placesOf: (group) => occurring[group] ?? [],
  };
}

/** Makes keys of cells; each text is written as JSON once, not for each combination. */
function createKeys(axes: readonly Axis[], { dimensions }: SegmentQuery): (places: readonly number[]) => string {
  const texts = axes.map((axis) => axis.texts.map((text) => JSON.stringify(text)));
  const firstGroup = 1 + dimensions.propertyKeys.length;
  return (places) => {
    const chosen = texts.map((own, axis) => own[places[axis] ?? 0]);
    return `[${chosen[0]},[${chosen.slice(1, firstGroup).join()}],[${chosen.slice(firstGroup).join()}]]`;
  };
}

/** The rows that pass the test; an array's own filter takes several times as long. */
function keptRows(rows: Int32Array, test: (row: number) => boolean): Int32Array {
  const kept = new Int32Array(rows.length);
  let count = 0;
  for (let place = 0; place < rows.length; place += 1) {
    const row = rows[place] ?? 0;
    if (!test(row)) continue;
    kept[count] = row;
    count += 1;
  }
  return kept.subarray(0, count);
}

function propertyTest(segment: Segment, filter: PropertyFilter): (row: number) => boolean {
  const { codes, texts } = propertyAxis(segment, filter.name);
  const eventTypeFilter = { include: [], exclude: [] };
  const matches = createEventMatcher({ eventTypeFilter, propertyFilters: [filter] });
  const wanted = texts.map((text) =>
    matches({ eventName: '', properties: text === null ? {} : Object.fromEntries([[filter.name, text]]) }),
  );
  return (row) => wanted[codes?.[row] ?? 0] === true;
}

interface Values {
  /** Indexes into `coefficients`, or the coefficients themselves if that is undefined. */
  readonly values: Float64Array;
  readonly coefficients: readonly (Coefficient | undefined)[] | undefined;
  readonly scale: number;
}

function* accumulate(
  grouped: GroupedRows,
  { segment, rules }: { readonly segment: Segment; readonly rules: MeterRules },
): Generator<[number, Readonly<Cell>]> {
  const counts = new Float64Array(grouped.count);
  if (rules.aggregationType === 'COUNT') {
    for (const group of grouped.groups) counts[group] = (counts[group] ?? 0) + 1;
    for (const [group, count] of counts.entries())
      if (count > 0) yield [group, { coefficient: count, scale: 0, count }];
    return;
  }
  const found = valuesOf(segment, rules.aggregationKey ?? '');
  if (found === undefined) return;
  const results = plainTotals(grouped, counts, { found, rules }) ?? exactTotals(grouped, counts, { found, rules });
  for (const [group, count] of counts.entries()) {
    if (count > 0) yield [group, { coefficient: results[group] ?? 0, scale: found.scale, count }];
  }
}

function valuesOf({ properties }: Segment, key: string): Values | undefined {
  const column = properties.get(key);
  if (column === undefined || column.kind === 'leftOut') return undefined;
  if (column.kind === 'decimal') return { values: column.values, coefficients: undefined, scale: column.scale };
  const quantities = column.texts.map((text, place) => (place === 0 ? undefined : scaledOf(primitiveOf(text))));
  // Not Math.max(...): segments that are read as one may have more texts than a call takes arguments.
  const scale = quantities.reduce((most, quantity) => Math.max(most, quantity?.scale ?? 0), 0);
  const coefficients = quantities.map((quantity) => quantity && rescaled(quantity.coefficient, scale - quantity.scale));
  return { values: column.values, coefficients, scale };
}

function scaledOf(value: PropertyValue): { readonly coefficient: Coefficient; readonly scale: number } | undefined {
  const scaled = scaledValueOf(value);
  if (scaled === undefined) return undefined;
  const isSafe = Number.isSafeInteger(Number(scaled.coefficient));
  return isSafe ? { ...scaled, coefficient: Number(scaled.coefficient) } : scaled;
}

interface Folding {
  readonly found: Values;
  readonly rules: MeterRules;
}

/** Undefined if plain integers could lose a digit; `counts` is then all zeros. */
function plainTotals(
  { rows, groups }: GroupedRows,
  counts: Float64Array,
  { found: { values, coefficients }, rules: { aggregationType } }: Folding,
): Float64Array | undefined {
  if (coefficients?.some((coefficient) => typeof coefficient === 'bigint')) return undefined;
  const plain = coefficients && Float64Array.from(coefficients, (coefficient) => Number(coefficient ?? Number.NaN));
  const results = new Float64Array(counts.length);
  let magnitude = 0;
  for (let place = 0; place < rows.length; place += 1) {
    const stored = values[rows[place] ?? 0] ?? Number.NaN;
    const value = plain === undefined ? stored : (plain[stored] ?? Number.NaN);
    if (Number.isNaN(value)) continue;
    const group = groups[place] ?? 0;
    const result = results[group] ?? 0;
    const count = counts[group] ?? 0;
    counts[group] = count + 1;
    magnitude += Math.abs(value);
    if (aggregationType === 'SUM') results[group] = result + value;
    else if (count === 0 || (aggregationType === 'MAX' ? value > result : value < result)) results[group] = value;
  }
  if (magnitude <= Number.MAX_SAFE_INTEGER || aggregationType !== 'SUM') return results;
  counts.fill(0);
  return undefined;
}

function exactTotals(
  { rows, groups }: GroupedRows,
  counts: Float64Array,
  { found: { values, coefficients }, rules: { aggregationType } }: Folding,
): Coefficient[] {
  const results: Coefficient[] = [];
  for (const [place, group] of groups.entries()) {
    const stored = values[rows[place] ?? 0] ?? Number.NaN;
    const value = coefficients === undefined ? stored : coefficients[stored];
    if (value === undefined || Number.isNaN(value)) continue;
    const result = results[group];
    counts[group] = (counts[group] ?? 0) + 1;
    if (result === undefined) results[group] = value;
    else if (aggregationType === 'SUM') results[group] = sumOf(result, value);
    else if (aggregationType === 'MAX' ? value > result : value < result) results[group] = value;
  }
  return results;
}
