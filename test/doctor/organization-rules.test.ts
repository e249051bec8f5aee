import { expect, test } from 'vitest';

import type { ContractBooks, OrganizationFacts } from '../../src/engine/doctor/check.ts';
import { attributionProblems } from '../../src/engine/doctor/contract-rules.ts';
import { droppedEventProblems, lateEventProblems, numberProblems } from '../../src/engine/doctor/organization-rules.ts';

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

test.each([
  [1, '1 event of meter m counts on', 'after 1 finalized one'],
  [2, '2 events of meter m count on', 'after 2 finalized ones'],
])('so is %i of what is told of a meter, or of numbers', (count, disputed, numbered) => {
  const books = { contract: { id: 'c' }, disputed: [{ meterId: 'm', eventCount: count }] } as unknown as ContractBooks;
  const invoices = Array.from({ length: count }, (_value, index) => ({
    id: `i${index}`,
    number: `INV-${index + 1}`,
    finalizedAt: '2026-01-01',
  }));
  expect(attributionProblems(books)[0]?.problem).toContain(disputed);
  expect(wordsOf(numberProblems, { numbers: { invoices, next: 9 } }).at(-1)).toMatch(new RegExp(`${numbered}$`));
});
