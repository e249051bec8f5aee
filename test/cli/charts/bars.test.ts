import { stripVTControlCharacters } from 'node:util';

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { barLines } from '../../../src/cli/charts/bars.ts';
import type { Bar } from '../../../src/cli/charts/bars.ts';
import { fitted, textWidth } from '../../../src/cli/charts/text-width.ts';
import { safe } from '../../../src/cli/terminal/safe-text.ts';

const plain = { width: 40, hasUnicode: false, hasColor: false };
const bar = (label: string, value: string, ratio: number, more: Partial<Bar> = {}): Bar => ({
  label: safe(label),
  value: safe(value),
  ratio,
  ...more,
});
const sample = [
  bar('large', '12.50 USD', 1),
  bar('small', '6.25 USD', 0.5),
  bar('tiny', '0.01 USD', 0.0008),
  bar('none', '0.00 USD', 0),
];

describe('bars', () => {
  test('are drawn in plain ASCII where a terminal can do no more', () => {
    expect(barLines(sample, plain)).toEqual([
      'large  ######################  12.50 USD',
      'small  ###########              6.25 USD',
      'tiny   #                        0.01 USD',
      'none                            0.00 USD',
    ]);
  });

  test('are drawn to an eighth of a column in Unicode, and what is above nothing is seen', () => {
    expect(barLines(sample, { ...plain, hasUnicode: true })).toEqual([
      'large  ██████████████████████  12.50 USD',
      'small  ███████████              6.25 USD',
      'tiny   ▏                        0.01 USD',
      'none                            0.00 USD',
    ]);
  });

  test('stand on a track, and show by an arrow that they go beyond it', () => {
    const bars = [
      bar('a', '50 %', 0.5, { track: 1 }),
      bar('b', '130 %', 1.3, { track: 1 }),
      bar('c', '1', 0.25, { track: 0.5 }),
    ];
    expect(barLines(bars, { ...plain, width: 20 })).toEqual([
      'a  #####.....   50 %',
      'b  #########>  130 %',
      'c  ###..           1',
    ]);
  });

  test('go before labels are left out, and values are never cut', () => {
    const bars = [bar('a long label', '12.50 USD', 1)];
    expect(barLines(bars, { ...plain, width: 30 })).toEqual(['a long label  #####  12.50 USD']);
    expect(barLines(bars, { ...plain, width: 18 })).toEqual(['a long~  12.50 USD']);
    expect(barLines(bars, { ...plain, width: 9 })).toEqual(['a long l~', '12.50 USD']);
    expect(barLines(bars, { ...plain, width: 5 })).toEqual(['a lo~', '12.50 USD']);
  });

  test('are coloured only where the stream takes colours', () => {
    const [line = ''] = barLines([bar('a', '1', 1, { tone: 'alarm' })], { ...plain, hasColor: true });
    expect(line).toContain('\u001b[31m');
    expect(stripVTControlCharacters(line)).toBe(barLines([bar('a', '1', 1)], plain)[0]);
  });

  test('never go beyond the width unless a value alone does, and carry no escape of the data', () => {
    const ratio = fc.double({ min: 0, max: 3, noNaN: true });
    const anyBar = fc.record({ label: fc.string({ unit: 'binary' }), value: fc.string(), ratio, track: ratio });
    fc.assert(
      fc.property(
        fc.array(anyBar),
        fc.integer({ min: 1, max: 200 }),
        fc.boolean(),
        fc.boolean(),
        (bars, width, hasUnicode, hasColor) => {
          const safeBars = bars.map((each) => ({ ...each, label: safe(each.label), value: safe(each.value) }));
          const drawn = barLines(safeBars, { width, hasUnicode, hasColor });
          const most = Math.max(width, ...safeBars.map(({ value }) => textWidth(value)));
          for (const line of drawn) {
            const bare = stripVTControlCharacters(line);
            expect(textWidth(safe(bare))).toBeLessThanOrEqual(most);
            expect(safe(bare)).toBe(bare);
          }
        },
      ),
    );
  });
});

describe('the width of a text', () => {
  test.each([
    ['Zoë', 3],
    ['Zoe\u0308', 3],
    ['日本語', 6],
    ['한국', 4],
    ['Ａ', 2],
    ['😀', 2],
    ['→ €', 3],
  ])('%s takes %i columns', (text, width) => {
    expect(textWidth(safe(text))).toBe(width);
  });

  test.each([
    ['abc', 5, 'abc  '],
    ['abcdef', 4, 'abc~'],
    ['日本語', 4, '日~ '],
    ['abc', 0, ''],
  ])('%s in %i columns is "%s"', (text, width, expected) => {
    expect(fitted(safe(text), width, '~')).toBe(expected);
  });
});
