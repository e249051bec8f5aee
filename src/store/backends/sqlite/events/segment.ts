/**
 * Events of one customer, for one or a few days, as columns: what meters read, in a few bytes per event. A property is a column
 * of scaled integers, or of codes with the JSON texts that they stand for; a property whose texts are nearly all different is
 * left out. A segment is never the source: it repeats what the rows of events say, and can be rebuilt from them.
 */

import { exactNumber, reviveExactJson, textOfNumber } from '../../../../exact-json.ts';
import type { ExactNumber } from '../../../../exact-json.ts';

/** A segment begins with a UTC day. */
export const millisecondsPerDay = 86_400_000;

/** An event, as far as meters look at it. */
export interface SegmentEvent {
  readonly eventSeq: number;
  /** Since the beginning of the segment's first day. */
  readonly millisecond: number;
  readonly nameId: number;
  /** 0 if the event names no contract. */
  readonly contractSeq: number;
  readonly isLate: boolean;
  readonly propertiesJson: string;
}

/** `values` are the coefficients of numbers `coefficient / 10^scale`; NaN if the event lacks the property. */
export interface DecimalColumn {
  readonly kind: 'decimal';
  readonly scale: number;
  readonly values: Float64Array;
}

/** `values` are indexes into `texts`, which are JSON as written; index 0 stands for a missing property. */
export interface CodeColumn {
  readonly kind: 'codes';
  readonly texts: readonly string[];
  readonly values: Float64Array;
}

/** The property exists, but only the rows of events hold its values. */
interface LeftOutColumn {
  readonly kind: 'leftOut';
}

/** A column holds numbers while all of its values are short ones, then codes, then is left out; it never changes back. */
export type PropertyColumn = DecimalColumn | CodeColumn | LeftOutColumn;

/** The columns that every event has; `isLate` is 1 or 0. */
export const fixedColumns = ['eventSeq', 'millisecond', 'nameId', 'contractSeq', 'isLate'] as const;
export type FixedColumn = (typeof fixedColumns)[number];

/** The same row of every column belongs to one event. */
export interface Segment {
  readonly rowCount: number;
  readonly fixed: Readonly<Record<FixedColumn, Float64Array>>;
  /** The value of a column in every row, if it is known without looking at them. */
  readonly valueOfAll?: (column: FixedColumn) => number | undefined;
  /** The rows of an hour, ascending; the first hour of the segment is 0. */
  readonly rowsOfHour?: (hour: number) => Int32Array;
  readonly properties: ReadonlyMap<string, PropertyColumn>;
}

const mostDecimals = 15;
/** How many characters the texts of a column may have: with more, they would double what the rows hold. */
const freeCharacters = 1024;
const charactersPerRow = 8;

const noColumns = new Float64Array(0);

/** The segment to which the first events of a day are appended. */
export const emptySegment: Segment = {
  rowCount: 0,
  fixed: { eventSeq: noColumns, millisecond: noColumns, nameId: noColumns, contractSeq: noColumns, isLate: noColumns },
  properties: new Map(),
};

/** The segment with these events appended. */
export function appendEvents(segment: Segment, events: readonly SegmentEvent[]): Segment {
  const rowCount = segment.rowCount + events.length;
  const fixed = grown(segment.fixed, events, rowCount);
  const builders = new Map([...segment.properties].map(([name, column]) => [name, builderOf(column, rowCount)]));
  for (const [index, event] of events.entries()) {
    const properties = propertiesOf(event.propertiesJson);
    for (const name of Object.keys(properties)) {
      let builder = builders.get(name);
      if (builder === undefined) {
        builder = newBuilder(typeof properties[name] === 'number', rowCount);
        builders.set(name, builder);
      }
      put(builder, segment.rowCount + index, properties[name] as Primitive);
    }
  }
  const properties = new Map([...builders].map(([name, builder]) => [name, columnOf(builder, rowCount)]));
  return { rowCount, fixed, properties };
}

/** The segment without these events. */
export function removeEvents(segment: Segment, eventSeqs: ReadonlySet<number>): Segment {
  const kept: number[] = [];
  for (const [row, eventSeq] of segment.fixed.eventSeq.entries()) if (!eventSeqs.has(eventSeq)) kept.push(row);
  const pick = (values: Float64Array) => Float64Array.from(kept, (row) => values[row] ?? Number.NaN);
  const fixed = Object.fromEntries(fixedColumns.map((name) => [name, pick(segment.fixed[name])])) as Record<
    FixedColumn,
    Float64Array
  >;
  const properties = new Map(
    [...segment.properties].map(([name, column]): [string, PropertyColumn] => [name, withValues(column, pick)]),
  );
  return { rowCount: kept.length, fixed, properties };
}

function withValues(column: PropertyColumn, pick: (values: Float64Array) => Float64Array): PropertyColumn {
  if (column.kind === 'leftOut') return column;
  const values = pick(column.values);
  // Not spread: decoded columns have getters.
  return column.kind === 'decimal'
    ? { kind: 'decimal', scale: column.scale, values }
    : { kind: 'codes', texts: column.texts, values };
}

/** The JSON text of a property in one row; undefined if it is missing. Not for columns that are left out. */
export function textAt(column: DecimalColumn | CodeColumn, row: number): string | undefined {
  const value = column.values[row] ?? Number.NaN;
  if (column.kind === 'decimal') return Number.isNaN(value) ? undefined : decimalTextOf(value, column.scale);
  return value === 0 ? undefined : column.texts[value];
}

/** The one text of a coefficient; a column takes only numbers that were written as exactly this text. */
export function decimalTextOf(coefficient: number, scale: number): string {
  return String(scale === 0 ? coefficient : coefficient / 10 ** scale);
}

