/** Every first day of a leap year with every interval, against a calendar that is reckoned by hand (reliability 9). */

import { createHash } from 'node:crypto';

import { expect, test } from 'vitest';

import { periodStart } from '../../src/calculation/billing-period.ts';
import { dateOf, periodStart as reckonedStart } from '../model/calendar.ts';

const anchors = Array.from({ length: 366 }, (_, day) => Temporal.PlainDate.from('2024-01-01').add({ days: day }));
const indexes = Array.from({ length: 48 }, (_, index) => index);

/** The digests keep what was billed by from changing in both calendars at once. */
test.each([
  ['WEEK', 1, '6f93c8176051e7d8'],
  ['WEEK', 2, 'f433892460afffed'],
  ['WEEK', 3, '25e91161b6008ce2'],
  ['WEEK', 12, 'fe282fba6f86a4cb'],
  ['MONTH', 1, 'd328d7a7ce78a1ee'],
  ['MONTH', 2, 'ce1bf54ef8eb8ff1'],
  ['MONTH', 3, '3227ab2a8130f667'],
  ['MONTH', 12, '28af9dff3065ef79'],
  ['YEAR', 1, '28af9dff3065ef79'],
  ['YEAR', 2, '201462f02a836543'],
  ['YEAR', 3, '490ab6be3ac1750b'],
  ['YEAR', 12, '14c45c0127bced4c'],
] as const)('48 periods of %s x %i begin on the same days, whatever the first day', (unit, count, digest) => {
  const interval = { unit, count };
  const table = (startOf: (anchor: Temporal.PlainDate, index: number) => string): string[] =>
    anchors.map((anchor) => indexes.map((index) => startOf(anchor, index)).join(' '));
  const found = table((anchor, index) => periodStart(anchor, interval, index).toString());
  expect(found).toEqual(table((anchor, index) => dateOf(reckonedStart(anchor.toString(), interval, index))));
  expect(createHash('sha256').update(found.join('\n')).digest('hex').slice(0, 16)).toBe(digest);
});
