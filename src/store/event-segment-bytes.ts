/** A segment as bytes and back: a header in JSON, then each column in as few bytes a row as its values need. */

import {
  type CodeColumn,
  type DecimalColumn,
  fixedColumns,
  type PropertyColumn,
  type Segment,
} from './event-segment.ts';

/** How a column of whole numbers lies in the bytes: `lowest + stored`, in 0 (all are the lowest), 1, 2, 4 or 8 bytes. */
type Layout = readonly [lowest: number, width: number];

type PropertyHeader =
  | readonly [name: string, kind: 'd', scale: number, layout: Layout, presence: Layout]
  | readonly [name: string, kind: 'c', texts: readonly string[], layout: Layout]
  | readonly [name: string, kind: 'x'];

type Header = readonly [rowCount: number, fixed: readonly Layout[], properties: readonly PropertyHeader[]];

const lengthBytes = 4;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

const arrays = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: Float64Array } as const;

export function encodeSegment({ rowCount, fixed, properties }: Segment): Uint8Array {
  const parts: Uint8Array[] = [];
  const write = (values: Float64Array): Layout => {
    const { layout, bytes } = packed(values);
    parts.push(bytes);
    return layout;
  };
  const header: Header = [
    rowCount,
    fixedColumns.map((name) => write(fixed[name])),
    [...properties].map(([name, column]) => propertyHeader(name, column, write)),
  ];
  const text = encoder.encode(JSON.stringify(header));
  const whole = new Uint8Array(lengthBytes + text.length + parts.reduce((sum, part) => sum + part.length, 0));
  new DataView(whole.buffer).setUint32(0, text.length);
  whole.set(text, lengthBytes);
  let offset = lengthBytes + text.length;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

function propertyHeader(name: string, column: PropertyColumn, write: (values: Float64Array) => Layout): PropertyHeader {
  if (column.kind === 'leftOut') return [name, 'x'];
  if (column.kind === 'codes') return [name, 'c', column.texts, write(column.values)];
  const present = column.values.map((value) => (Number.isNaN(value) ? 0 : 1));
  const filled = column.values.map((value) => (Number.isNaN(value) ? 0 : value));
  return [name, 'd', column.scale, write(filled), write(present)];
}

function packed(values: Float64Array): { readonly layout: Layout; readonly bytes: Uint8Array } {
  let lowest = Infinity;
  let highest = -Infinity;
  for (const value of values) {
    if (value < lowest) lowest = value;
    if (value > highest) highest = value;
  }
  const width = widthOf(highest - lowest);
  if (width === 0) return { layout: [values.length === 0 ? 0 : lowest, 0], bytes: new Uint8Array(0) };
  const stored = new arrays[width](values.length);
  const base = width === 8 ? 0 : lowest;
  for (let row = 0; row < values.length; row += 1) stored[row] = (values[row] ?? 0) - base;
  return { layout: [base, width], bytes: new Uint8Array(stored.buffer) };
}

function widthOf(range: number): 0 | 1 | 2 | 4 | 8 {
  if (!(range > 0)) return 0;
  if (range < 2 ** 8) return 1;
  if (range < 2 ** 16) return 2;
  return range < 2 ** 32 ? 4 : 8;
}

/** Columns are unpacked when they are first looked at. Throws for bytes that no segment has. */
export function decodeSegment(bytes: Uint8Array): Segment {
  const textLength = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  const text = decoder.decode(bytes.subarray(lengthBytes, lengthBytes + textLength));
  const [rowCount, fixedLayouts, propertyHeaders] = JSON.parse(text) as Header;
  let offset = lengthBytes + textLength;
  const next = (layout: Layout): Column => {
    const start = offset;
    offset += layout[1] * rowCount;
    return new Column(bytes, { start, rowCount, layout });
  };
  const fixed = new FixedColumns(fixedColumns.map((_, index) => next(fixedLayouts[index] ?? [0, 0])));
  const properties = new Map(propertyHeaders.map((header) => [header[0], decodeProperty(header, next)]));
  if (offset !== bytes.length) throw new Error(`a segment of ${rowCount} events has ${bytes.length} bytes`);
  return { rowCount, fixed, properties };
}

function decodeProperty(header: PropertyHeader, next: (layout: Layout) => Column): PropertyColumn {
  if (header[1] === 'x') return { kind: 'leftOut' };
  if (header[1] === 'c') {
    const [, , texts, layout] = header;
    return new StoredCodes(texts, next(layout));
  }
  const [, , scale, layout, presence] = header;
  return new StoredDecimals(scale, next(layout), next(presence));
}

interface Place {
  readonly start: number;
  readonly rowCount: number;
  readonly layout: Layout;
}

/** Many segments have few rows: classes, whose getters cost nothing until a column is looked at. */
class Column {
  readonly #bytes: Uint8Array;
  readonly #place: Place;
  #values: Float64Array | undefined;

  constructor(bytes: Uint8Array, place: Place) {
    this.#bytes = bytes;
    this.#place = place;
  }

  /** Whether every row has this value. */
  isAll(value: number): boolean {
    const [lowest, width] = this.#place.layout;
    return width === 0 && lowest === value;
  }

  get values(): Float64Array {
    this.#values ??= unpacked(this.#bytes, this.#place);
    return this.#values;
  }
}

class FixedColumns {
  readonly #columns: readonly Column[];

  /** In the order of `fixedColumns`. */
  constructor(columns: readonly Column[]) {
    this.#columns = columns;
  }

  get eventSeq(): Float64Array {
    return this.#valuesAt(0);
  }

  get millisecond(): Float64Array {
    return this.#valuesAt(1);
  }

  get nameId(): Float64Array {
    return this.#valuesAt(2);
  }

  get contractSeq(): Float64Array {
    return this.#valuesAt(3);
  }

  get isLate(): Float64Array {
    return this.#valuesAt(4);
  }

  #valuesAt(index: number): Float64Array {
    return this.#columns[index]?.values ?? noValues;
  }
}

