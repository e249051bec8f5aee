import { execFileSync } from 'node:child_process';

import { expect, test } from 'vitest';

import { createRowIdentity, shortDigest } from '../../../src/cli/wire/row-identity.ts';

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
  // A process of its own, whose collector frees before it returns: what others leave, or is freed beside, is not counted.
  const measurement = `
    import { createRowIdentity } from ${JSON.stringify(import.meta.resolve('../../../src/cli/wire/row-identity.ts'))};
    import { bytesInUse } from ${JSON.stringify(import.meta.resolve('../../support/bytes-in-use.ts'))};
    const rows = 100_000;
    function bytesOfRow() {
      const identify = createRowIdentity();
      const before = bytesInUse();
      for (let row = 0; row < rows; row += 1) identify('row ' + row);
      const bytes = bytesInUse() - before;
      if (!identify('row 0').endsWith(':2')) throw new Error('the rows were forgotten');
      return bytes / rows;
    }
    bytesOfRow(); // compiles what it calls
    console.log(bytesOfRow());`;
  const options = ['--single-threaded-gc', '--input-type=module', '--eval', measurement];
  expect(Number(execFileSync(process.execPath, options, { encoding: 'utf8' }))).toBeLessThan(50);
});
