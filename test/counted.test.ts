import { expect, test } from 'vitest';

import { counted } from '../src/counted.ts';
import type { ContractBooks, OrganizationFacts } from '../src/engine/doctor/check.ts';
import { attributionProblems } from '../src/engine/doctor/contract-rules.ts';
import { droppedEventProblems, lateEventProblems, numberProblems } from '../src/engine/doctor/organization-rules.ts';

test.each([
  [0, '0 events'],
  [1, '1 event'],
  [2, '2 events'],
])('%i of something is said as %s', (count, words) => expect(counted(count, 'event')).toBe(words));

test.each([
  [
    1,
    '1 event came',
    '1 row of events that were dropped is still stored',
    '1 event of meter m counts on',
    'after 1 finalized one',
  ],
  [
    2,
    '2 events came',
    '2 rows of events that were dropped are still stored',
    '2 events of meter m count on',
    'after 2 finalized ones',
  ],
])('doctor says how many there are, of %i too', (count, late, dropped, disputed, numbered) => {
  const invoices = Array.from({ length: count }, (_value, index) => ({
    id: `i${index}`,
    number: `INV-${index + 1}`,
    finalizedAt: '2026-01-01',
  }));
  const facts = {
    organizationId: 'org',
    lateEvents: { count, unjustified: [] },
    droppedRowsLeft: count,
    numbers: { invoices, next: 9 },
  } as unknown as OrganizationFacts;
  const books = { contract: { id: 'c' }, disputed: [{ meterId: 'm', eventCount: count }] } as unknown as ContractBooks;
  expect(lateEventProblems(facts)[0]?.problem).toContain(late);
  expect(droppedEventProblems(facts)[0]?.problem).toContain(dropped);
  expect(attributionProblems(books)[0]?.problem).toContain(disputed);
  expect(numberProblems(facts).at(-1)?.problem).toMatch(new RegExp(`${numbered}$`));
});