type Primitive = string | boolean | null | ExactNumber;

/** Parsed plainly if that loses no digit, which holds if the same text comes out again. */
function propertiesOf(json: string): Readonly<Record<string, unknown>> {
  const plain = JSON.parse(json) as Record<string, unknown>;
  return JSON.stringify(plain) === json ? plain : (reviveExactJson(json) as Record<string, unknown>);
}

interface Builder {
  kind: PropertyColumn['kind'];
  scale: number;
  values: Float64Array;
  texts: string[];
  places: Map<string, number>;
  characters: number;
}

function newBuilder(isNumber: boolean, rowCount: number): Builder {
  const values = new Float64Array(rowCount);
  if (isNumber) values.fill(Number.NaN);
  return { kind: isNumber ? 'decimal' : 'codes', scale: 0, values, texts: [''], places: new Map(), characters: 0 };
}

function builderOf(column: PropertyColumn, rowCount: number): Builder {
  const builder = newBuilder(column.kind === 'decimal', column.kind === 'leftOut' ? 0 : rowCount);
  builder.kind = column.kind;
  if (column.kind === 'leftOut') return builder;
  builder.values.set(column.values);
  if (column.kind === 'decimal') return Object.assign(builder, { scale: column.scale });
  builder.texts = [...column.texts];
  for (const [place, text] of column.texts.entries()) {
    if (place > 0) builder.places.set(text, place);
    builder.characters += text.length;
  }
  return builder;
}

function columnOf({ kind, scale, values, texts, characters }: Builder, rowCount: number): PropertyColumn {
  if (kind === 'decimal') return { kind, scale, values };
  const isTooMuch = characters > freeCharacters + charactersPerRow * rowCount;
  return kind === 'leftOut' || isTooMuch ? { kind: 'leftOut' } : { kind, texts, values };
}

function put(builder: Builder, row: number, value: Primitive): void {
  if (builder.kind === 'leftOut') return;
  if (builder.kind === 'decimal') {
    if (typeof value === 'number' && putNumber(builder, row, value)) return;
    turnIntoCodes(builder, row);
  }
  builder.values[row] = placeOf(builder, jsonText(value));
}

/** False if the number has no short decimal text, or too many digits beside the others of its column. */
function putNumber(builder: Builder, row: number, value: number): boolean {
  let coefficient = Math.round(value * 10 ** builder.scale);
  if (coefficient / 10 ** builder.scale !== value) {
    const text = String(value);
    const decimals = text.includes('e') ? Number.NaN : text.length - text.indexOf('.') - 1;
    if (!(decimals <= mostDecimals) || !rescale(builder, decimals)) return false;
    coefficient = Math.round(value * 10 ** builder.scale);
    if (coefficient / 10 ** builder.scale !== value) return false;
  }
  // Up to 15 digits, a decimal is the one shortest text of its number; beyond, another text might come out.
  if (Math.abs(coefficient) >= 1e15 || Object.is(value, -0)) return false;
  if (value !== 0 && Math.abs(value) < 1e-6) return false;
  builder.values[row] = coefficient;
  return true;
}

function rescale(builder: Builder, scale: number): boolean {
  if (scale <= builder.scale) return false;
  const factor = 10 ** (scale - builder.scale);
  if (builder.values.some((value) => Math.abs(value) * factor >= 1e15)) return false;
  for (const [row, value] of builder.values.entries()) builder.values[row] = value * factor;
  builder.scale = scale;
  return true;
}

function turnIntoCodes(builder: Builder, rows: number): void {
  const coefficients = builder.values;
  builder.kind = 'codes';
  builder.values = new Float64Array(coefficients.length);
  for (let row = 0; row < rows; row += 1) {
    const coefficient = coefficients[row] ?? Number.NaN;
    if (Number.isNaN(coefficient)) continue;
    builder.values[row] = placeOf(builder, decimalTextOf(coefficient, builder.scale));
  }
}

function placeOf(builder: Builder, text: string): number {
  const known = builder.places.get(text);
  if (known !== undefined) return known;
  const place = builder.texts.length;
  builder.texts.push(text);
  builder.places.set(text, place);
  builder.characters += text.length;
  return place;
}

function jsonText(value: Primitive): string {
  if (typeof value === 'string') return JSON.stringify(value);
  return typeof value === 'boolean' || value === null ? String(value) : textOfNumber(value);
}

/** The value of a column's JSON text, with its digits. */
export function primitiveOf(text: string): Primitive {
  const [first = ''] = text;
  if (first === '"') return JSON.parse(text) as string;
  return first === 't' || first === 'f' || first === 'n' ? (JSON.parse(text) as boolean | null) : exactNumber(text);
}

/** Names each column, because looking up a member by a changing name costs many times as much. */
function grown(fixed: Segment['fixed'], events: readonly SegmentEvent[], rowCount: number): Segment['fixed'] {
  const all = (values: Float64Array) => {
    const longer = new Float64Array(rowCount);
    longer.set(values);
    return longer;
  };
  const eventSeq = all(fixed.eventSeq);
  const millisecond = all(fixed.millisecond);
  const nameId = all(fixed.nameId);
  const contractSeq = all(fixed.contractSeq);
  const isLate = all(fixed.isLate);
  let row = rowCount - events.length;
  for (const event of events) {
    eventSeq[row] = event.eventSeq;
    millisecond[row] = event.millisecond;
    nameId[row] = event.nameId;
    contractSeq[row] = event.contractSeq;
    isLate[row] = event.isLate ? 1 : 0;
    row += 1;
  }
  return { eventSeq, millisecond, nameId, contractSeq, isLate };
}
