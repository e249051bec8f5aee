/** Reliability 9 and 4.6: the same calls at the same instants make the same bytes, wherever the program runs. */

import { beforeAll, expect, test } from 'vitest';

import { outputOf, startChild } from './child.ts';
import { firstDifference } from './reference-book.ts';

interface Printed {
  readonly offsetMinutes: string;
  readonly book: string;
}

async function printed(environment: Readonly<Record<string, string>>, ...words: readonly string[]): Promise<Printed> {
  const output = await outputOf(startChild('print-book-process.ts', words, environment));
  const end = output.indexOf('\n');
  return { offsetMinutes: output.slice(0, end), book: output.slice(end + 1) };
}

const plain = { TZ: 'UTC', LANG: 'C', LC_ALL: 'C' };
let expected: string;
beforeAll(async () => {
  expected = (await printed(plain)).book;
});

test('a book that is printed has all its answers and rows', () => {
  expect(expected.split('\n').length).toBeGreaterThan(600);
});

// The offset shows that the system knows the zone: it would be UTC otherwise, and the test would show nothing.
test.concurrent.each([
  ['America/New_York', '240', 'en_US.UTF-8'],
  ['Europe/London', '-60', 'en_GB.UTF-8'],
  ['Australia/Lord_Howe', '-630', 'de_DE.UTF-8'],
  ['Pacific/Apia', '-780', 'tr_TR.UTF-8'],
  ['Asia/Kathmandu', '-345', 'ar_EG.UTF-8'],
])('a book is the same in the time zone %s (%s minutes) and the language %s', async (TZ, offsetMinutes, language) => {
  const other = await printed({ TZ, LANG: language, LC_ALL: language });
  expect(other.offsetMinutes).toBe(offsetMinutes);
  expect(firstDifference(expected, other.book)).toBeUndefined();
});

test('a book is the same whatever the mask of new files', async () => {
  const before = process.umask(0o077);
  try {
    expect(firstDifference(expected, (await printed(plain)).book)).toBeUndefined();
  } finally {
    process.umask(before);
  }
});

test('a book is the same when rows come reversed wherever no order was asked for', async () => {
  expect(firstDifference(expected, (await printed(plain, 'reversed')).book)).toBeUndefined();
});
