import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';

import { exactNumber } from '../../src/exact-json.ts';
import { allOperations } from '../../src/operations/all.ts';
import { centsInput, creditsInput, integerInput, listOf, text } from '../../src/operations/fields.ts';
import { loadOutline } from '../../src/operations/index.ts';
import type { OperationName } from '../../src/operations/index.ts';
import { parseInput, parsePlainly } from '../../src/operations/parse.ts';
import { readPlainly, recognizedAs, refused, underRule } from '../../src/operations/plain.ts';
import type { Form } from '../../src/operations/plain.ts';
import { formOf, outlineOf } from '../../tools/outlines.ts';

const schemas = allOperations.flatMap(({ params, query, body, response }) =>
  [params, query, body, response].filter((schema) => schema !== undefined),
);

/** Values that come near a form, right ones and wrong ones. */
function near(form: Form): fc.Arbitrary<unknown> {
  const odd: fc.Arbitrary<unknown> = fc.oneof(
    fc.constantFrom(
      undefined,
      null,
      '',
      0,
      -0,
      -1,
      1.5,
      Number.NaN,
      true,
      'true',
      'x'.repeat(300),
      'e\u0301',
      '\u0000',
      '\ud800',
    ),
    fc.constantFrom(
      '2026-02-30',
      '2026-03-01',
      '2026-03-01T00:00:00Z',
      '2026-03-01T01:00:00+01:00',
      'ada@example.com',
      '12.50',
      '17',
    ),
    fc.constantFrom(exactNumber('1.10'), exactNumber('0.1234567'), exactNumber('1e400'), {}, [], { __proto__: null }),
    fc.jsonValue({ maxDepth: 2 }),
    fc.integer(),
    fc.string({ unit: 'binary' }),
  );
  return fc.oneof({ weight: 12, arbitrary: right(form, odd) }, { weight: 1, arbitrary: odd });
}

function right(form: Form, odd: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  if (typeof form === 'string' || isField(form)) return fieldValue(typeof form === 'string' ? form : form[0], odd);
  if ('members' in form) {
    const members = fc.record(
      Object.fromEntries(Object.entries(form.members).map(([name, each]) => [name, near(each)])),
      {
        requiredKeys: Object.entries(form.members).flatMap(([name, each]) => (isAbsentable(each) ? [] : [name])),
      },
    );
    const unknown = fc.dictionary(fc.constantFrom('another', '__proto__', 'constructor'), odd, { minKeys: 1 });
    return fc.oneof(
      { weight: 15, arbitrary: members },
      { weight: 1, arbitrary: fc.tuple(members, unknown).map(([a, b]) => ({ ...b, ...a })) },
    );
  }
  if ('list' in form) return fc.array(near(form.list), { maxLength: 3 });
  if ('record' in form)
    return fc.dictionary(fc.oneof(fc.string(), fc.constant('__proto__')), near(form.record), { maxKeys: 3 });
  if ('values' in form) return fc.constantFrom(...form.values);
  if ('oneOf' in form) return fc.oneof(...form.oneOf.map(near));
  if ('nullable' in form) return fc.option(near(form.nullable));
  if ('optional' in form) return fc.option(near(form.optional), { nil: undefined });
  return near(form.of);
}

function isField(form: Form): form is Extract<Form, readonly unknown[]> {
  return Array.isArray(form);
}

function isAbsentable(form: Form): boolean {
  return typeof form === 'object' && ('optional' in form || 'default' in form);
}

