import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { safeLines } from '../../../src/cli/terminal/safe-text.ts';
import { createSpool } from '../../../src/cli/output/spool.ts';
import { BillingError } from '../../../src/errors.ts';

const left = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('tallybook-list-'));

/** What comes out of a spool that holds `most` characters. */
function spooled(texts: readonly string[], most: number): string {
  const spool = createSpool(most);
  try {
    for (const text of texts) spool.write(safeLines(text));
    return [...spool.parts()].join('');
  } finally {
    spool.close();
  }
}

describe('text that waits until it is whole', () => {
  test('comes out as it went in, however much of it is held', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 30 });
    fc.assert(
      fc.property(fc.array(text, { maxLength: 12 }), fc.nat(60), (texts, most) => {
        expect(spooled(texts, most)).toBe(texts.map(safeLines).join(''));
      }),
      { numRuns: 60 },
    );
  });

  test('leaves no file behind', () => {
    const before = left();
    expect(spooled(['abc', 'def', 'ghi'], 4)).toBe('abcdefghi');
    expect(left()).toEqual(before);
  });

  test('says where there is no room for it', () => {
    const place = process.env['TMPDIR'];
    process.env['TMPDIR'] = join(tmpdir(), 'nowhere');
    try {
      const words = /^the list cannot be kept in .*nowhere until it is whole: .*ENOENT/;
      expect(() => spooled(['abcd'], 3)).toThrow(BillingError);
      expect(() => spooled(['abcd'], 3)).toThrow(words);
      expect(spooled(['abc'], 3)).toBe('abc');
    } finally {
      if (place === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = place;
    }
  });
});
