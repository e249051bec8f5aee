import { expect, test } from 'vitest';

import { nextLimit, scannedBytes, scannedRows } from '../../src/store/backends/scan-pages.ts';

test.each([
  ['fewer rows than were asked for are the last ones', { limit: 100, rowCount: 99, bytes: 10 }, undefined],
  ['no rows are the end', { limit: 100, rowCount: 0, bytes: 0 }, undefined],
  ['a page of small rows is followed by a larger one', { limit: 100, rowCount: 100, bytes: 10 }, 200],
  ['no page has more rows than are held', { limit: scannedRows, rowCount: scannedRows, bytes: 10 }, scannedRows],
  ['a page that its bytes cut is followed by little more', { limit: 1000, rowCount: 40, bytes: scannedBytes }, 80],
  ['one row may be more than a page', { limit: 1000, rowCount: 1, bytes: 9 * scannedBytes }, 2],
  ['a page cut at its last row is not the end', { limit: 1000, rowCount: 999, bytes: scannedBytes }, 1998],
])('%s', (_name, { limit, ...page }, next) => {
  expect(nextLimit(limit, page)).toBe(next);
});
