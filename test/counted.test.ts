import { expect, test } from 'vitest';

import { counted } from '../src/counted.ts';

test.each([
  [0, '0 events'],
  [1, '1 event'],
  [2, '2 events'],
])('%i of something is said as %s', (count, words) => expect(counted(count, 'event')).toBe(words));
