/**
 * Encodes and decodes segments: a header in JSON, then each column in as few bytes per row as its values need. Segments that
 * are alike are read as one. A customer with a few events a day has a segment for each day, and folding thirty of them
 * separately would cost thirty times as much as folding all of their rows together.
 */

import {
  type CodeColumn,
  type DecimalColumn,
  type FixedColumn,
  fixedColumns,
  type PropertyColumn,
  type Segment,
} from './segment.ts';
import { sortedByHour } from './segment-hours.ts';

/** How a column of integers is stored: `lowest + stored`, in 0 (all are the lowest), 1, 2, 4 or 8 bytes. */
type Layout = readonly [lowest: number, width: number];

type PropertyHeader =
  | readonly [name: string, kind: 'd', scale: number, layout: Layout, presence: Layout]
  | readonly [name: string, kind: 'c', texts: readonly string[], layout: Layout]
  | readonly [name: string, kind: 'x'];

type Header = readonly [rowCount: number, fixed: readonly Layout[], properties: readonly PropertyHeader[]];

const lengthBytes = 4;
const encoder = new TextEncoder();
/** Columns are stored in the byte order of the machine that wrote them. */
const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

const arrays = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: Float64Array } as const;

/** The bytes of a segment; `decodeSegment` restores it on a machine of the same byte order. */
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
  for (let row = 0; row < values.length; row += 1) {
    const value = values[row] ?? 0;
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

/** A stored segment with its header decoded. */
export interface PackedSegment {
  readonly view: DataView;
  readonly rowCount: number;
  readonly properties: readonly PropertyHeader[];
  /** Of all columns in order: the fixed ones, then one or two for each property. */
  readonly layouts: readonly Layout[];
  /** Where the first column begins. */
  readonly start: number;
}

/** Decodes the header. Throws for bytes that are not a segment. */
export function readHeader(bytes: Uint8Array): PackedSegment {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const start = lengthBytes + view.getUint32(0);
  const [rowCount, fixed, properties] = JSON.parse(buffer.toString('utf8', lengthBytes, start)) as Header;
  const layouts = [...fixed];
  for (const header of properties) {
    if (header[1] === 'c') layouts.push(header[3]);
    else if (header[1] === 'd') layouts.push(header[3], header[4]);
  }
  const packed = { view, rowCount, properties, layouts, start };
  if (startOf(packed, layouts.length) !== bytes.length) {
    throw new Error(`a segment of ${rowCount} events has ${bytes.length} bytes`);
  }
  return packed;
}

function startOf({ layouts, rowCount, start }: PackedSegment, column: number): number {
  let offset = start;
  for (let index = 0; index < column; index += 1) offset += (layouts[index]?.[1] ?? 0) * rowCount;
  return offset;
}

/** Whether two segments can be read as one: they have the same columns of the same kinds. */
export function isAlike({ properties }: PackedSegment, other: PackedSegment): boolean {
  if (properties.length !== other.properties.length) return false;
  for (let index = 0; index < properties.length; index += 1) {
    const [one, another] = [properties[index], other.properties[index]];
    if (one?.[0] !== another?.[0] || one?.[1] !== another?.[1]) return false;
    if (one?.[1] === 'd' && one[2] !== another?.[2]) return false;
  }
  return true;
}

/** A segment among others, and how many milliseconds after theirs its day begins. */
export interface SegmentPart {
  readonly packed: PackedSegment;
  readonly offset: number;
}

/** The rows of segments that are alike, one segment after another. Columns are unpacked on first access. */
export function segmentOf(parts: readonly SegmentPart[]): Segment {
  const rowCount = parts.reduce((sum, { packed }) => sum + packed.rowCount, 0);
  const rows: Rows = { parts, rowCount };
  const properties = new Map<string, PropertyColumn>();
  let column: number = fixedColumns.length;
  for (const [place, header] of (parts[0]?.packed.properties ?? []).entries()) {
    const [name, kind] = header;
    if (kind === 'x') properties.set(name, { kind: 'leftOut' });
    else if (kind === 'c') properties.set(name, new StoredCodes(rows, { place, column }));
    else properties.set(name, new StoredDecimals(rows, { scale: header[2], column }));
    column += kind === 'x' ? 0 : kind === 'c' ? 1 : 2;
  }
  const fixed = new FixedColumns(rows);
  let hours: ((hour: number) => Int32Array) | undefined;
  return {
    rowCount,
    fixed,
    valueOfAll: (name) => valueOfAll(parts, name),
    rowsOfHour: (hour) => (hours ??= sortedByHour(fixed.millisecond))(hour),
    properties,
  };
}

function valueOfAll(parts: readonly SegmentPart[], name: FixedColumn): number | undefined {
  if (name === 'millisecond') return undefined;
  const column = fixedColumns.indexOf(name);
  const [common] = parts[0]?.packed.layouts[column] ?? [];
  const isOfAll = parts.every(({ packed: { layouts } }) => {
    const [lowest, width] = layouts[column] ?? [];
    return lowest === common && width === 0;
  });
  return isOfAll ? common : undefined;
}

/** A column is unpacked on first access. */
export function decodeSegment(bytes: Uint8Array): Segment {
  return segmentOf([{ packed: readHeader(bytes), offset: 0 }]);
}

interface Rows {
  readonly parts: readonly SegmentPart[];
  readonly rowCount: number;
}

/** Many segments have few rows, hence classes: their getters cost nothing until a column is accessed. */
class FixedColumns {
  readonly #rows: Rows;
  readonly #known: (Float64Array | undefined)[] = [];

  constructor(rows: Rows) {
    this.#rows = rows;
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

  #valuesAt(column: number): Float64Array {
    return (this.#known[column] ??= unpacked(this.#rows, column, fixedColumns[column] === 'millisecond'));
  }
}

class StoredCodes implements CodeColumn {
  readonly kind = 'codes';
  readonly #rows: Rows;
  readonly #place: number;
  readonly #column: number;
  #known: Pick<CodeColumn, 'texts' | 'values'> | undefined;

  constructor(rows: Rows, { place, column }: { readonly place: number; readonly column: number }) {
    this.#rows = rows;
    this.#place = place;
    this.#column = column;
  }

  get texts(): readonly string[] {
    return this.#both.texts;
  }

  get values(): Float64Array {
    return this.#both.values;
  }

  get #both(): Pick<CodeColumn, 'texts' | 'values'> {
    return (this.#known ??= unpackedCodes(this.#rows, this.#place, this.#column));
  }
}

class StoredDecimals implements DecimalColumn {
  readonly kind = 'decimal';
  readonly scale: number;
  readonly #rows: Rows;
  readonly #column: number;
  #values: Float64Array | undefined;

  constructor(rows: Rows, { scale, column }: { readonly scale: number; readonly column: number }) {
    this.#rows = rows;
    this.scale = scale;
    this.#column = column;
  }

  get values(): Float64Array {
    return (this.#values ??= unpackedDecimals(this.#rows, this.#column));
  }
}

/** Gives each text the same place in all parts; place 0 stands for a missing property. */
function unpackedCodes(rows: Rows, place: number, column: number): Pick<CodeColumn, 'texts' | 'values'> {
  const values = unpacked(rows, column);
  const textsOf = ({ packed }: SegmentPart): readonly string[] => packed.properties[place]?.[2] as readonly string[];
  const [first] = rows.parts;
  if (first === undefined || rows.parts.length === 1)
    return { texts: first === undefined ? [] : textsOf(first), values };
  const places = new Map([['', 0]]);
  let row = 0;
  for (const part of rows.parts) {
    const own = textsOf(part).map((text) => {
      const known = places.get(text) ?? places.size;
      places.set(text, known);
      return known;
    });
    for (const end = row + part.packed.rowCount; row < end; row += 1) values[row] = own[values[row] ?? 0] ?? 0;
  }
  return { texts: [...places.keys()], values };
}

function unpackedDecimals(rows: Rows, column: number): Float64Array {
  const values = unpacked(rows, column);
  const isEverywhere = rows.parts.every(({ packed: { layouts } }) => {
    const [lowest, width] = layouts[column + 1] ?? [];
    return lowest === 1 && width === 0;
  });
  if (isEverywhere) return values;
  const isPresent = unpacked(rows, column + 1);
  return values.map((value, row) => (isPresent[row] === 1 ? value : Number.NaN));
}

function unpacked({ parts, rowCount }: Rows, column: number, isBehindOffset = false): Float64Array {
  const values = new Float64Array(rowCount);
  let row = 0;
  for (const { packed, offset } of parts) {
    unpackInto(values, row, { packed, column, added: isBehindOffset ? offset : 0 });
    row += packed.rowCount;
  }
  return values;
}

function unpackInto(
  values: Float64Array,
  row: number,
  { packed, column, added }: { readonly packed: PackedSegment; readonly column: number; readonly added: number },
): void {
  const { view, rowCount } = packed;
  const [lowest, width] = packed.layouts[column] ?? [0, 0];
  const base = lowest + added;
  if (width === 0) {
    values.fill(base, row, row + rowCount);
    return;
  }
  const start = startOf(packed, column);
  for (let index = 0; index < rowCount; index += 1) {
    values[row + index] = base + storedAt(view, start + index * width, width);
  }
}

/** Reads without a typed array over the column: most columns are so short that making one takes longer than reading them. */
function storedAt(view: DataView, at: number, width: number): number {
  if (width === 1) return view.getUint8(at);
  if (width === 2) return view.getUint16(at, isLittleEndian);
  return width === 4 ? view.getUint32(at, isLittleEndian) : view.getFloat64(at, isLittleEndian);
}
