import { expect, test } from 'vitest';

import { droppedEventProblems, lateEventProblems } from '../../src/engine/doctor/organization-rules.ts';
import type { OrganizationFacts } from '../../src/engine/doctor/check.ts';

const wordsOf = (rule: (facts: OrganizationFacts) => readonly { readonly problem: string }[], facts: object) =>
  rule({ organizationId: 'o1', ...facts } as OrganizationFacts).map(({ problem }) => problem);

test.each([
  [0, [], []],
  [
    1,
    ['1 event came after its period was finalized: nothing is billed for that'],
    ['1 row of events that were dropped is still stored'],
  ],
  [
    2,
    ['2 events came after their period was finalized: nothing is billed for that'],
    ['2 rows of events that were dropped are still stored'],
  ],
])('%i of what is told together is counted in words', (count, late, dropped) => {
  expect(wordsOf(lateEventProblems, { lateEvents: { count, unjustified: [] } })).toEqual(late);
  expect(wordsOf(droppedEventProblems, { droppedRowsLeft: count })).toEqual(dropped);
});
