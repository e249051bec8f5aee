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
  const next = (layout: Layout): (() => Float64Array) => {
    const start = offset;
    offset += layout[1] * rowCount;
    let values: Float64Array | undefined;
    return () => (values ??= unpacked(bytes, { start, rowCount, layout }));
  };
  const fixed = {} as Record<(typeof fixedColumns)[number], Float64Array>;
  for (const [index, name] of fixedColumns.entries()) {
    Object.defineProperty(fixed, name, { get: next(fixedLayouts[index] ?? [0, 0]), enumerable: true });
  }
  const properties = new Map(propertyHeaders.map((header) => [header[0], decodeProperty(header, next)]));
  if (offset !== bytes.length) throw new Error(`a segment of ${rowCount} events has ${bytes.length} bytes`);
  return { rowCount, fixed, properties };
}

function decodeProperty(header: PropertyHeader, next: (layout: Layout) => () => Float64Array): PropertyColumn {
  if (header[1] === 'x') return { kind: 'leftOut' };
  if (header[1] === 'c') {
    const [, , texts, layout] = header;
    return lazily<CodeColumn>({ kind: 'codes', texts }, next(layout));
  }
  const [, , scale, layout, presence] = header;
  const values = next(layout);
  const present = next(presence);
  return lazily<DecimalColumn>({ kind: 'decimal', scale }, () => {
    if (presence[1] === 0 && presence[0] === 1) return values();
    const isPresent = present();
    return values().map((value, row) => (isPresent[row] === 1 ? value : Number.NaN));
  });
}

function lazily<C extends { readonly values: Float64Array }>(facts: Omit<C, 'values'>, read: () => Float64Array): C {
  return Object.defineProperty(facts, 'values', { get: read, enumerable: true }) as unknown as C;
}

interface Place {
  readonly start: number;
  readonly rowCount: number;
  readonly layout: Layout;
}

function unpacked(bytes: Uint8Array, { start, rowCount, layout: [lowest, width] }: Place): Float64Array {
  if (width === 0) return new Float64Array(rowCount).fill(lowest);
  const stored = new arrays[width as 1 | 2 | 4 | 8](bytes.slice(start, start + width * rowCount).buffer);
  const values = new Float64Array(stored);
  if (lowest !== 0) for (let row = 0; row < rowCount; row += 1) values[row] = (values[row] ?? 0) + lowest;
  return values;
}
