import { expect, test } from 'vitest';

import { createRowIdentity, shortDigest } from '../../../src/cli/wire/row-identity.ts';
import { bytesInUse } from '../../support/bytes-in-use.ts';

test('equal rows are counted among however many others', () => {
  const identify = createRowIdentity();
  const counts = new Map<string, number>();
  for (let index = 0; index < 60_000; index += 1) {
    const content = `row ${(index * index) % 29_989}`;
    const count = (counts.get(content) ?? 0) + 1;
    counts.set(content, count);
    expect(identify(content)).toBe(`row:${shortDigest(content)}${count === 1 ? '' : `:${count}`}`);
  }
  expect(shortDigest('row 1')).toBe('luMFEVAIm_qfNWTiqUxi7U6VYXR');
});

test('a row takes less memory than a text would, because files have millions of them', () => {
  const rows = 100_000;
  // What others have left in this process may be counted too, but not every time.
  const bytesOfRow = [1, 2, 3].map(() => {
    const identify = createRowIdentity();
    const before = bytesInUse();
    for (let row = 0; row < rows; row += 1) identify(`row ${row}`);
    const bytes = (bytesInUse() - before) / rows;
    expect(identify('row 0')).toMatch(/:2$/);
    return bytes;
  });
  expect(bytesOfRow.toSorted((one, other) => one - other)[1]).toBeLessThan(60);
});
