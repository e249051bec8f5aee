import { describe, expect, it } from 'vitest';

import type { AggregationType } from '../../src/operations/wire-values.ts';
import { addCell, type Cell, type Cells } from '../../src/store/backends/sqlite/events/cells.ts';

const beyond = Number.MAX_SAFE_INTEGER;

describe('running cells', () => {
  it.for<readonly [AggregationType, Cell, Cell, Cell]>([
    ['SUM', cell(5, 0), cell(25, 2), cell(525, 2)],
    ['SUM', cell(25, 2), cell(5, 0), cell(525, 2)],
    ['SUM', cell(beyond, 0), cell(1, 0), cell(BigInt(beyond) + 1n, 0)],
    ['SUM', cell(beyond, 0), cell(1, 1), cell(BigInt(beyond) * 10n + 1n, 1)],
    ['COUNT', cell(2, 0), cell(3, 0), cell(5, 0)],
    ['MAX', cell(5, 0), cell(51, 1), cell(51, 1)],
    ['MAX', cell(5, 0), cell(49, 1), cell(50, 1)],
    ['MIN', cell(49, 1), cell(5, 0), cell(49, 1)],
    ['MIN', cell(51, 1), cell(5, 0), cell(50, 1)],
  ])('%s of %o and %o is %o, whatever their decimals', ([type, first, second, both]) => {
    const cells: Cells = new Map();
    addCell(cells, 'key', first, type);
    addCell(cells, 'key', second, type);
    expect(cells.get('key')).toStrictEqual({ ...both, count: 2 });
  });

  it('a cell that was added stays as it is when others are added to it', () => {
    const first = cell(1, 0);
    const cells: Cells = new Map();
    addCell(cells, 'key', first, 'SUM');
    addCell(cells, 'key', cell(2, 1), 'SUM');
    expect(first).toStrictEqual(cell(1, 0));
  });
});

function cell(coefficient: Cell['coefficient'], scale: number): Cell {
  return { coefficient, scale, count: 1 };
}