function fieldValue(name: string, odd: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const values: Record<string, fc.Arbitrary<unknown>> = {
    string: fc.oneof(fc.string(), fc.uuid()),
    pathId: fc.oneof(fc.string({ unit: 'binary' }), fc.uuid(), fc.constantFrom('', 'a\u0000', '\ud800')),
    text: fc.oneof(fc.string({ minLength: 1 }), fc.string({ unit: 'grapheme', minLength: 1, maxLength: 300 })),
    email: fc.oneof(fc.emailAddress(), fc.constantFrom('a@b', 'a@b.c', 'Å@example.com', ' a@b.c')),
    boolean: fc.boolean(),
    int: fc.oneof(fc.integer(), fc.double()),
    exact: fc.oneof(
      fc.double(),
      fc.integer().map((value) => exactNumber(`${value}.10`)),
    ),
    integer: fc.oneof(fc.integer(), fc.integer({ min: 0, max: 100 }), fc.double()),
    cents: fc.oneof(fc.maxSafeInteger(), fc.integer(), fc.constantFrom(10 ** 15, 10 ** 15 + 1)),
    credits: fc.oneof(
      fc.integer(),
      fc.double(),
      fc.integer().map((value) => exactNumber(`${value}.000001`)),
    ),
    decimal: fc.oneof(
      fc.nat().map(String),
      fc.tuple(fc.nat(), fc.nat()).map(([a, b]) => `${a}.${b}`),
    ),
    date: fc
      .date({ min: new Date('1999-12-01'), max: new Date('2101-02-01'), noInvalidDate: true })
      .map((date) => date.toISOString().slice(0, 10)),
    timestamp: fc
      .date({ min: new Date('1999-12-01'), max: new Date('2101-02-01'), noInvalidDate: true })
      .chain((date) =>
        fc.constantFrom(date.toISOString(), date.toISOString().replace('Z', '+05:30'), date.toISOString().slice(0, 19)),
      ),
    dateOrTimestamp: fc.constantFrom('2026-03-01', '2026-03-01T00:00:00Z', '2026-02-30'),
    queryBoolean: fc.constantFrom('true', 'false', 'no'),
    queryInclude: fc.constantFrom('terms', ' terms,terms', 'lineItems', 'grants', 'nothing'),
    queryInteger: fc.oneof(fc.nat(150).map(String), fc.bigInt().map(String)),
    events: fc.constantFrom({ events: [{ eventName: 'x', customerId: 'c' }] }, { events: [{ eventName: 'x' }] }),
  };
  return values[name] ?? odd;
}

/** The text, so that the order of members counts too. */
const written = (value: unknown) =>
  JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'bigint' ? `${each}n` : each === undefined ? 'undefined' : each,
  );

describe('what is read plainly', () => {
  test('is what the schema gives out, and nothing that it refuses', () => {
    let readCount = 0;
    const forms = schemas.map(formOf);
    const values = forms.map((form, index) => near(form).map((value) => ({ index, value })));
    fc.assert(
      fc.property(fc.oneof(...values), ({ index, value }) => {
        const read = readPlainly(forms[index]!, value);
        if (read === refused) return;
        readCount += 1;
        const judged = schemas[index]!.safeParse(value);
        expect(judged.success).toBe(true);
        expect(read).toStrictEqual(judged.data);
        expect(written(read)).toBe(written(judged.data));
      }),
      { numRuns: 500 },
    );
    // Otherwise nothing was compared.
    expect(readCount).toBeGreaterThan(120);
  });

  test('is every example but those of a few operations, as the schemas read it', async () => {
    const forSchemas = new Set<string>();
    for (const operation of allOperations) {
      const outline = await loadOutline(operation.name as OperationName);
      for (const { input } of operation.examples) {
        const plain = parsePlainly(outline, input);
        if (plain === undefined) forSchemas.add(operation.name);
        else expect(plain).toEqual(parseInput(operation, input));
      }
    }
    expect([...forSchemas]).toEqual([
      'customers.update',
      'contracts.update',
      'meters.create',
      'meters.setRateCard',
      'usage.ingest',
      'pricing.estimate',
      'pricing.create',
      'clock.advance',
    ]);
  });
});

describe('the outline', () => {
  test.each(allOperations.map(({ name }) => name as OperationName))('of %s is current', async (name) => {
    const operation = allOperations.find((each) => each.name === name)!;
    expect(await loadOutline(name)).toEqual(JSON.parse(JSON.stringify(outlineOf(operation))));
  });
});

describe('a form leaves to the schema', () => {
  test.each([
    ['a pattern', z.string().regex(/a/)],
    ['a rule of its own', z.string().refine((value) => value === 'x')],
    ['a recognized field that is held to more', text().refine((value) => value === 'x')],
    ['a recognized field that is turned into something', centsInput().transform(String)],
    ['an object under a rule that has no name', z.strictObject({ a: z.string() }).refine(() => false)],
    ['an object under two rules', underRule('links', z.strictObject({})).superRefine(() => undefined)],
    ['an object that takes other members', z.object({ a: z.string() })],
    ['a choice of which a part is for the schema', z.union([z.string().regex(/a/), z.string()])],
    ['a number that may have a fraction', z.number()],
  ])('%s', (_, schema) => {
    expect(formOf(schema)).toBe('schema');
  });

  test.each([
    ['another description', text(5).describe('x').meta({ flag: 'y' }), ['text', 5]],
    ['optional', integerInput(1, 2).optional(), { optional: ['integer', 1, 2] }],
    ['credits', creditsInput('of 0 or more'), ['credits', 'of 0 or more']],
    ['recognized as a whole', recognizedAs('date', z.string().regex(/a/)), 'date'],
    ['a list', listOf(z.int()), { members: { data: { list: 'int' }, hasMore: 'boolean', total: 'int' } }],
  ])('nothing of %s', (_, schema, form) => {
    expect(formOf(schema)).toEqual(form);
  });
});
