import { readdirSync, readlinkSync, statSync } from 'node:fs';
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

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    // The descriptor by which the list was read is closed by now.
    return '';
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

  test('comes out in pieces as small as it went in', () => {
    const spool = createSpool(4);
    try {
      for (const text of ['abc', 'def', 'ghi', 'jkl']) spool.write(safeLines(text));
      expect([...spool.parts()]).toEqual(['abc', 'def', 'ghi', 'jkl']);
    } finally {
      spool.close();
    }
  });

  test('leaves no file behind', () => {
    const before = left();
    expect(spooled(['abc', 'def', 'ghi'], 4)).toBe('abcdefghi');
    expect(left()).toEqual(before);
  });

  test.runIf(process.platform === 'linux')('is in a file that has no name, and is its owner’s alone', () => {
    const before = left();
    const previous = process.umask(0);
    const spool = createSpool(3);
    try {
      spool.write(safeLines('abcd'));
      expect(left()).toEqual(before);
      const files = readdirSync('/proc/self/fd').map((name) => `/proc/self/fd/${name}`);
      const own = files.find((path) => linkOf(path).includes('tallybook-list-')) ?? '';
      expect((statSync(own).mode & 0o777).toString(8)).toBe('600');
    } finally {
      process.umask(previous);
      spool.close();
    }
  });

  test('says where there is no room for it', () => {
    const place = process.env['TMPDIR'];
    process.env['TMPDIR'] = join(tmpdir(), 'nowhere');
    try {
      const words = /^the list cannot be stored in .*nowhere until it is complete: .*ENOENT/;
      expect(() => spooled(['abcd'], 3)).toThrow(BillingError);
      expect(() => spooled(['abcd'], 3)).toThrow(words);
      expect(spooled(['abc'], 3)).toBe('abc');
    } finally {
      if (place === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = place;
    }
  });
});