const noValues = new Float64Array(0);

class StoredCodes implements CodeColumn {
  readonly kind = 'codes';
  readonly texts: readonly string[];
  readonly #column: Column;

  constructor(texts: readonly string[], column: Column) {
    this.texts = texts;
    this.#column = column;
  }

  get values(): Float64Array {
    return this.#column.values;
  }
}

class StoredDecimals implements DecimalColumn {
  readonly kind = 'decimal';
  readonly scale: number;
  readonly #column: Column;
  readonly #presence: Column;
  #values: Float64Array | undefined;

  constructor(scale: number, column: Column, presence: Column) {
    this.scale = scale;
    this.#column = column;
    this.#presence = presence;
  }

  get values(): Float64Array {
    this.#values ??= this.#presence.isAll(1) ? this.#column.values : this.#onlyPresent();
    return this.#values;
  }

  #onlyPresent(): Float64Array {
    const isPresent = this.#presence.values;
    return this.#column.values.map((value, row) => (isPresent[row] === 1 ? value : Number.NaN));
  }
}

function unpacked(bytes: Uint8Array, { start, rowCount, layout: [lowest, width] }: Place): Float64Array {
  const values = new Float64Array(rowCount);
  if (width === 0) return values.fill(lowest);
  // Most columns are this narrow, and short: views of them would cost more than their values.
  if (width === 1) {
    for (let row = 0; row < rowCount; row += 1) values[row] = lowest + (bytes[start + row] ?? 0);
    return values;
  }
  const stored = new arrays[width as 2 | 4 | 8](bytes.slice(start, start + width * rowCount).buffer);
  for (let row = 0; row < rowCount; row += 1) values[row] = lowest + (stored[row] ?? 0);
  return values;
}
