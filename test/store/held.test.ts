import { expect, test } from 'vitest';

import { createHeld } from '../../src/store/backends/held.ts';

test('what weighs too much together goes by age, and a value weighs once however often it is added', () => {
  const held = createHeld<string, number>(10);
  for (const value of [1, 2, 3]) held.add('a', value, 6);
  held.add('b', 4, 4);
  expect([held.get('a'), held.get('b')]).toEqual([3, 4]);
  held.add('c', 5, 1);
  expect([held.get('a'), held.get('b'), held.get('c')]).toEqual([undefined, 4, 5]);
  held.delete('b');
  held.add('d', 6, 9);
  expect([held.get('c'), held.get('d')]).toEqual([5, 6]);
  held.add('e', 7, 11);
  expect([held.get('d'), held.get('e')]).toEqual([6, undefined]);
});
