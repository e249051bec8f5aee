import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';

import { exactNumber } from '../../src/exact-json.ts';
import {
  centsInput,
  comparedText,
  creditsInput,
  dateInput,
  dateOrTimestampInput,
  decimalInput,
  emailInput,
  integerInput,
  membersInput,
  page,
  queryInclude,
  text,
  timestampInput,
} from '../../src/operations/fields.ts';
import {
  creditDigits,
  isSmallEnough,
  timestampOf,
  utcTimestamp,
  withoutExponent,
} from '../../src/operations/field-rules.ts';

const accepts = (schema: z.ZodType, value: unknown) => schema.safeParse(value).success;

describe('cents are whole numbers written as digits alone', () => {
  const cents = centsInput();
  test.each([
    ['0', true],
    ['1', true],
    ['1000000000000000', true],
    ['1000000000000001', false],
    ['-1', false],
    ['-0', false],
    ['1.0', false],
    ['1.5', false],
    ['1e3', false],
    ['9007199254740993', false],
    ['1e309', false],
  ])('%s: %s', (literal, isAccepted) => {
    expect(accepts(cents, exactNumber(literal))).toBe(isAccepted);
  });

  test.each([-0, 1.5, 2 ** 53, 1e308, Infinity, NaN, '5', 5n, null])(
    'a program that calls the library cannot give %s',
    (value) => {
      expect(accepts(cents, value)).toBe(false);
      expect(accepts(integerInput(-(2 ** 60), 2 ** 60), value)).toBe(false);
    },
  );

  test.each([
    ['99999999999999999999', 'must be at most 1000000000000000'],
    ['-99999999999999999999', 'must be 0 or more'],
    ['-0', 'must be a whole number of cents, written with digits only'],
    ['1e3', 'must be a whole number of cents, written with digits only'],
  ])('%s is told: %s', (literal, words) => {
    expect(cents.safeParse(exactNumber(literal)).error?.issues[0]?.message).toBe(words);
  });

  test.each([['5'], [null], [true], [Number.NaN], [Number.POSITIVE_INFINITY], [5n], [[5]]])(
    '%s is refused',
    (value) => {
      expect(accepts(cents, value)).toBe(false);
    },
  );
});

describe('credits have at most six decimals and stay at or below 1e12', () => {
  test.each([
    ['1', true],
    ['0.000001', true],
    ['0.0000001', false],
    ['1000000000000', true],
    ['1000000000000.000001', false],
    ['1000000000001', false],
    ['0', false],
    ['0.000000', false],
    ['-1', false],
    ['1e-7', false],
    ['1e13', false],
    ['1e99', false],
    ['-1e2', false],
    ['0e5', false],
    ['1.50', true],
    ['1.1000000000', true],
    ['1.12345670', false],
    ['1000000000000.0000000', true],
    ['0.0000000', false],
  ])('%s: %s', (literal, isAccepted) => {
    expect(accepts(creditsInput('above 0'), exactNumber(literal))).toBe(isAccepted);
  });

  test.each([
    ['12.50', '12.50'],
    ['1e2', '100'],
    ['1e-05', '0.00001'],
    ['1.5E-3', '0.0015'],
    ['12.5e+1', '125'],
    ['0.000120e4', '1.2'],
    ['123.4567e2', '12345.67'],
    ['1.1000000000', '1.100000'],
  ])(
    'written %s come out as %s: the same digits, without an exponent and no more than six decimals',
    (literal, expected) => {
      expect(creditsInput('above 0').parse(exactNumber(literal))).toBe(expected);
    },
  );

  test.each([
    ['above 0', '0'],
    ['of 0 or more', '-1'],
    ['other than 0', '0'],
  ] as const)('%s is asked, and %s is refused in words that say which numbers are taken', (range, literal) => {
    const { error } = creditsInput(range).safeParse(exactNumber(literal));
    expect(error?.issues[0]?.message).toBe(`must be a number ${range} with at most 6 decimals, at most 1000000000000`);
  });
});

