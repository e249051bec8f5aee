/**
 * Small segments as one: a customer with a few events a day has a segment for each day, and folding thirty of them costs
 * thirty times what folding their rows once does.
 */

import type { CodeColumn, DecimalColumn, fixedColumns, PropertyColumn, Segment } from './event-segment.ts';

/** A segment, and how many milliseconds its day begins behind that of the joined one. */
export interface JoinedPart {
  readonly segment: Segment;
  readonly offset: number;
}

/** One text for segments that can be joined: those that have the same columns of the same kinds. */
export function joinableKey({ properties }: Segment): string {
  let key = '';
  for (const [name, column] of properties) {
    key += `${JSON.stringify(name)} ${column.kind} ${column.kind === 'decimal' ? column.scale : ''},`;
  }
  return key;
}

/** The rows of segments with the same `joinableKey`, one behind the other. Columns are put together when they are looked at. */
export function joinSegments(parts: readonly JoinedPart[]): Segment {
  const [first] = parts;
  if (first === undefined) throw new TypeError('segments to be joined are never none');
  if (parts.length === 1 && first.offset === 0) return first.segment;
  const rowCount = parts.reduce((sum, { segment }) => sum + segment.rowCount, 0);
  return {
    rowCount,
    fixed: new JoinedFixed(parts, rowCount),
    properties: new Map(
      [...first.segment.properties].map(([name, column]) => [name, joinedColumn(parts, { name, column, rowCount })]),
    ),
  };
}

interface Joining {
  readonly name: string;
  /** Of the first part: all others have the same kind of it. */
  readonly column: PropertyColumn;
  readonly rowCount: number;
}

function joinedColumn(parts: readonly JoinedPart[], { name, column, rowCount }: Joining): PropertyColumn {
  if (column.kind === 'leftOut') return column;
  const columns = parts.map(({ segment }) => segment.properties.get(name));
  if (column.kind === 'codes') return new JoinedCodes(columns as readonly CodeColumn[], rowCount);
  return new JoinedDecimals(columns as readonly DecimalColumn[], column.scale, rowCount);
}

class JoinedFixed {
  readonly #parts: readonly JoinedPart[];
  readonly #rowCount: number;
  readonly #known = new Map<(typeof fixedColumns)[number], Float64Array>();

  constructor(parts: readonly JoinedPart[], rowCount: number) {
    this.#parts = parts;
    this.#rowCount = rowCount;
  }

  get eventSeq(): Float64Array {
    return this.#valuesOf('eventSeq');
  }

  get millisecond(): Float64Array {
    return this.#valuesOf('millisecond');
  }

  get nameId(): Float64Array {
    return this.#valuesOf('nameId');
  }

  get contractSeq(): Float64Array {
    return this.#valuesOf('contractSeq');
  }

  get isLate(): Float64Array {
    return this.#valuesOf('isLate');
  }

  #valuesOf(name: (typeof fixedColumns)[number]): Float64Array {
    let joined = this.#known.get(name);
    if (joined === undefined) {
      const values = this.#parts.map(({ segment }) => segment.fixed[name]);
      joined = inOneRow(values, this.#rowCount);
      if (name === 'millisecond') this.#addOffsets(joined);
      this.#known.set(name, joined);
    }
    return joined;
  }

  #addOffsets(milliseconds: Float64Array): void {
    let row = 0;
    for (const { segment, offset } of this.#parts) {
      for (const end = row + segment.rowCount; row < end; row += 1)
        milliseconds[row] = (milliseconds[row] ?? 0) + offset;
    }
  }
}

class JoinedDecimals implements DecimalColumn {
  readonly kind = 'decimal';
  readonly scale: number;
  readonly #parts: readonly DecimalColumn[];
  readonly #rowCount: number;
  #values: Float64Array | undefined;

  constructor(parts: readonly DecimalColumn[], scale: number, rowCount: number) {
    this.#parts = parts;
    this.scale = scale;
    this.#rowCount = rowCount;
  }

  get values(): Float64Array {
    this.#values ??= inOneRow(
      this.#parts.map(({ values }) => values),
      this.#rowCount,
    );
    return this.#values;
  }
}

class JoinedCodes implements CodeColumn {
  readonly kind = 'codes';
  readonly #parts: readonly CodeColumn[];
  readonly #rowCount: number;
  #joined: Pick<CodeColumn, 'texts' | 'values'> | undefined;

  constructor(parts: readonly CodeColumn[], rowCount: number) {
    this.#parts = parts;
    this.#rowCount = rowCount;
  }

  get texts(): readonly string[] {
    return this.#both.texts;
  }

  get values(): Float64Array {
    return this.#both.values;
  }

  get #both(): Pick<CodeColumn, 'texts' | 'values'> {
    this.#joined ??= joinCodes(this.#parts, this.#rowCount);
    return this.#joined;
  }
}

/** Place 0 stands for a property that is not there, in every part. */
function joinCodes(parts: readonly CodeColumn[], rowCount: number): Pick<CodeColumn, 'texts' | 'values'> {
  const places = new Map<string, number>();
  const texts = [''];
  const values = new Float64Array(rowCount);
  let row = 0;
  for (const part of parts) {
    const placeOf = part.texts.map((text, place) => {
      if (place === 0) return 0;
      const known = places.get(text);
      if (known !== undefined) return known;
      places.set(text, texts.length);
      return texts.push(text) - 1;
    });
    for (const value of part.values) {
      values[row] = placeOf[value] ?? 0;
      row += 1;
    }
  }
  return { texts, values };
}

function inOneRow(parts: readonly Float64Array[], rowCount: number): Float64Array {
  const values = new Float64Array(rowCount);
  let row = 0;
  for (const part of parts) {
    values.set(part, row);
    row += part.length;
  }
  return values;
}
