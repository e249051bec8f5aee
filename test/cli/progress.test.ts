import { expect, test } from 'vitest';

import { durationText } from '../../src/cli/progress.ts';

test.each([
  [undefined, '?'],
  [0, '0s'],
  [0.2, '1s'],
  [59.5, '1m 0s'],
  [125, '2m 5s'],
  [12_000, '3h 20m'],
])('what is left of %s seconds is said as %s', (seconds, text) => {
  expect(durationText(seconds)).toBe(text);
});