describe('prices are decimal texts without sign or exponent', () => {
  test.each([
    ['0', true],
    ['0.000003', true],
    ['999999999999999.999999999999', true],
    ['1000000000000000', false],
    ['0.0000000000001', false],
    ['.5', false],
    ['5.', false],
    ['+5', false],
    ['-5', false],
    ['1e3', false],
    ['0x10', false],
    ['١٢', false],
    ['1_000', false],
    ['1,5', false],
    ['', false],
    [' 1', false],
  ])('%j: %s', (literal, isAccepted) => {
    expect(accepts(decimalInput, literal)).toBe(isAccepted);
  });
});

describe('dates are dates of the calendar', () => {
  test.each([
    ['2026-02-28', true],
    ['2024-02-29', true],
    ['2026-02-29', false],
    ['2100-02-29', false],
    ['2000-02-29', true],
    ['2023-02-30', false],
    ['2026-04-31', false],
    ['2026-00-10', false],
    ['2026-13-01', false],
    ['1999-12-31', false],
    ['2101-01-01', false],
    ['0000-01-01', false],
    ['2026-1-1', false],
    ['2026-01-01T00:00:00Z', false],
  ])('%s: %s', (literal, isAccepted) => {
    expect(accepts(dateInput, literal)).toBe(isAccepted);
  });

  test('exactly those that Temporal knows', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2000, max: 2100 }),
        fc.integer({ min: 0, max: 13 }),
        fc.integer({ min: 0, max: 32 }),
        (year, month, day) => {
          const literal = `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
          expect(accepts(dateInput, literal)).toBe(isKnown(literal));
        },
      ),
    );
  });
});

function isKnown(literal: string): boolean {
  try {
    Temporal.PlainDate.from(literal, { overflow: 'reject' });
    return true;
  } catch {
    return false;
  }
}

describe('date-times carry an offset and come out in UTC', () => {
  test.each([
    ['2026-03-01T00:00:00Z', '2026-03-01T00:00:00.000Z'],
    ['2026-03-01t00:00:00z', '2026-03-01T00:00:00.000Z'],
    ['2026-03-01T00:00:00.5Z', '2026-03-01T00:00:00.500Z'],
    ['2026-03-01T00:00:00.123999999Z', '2026-03-01T00:00:00.123Z'],
    ['2026-03-01T00:00:00.12399999999999Z', '2026-03-01T00:00:00.123Z'],
    ['2026-03-01T02:00:00.12399999999999+02:00', '2026-03-01T00:00:00.123Z'],
    [`2026-03-01T00:00:00.${'9'.repeat(50)}Z`, undefined],
    ['2026-03-01T00:00:00.Z', undefined],
    ['2026-03-01T02:00:00+02:00', '2026-03-01T00:00:00.000Z'],
    ['2026-02-28T19:00:00.25-05:00', '2026-03-01T00:00:00.250Z'],
    ['2100-12-31T23:59:59-00:00', '2100-12-31T23:59:59.000Z'],
    ['2100-12-31T23:59:59-00:01', undefined],
    ['2000-01-01T00:00:00+00:01', undefined],
    ['2026-03-01T00:00:00', undefined],
    ['2026-03-01', undefined],
    ['2026-02-30T00:00:00Z', undefined],
    ['2026-03-01T24:00:00Z', undefined],
    ['2026-03-01T00:00:60Z', undefined],
    ['2026-03-01T00:00:00Z[u-ca=hebrew]', undefined],
    ['2026-03-01T00:00:00+25:00', undefined],
    ['2026-03-01 00:00:00Z', undefined],
    ['tomorrow', undefined],
  ])('%s -> %s', (literal, expected) => {
    expect(utcTimestamp(literal)).toBe(expected);
    expect(accepts(timestampInput, literal)).toBe(expected !== undefined);
  });
});

test('an instant is cut to milliseconds on the wire, as Temporal cuts it', () => {
  const mostNanoseconds = 8_640_000_000_000_000_000_000n;
  fc.assert(
    fc.property(fc.bigInt({ min: -mostNanoseconds, max: mostNanoseconds }), (nanoseconds) => {
      const instant = Temporal.Instant.fromEpochNanoseconds(nanoseconds);
      expect(timestampOf(instant)).toBe(instant.toString({ fractionalSecondDigits: 3 }));
    }),
  );
});

describe('a date-time that one part of it spoils is told which', () => {
  const years = 'must be in the years 2000 to 2100';
  test.each([
    [dateInput, '1999-12-31', years],
    [dateInput, '2104-02-29', years],
    [dateInput, '1999-02-30', 'must be a date that exists, such as 2026-03-01'],
    [timestampInput, '1970-01-01T00:00:00Z', years],
    [timestampInput, '1970-01-01T00:00:00', 'must be a date-time with an offset, such as 2026-03-01T00:00:00Z'],
    [dateOrTimestampInput, '2101-01-01', years],
    [dateOrTimestampInput, '2100-12-31T20:00:00-05:00', years],
    [timestampInput, '2000-01-01T00:00:00+05:00', years],
    [timestampInput, '2026-02-29T00:00:00Z', 'must be on a day that exists: there is no 2026-02-29'],
    [timestampInput, '2026-13-01T00:00:00+02:00', 'must be on a day that exists: there is no 2026-13-01'],
    [timestampInput, '2026-02-30T00:00:00', 'must be a date-time with an offset, such as 2026-03-01T00:00:00Z'],
    [timestampInput, '2026-02-28T24:00:00Z', 'must be at a time that exists: there is no 24:00:00'],
    [timestampInput, '2026-06-30T23:59:60.5+02:00', 'must be at a time that exists: there is no 23:59:60'],
    [timestampInput, '2026-06-30T24:00:00', 'must be a date-time with an offset, such as 2026-03-01T00:00:00Z'],
    [dateOrTimestampInput, '2026-06-30T24:00:00Z', 'must be at a time that exists: there is no 24:00:00'],
    [dateOrTimestampInput, '2026-02-30', 'must be on a day that exists: there is no 2026-02-30'],
    [dateInput, '2026-03-01T00:00:00Z', 'must be a date such as 2026-03-01'],
  ])('%# %s', (field, literal, words) => {
    expect(field.safeParse(literal).error?.issues[0]?.message).toBe(words);
  });
});

test.each([
  ['a decimal', decimalInput, '1'.repeat(40)],
  ['a date', dateInput, '2026-03-01T00:00:00Z'],
  ['a date or date-time', dateOrTimestampInput, 'x'.repeat(41)],
  ['a page size', page().limit, 'x'.repeat(17)],
  ['an include', queryInclude(['terms']), 'x'.repeat(201)],
])('%s that is too long is told that alone', (_field, field, value) => {
  expect(field.safeParse(value).error?.issues).toHaveLength(1);
});

describe('texts are well-formed, in NFC, and counted in code points', () => {
  test.each([
    ['a lone surrogate', '\uD800', false],
    ['NUL', 'a\u0000b', false],
    ['an escape sequence', 'a\u001B[2Jb', false],
    ['nothing', '', false],
    ['three emoji of two units each', '😀😀😀', true],
    ['four letters', 'abcd', false],
    ['30 combining marks in a row', `e${'\u0301'.repeat(30)}`, true],
    ['31 of them', `e${'\u0301'.repeat(31)}`, false],
  ])('%s: accepted %s', (_case, value, isAccepted) => {
    const isShort = value.length !== 31 && value !== 'a\u0000b' && value !== 'a\u001B[2Jb';
    expect(accepts(text(isShort ? 3 : 100), value)).toBe(isAccepted);
  });

  test('e with a combining accent becomes one letter', () => {
    expect(text().parse('Cafe\u0301')).toBe('Caf\u00e9');
  });
});

describe('what the property of an event is compared with', () => {
  test.each([
    ['nothing', '', true],
    ['a control character that an event may have', '\u001B', true],
    ['NUL', 'a\u0000b', false],
    ['a lone surrogate', '\uD800', false],
    ['as much as an event may have', 'x'.repeat(4096), true],
    ['more than that', 'x'.repeat(4097), false],
    ['30 combining marks in a row', `e${'\u0301'.repeat(30)}`, true],
    ['31 of them', `e${'\u0301'.repeat(31)}`, false],
  ])('%s: accepted %s', (_case, value, isAccepted) => {
    expect(accepts(comparedText, value)).toBe(isAccepted);
  });
});

describe('a number of an event has 40 digits on either side of its point at most', () => {
  test.each([
    ['9'.repeat(40), true],
    ['9'.repeat(41), false],
    [`-${'9'.repeat(40)}.5`, true],
    ['1e39', true],
    ['1e40', false],
    ['0.1e41', false],
    ['1e9999', false],
    ['1e10000', false],
    ['1e99999999999999999999', false],
    [`0.${'0'.repeat(39)}1`, true],
    [`0.${'0'.repeat(40)}1`, false],
    ['1e-40', true],
    ['1e-41', false],
    ['10e-41', false],
    ['12e-40', true],
    [`1.5${'0'.repeat(60)}`, true],
    [`0.${'0'.repeat(60)}`, true],
    ['0e9999', true],
  ])('%s: %s', (literal, isAccepted) => {
    expect(isSmallEnough(literal)).toBe(isAccepted);
  });

  // A pattern that begins anew at each zero would be busy with such a body for minutes.
  test('which is found out of a million of them at once', () => {
    expect(isSmallEnough(`0.${'0'.repeat(1_000_000)}1`)).toBe(false);
    expect(isSmallEnough(`1.${'0'.repeat(1_000_000)}`)).toBe(true);
    expect(withoutExponent(`1.${'0'.repeat(1_000_000)}1e1`)).toHaveLength(1_000_003);
    expect(creditDigits(`1.${'0'.repeat(1_000_000)}1`)).toHaveLength(1_000_003);
    expect(creditDigits(`1.${'0'.repeat(1_000_000)}`)).toBe('1.000000');
  });
});

describe('emails', () => {
  test.each([
    ['ada@example.com', true],
    ['ada.l+b@mail.example.co.uk', true],
    ['ada', false],
    ['ada@', false],
    ['@example.com', false],
    ['ada@example', false],
    ['ada@@example.com', false],
    ['ada@example..com', false],
    ['.ada@example.com', false],
    ['ada.@example.com', false],
    ['ada..l@example.com', false],
    ['ada@-example.com', false],
    ['ada@example-.com', false],
    ['ada@ex_ample.com', false],
    ['ada@ex-am--ple.com', true],
    ['ada@b\u00fccher.example', true],
    ['ada@example.com.', false],
    ['ada @example.com', false],
    ['Ada <ada@example.com>', false],
    [`${'a'.repeat(64)}@example.com`, true],
    [`${'a'.repeat(65)}@example.com`, false],
  ])('%s: %s', (literal, isAccepted) => {
    expect(accepts(emailInput, literal)).toBe(isAccepted);
  });
});

describe('names that the caller chooses are short, few, and touch no prototype', () => {
  const members = membersInput({ keys: 2, keyCharacters: 5, value: z.string() });
  test.each([
    ['two of them', '{"a":"1","b":"2"}', true],
    ['three of them', '{"a":"1","b":"2","c":"3"}', false],
    ['too long', '{"abcdef":"1"}', false],
    ['constructor', '{"constructor":"1"}', false],
    ['one that Unicode writes in two ways, in both', '{"\u00e9":"1","e\\u0301":"2"}', false],
  ])('%s: accepted %s', (_case, json, isAccepted) => {
    expect(accepts(members, JSON.parse(json))).toBe(isAccepted);
  });

  test('come out in NFC', () => {
    expect(members.parse({ 'e\u0301': '1' })).toEqual({ '\u00e9': '1' });
  });
});

describe('paging is refused out of range, never cut', () => {
  const query = z.strictObject(page());
  test.each([
    ['1', true],
    ['100', true],
    ['0', false],
    ['101', false],
    ['-1', false],
    ['1.5', false],
    ['ten', false],
  ])('limit=%s: %s', (limit, isAccepted) => {
    expect(accepts(query, { limit })).toBe(isAccepted);
  });
});
