import { describe, expect, test } from 'vitest';

import { limits } from '../src/limits.ts';
import { hasLongMarks, inNfc } from '../src/normal-text.ts';

const above = '\u0301';
const below = '\u0323';

describe('combining marks in a row', () => {
  const most = above.repeat(limits.combiningMarks);
  test.each([
    ['30 alone', most, false],
    ['31 alone', `${most}${below}`, true],
    ['30 at a letter', `e${most}`, false],
    ['31 at a letter', `e${most}${below}`, true],
    ['31 behind a long text', `${'漢'.repeat(1000)}${most}${below}`, true],
    ['31 that a letter parts', `e${most}a${below}`, false],
    ['30 at each of many letters', `e${most}`.repeat(1000), false],
    ['31 outside of the first plane', '\u{1e944}'.repeat(31), true],
    ['an emoji of 4 letters and their joiners', '👩‍👩‍👧‍👦'.repeat(31), false],
  ])('%s: too many %s', (_case, text, isLong) => {
    expect(hasLongMarks(text)).toBe(isLong);
  });
});

describe('a text in NFC', () => {
  test('is the same for all that Unicode takes for the same', () => {
    expect(inNfc(`e${above}`)).toBe('\u00e9');
    expect(inNfc(`a${above}${below}`)).toBe(inNfc(`a${below}${above}`));
  });

  // Normalized, these would take longer than an hour.
  test('stands as it is where more marks are in a row than are taken', () => {
    const marks = `${above.repeat(2_000_000)}${below.repeat(2_000_000)}`;
    expect(inNfc(marks)).toBe(marks);
  });

  test('is found of 100,000 runs that are short enough', () => {
    const runs = `e${above.repeat(limits.combiningMarks)}`.repeat(100_000);
    expect(inNfc(runs)).toHaveLength(limits.combiningMarks * 100_000);
  });
});
