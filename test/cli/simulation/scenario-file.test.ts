import { describe, expect, test } from 'vitest';
import * as z from 'zod';

import { scenarioJsonSchema } from '../../../src/cli/simulation/scenario-schema.ts';
import { readScenario } from '../../../src/cli/simulation/scenario.ts';
import { refusalOf } from '../../support/refusal.ts';

const head = 'start: 2026-01-01\nuntil: 2026-02-01\n';
const acme = `${head}customers:\n  - id: acme\ncontracts:\n  - { customer: acme, plan: Standard }\n`;

const problemsOf = async (text: string) =>
  (await refusalOf(Promise.try(() => readScenario(text, 's.yaml')))).replace('invalidInput ', '').split('; ');

describe('a scenario with a mistake is refused, with the line and the path of the mistake', () => {
  test.each<[what: string, text: string, problems: readonly string[]]>([
    ['nothing', '', ['s.yaml: the file is empty']],
    ['no YAML', 'start: "2026', ['s.yaml:1: Missing closing "quote']],
    ['a list', '- start', ['s.yaml:1: must be an object']],
    ['no start', 'until: 2026-02-01\n', ['s.yaml:1: start: is required']],
    [
      'a day that is none',
      'start: 2026-02-30\nuntil: 2026-03-01\n',
      ['s.yaml:1: start: must be on a day that exists: there is no 2026-02-30'],
    ],
    ['an end before the start', 'start: 2026-02-01\nuntil: 2026-01-01\n', ['s.yaml:2: until: must be after the start']],
    [
      'a field of another name',
      `${head}customers:\n  - { id: acme, label: Acme }\n`,
      [expect.stringMatching(/^s\.yaml:4: customers\[0\]\.label: unknown field: the fields here are id, name, /)],
    ],
    ['a misspelt section', `${head}custmers: []\n`, ['s.yaml:3: custmers: unknown field: did you mean customers?']],
    [
      'a misspelt field',
      `${head}customers:\n  - id: acme\n    legalNmae: Acme\n`,
      ['s.yaml:5: customers[0].legalNmae: unknown field: did you mean legalName?'],
    ],
    [
      'a customer twice',
      `${head}customers:\n  - id: a\n  - id: a\n`,
      ['s.yaml:5: customers[1]: is called a, as customers[0] is'],
    ],
    [
      'a customer that is not there',
      `${acme}  - { customer: acm, plan: Standard, id: other }\n`,
      ['s.yaml:7: contracts[1].customer: there is no customer acm: did you mean acme?'],
    ],
    [
      'an amount with a fraction',
      `${acme}grants:\n  - contract: acme\n    expiresAt: 2027-01-01T00:00:00Z\n    amountCents: 12.50\n`,
      ['s.yaml:10: grants[0].amountCents: must be a whole number of cents, written with digits only'],
    ],
    [
      'an instant outside',
      `${acme}steps:\n  - at: 2027-01-01\n    do: contracts cancel\n`,
      [
        's.yaml:8: steps[0].at: must be from the start to the end, 2026-01-01T00:00:00.000Z to 2026-02-01T00:00:00.000Z',
      ],
    ],
    [
      'a command that there is not',
      `${acme}steps:\n  - at: 2026-01-05\n    do: contracts cancle\n`,
      ['s.yaml:9: steps[0].do: there is no contracts cancle here: did you mean contracts cancel?'],
    ],
    [
      'time moved by hand',
      `${acme}steps:\n  - { at: 2026-01-05, do: clock advance }\n`,
      ['s.yaml:8: steps[0].do: there is no clock advance here'],
    ],
    [
      'a question that changes something',
      `${acme}expect:\n  - { call: contracts cancel, path: data, equals: 1 }\n`,
      ['s.yaml:8: expect[0].call: there is no contracts cancel here'],
    ],
    [
      'an expectation of nothing',
      `${acme}expect:\n  - { balance: acme }\n  - { equals: 1 }\n`,
      [
        's.yaml:8: expect[0]: takes exactly one of equals, between, atLeast, atMost',
        's.yaml:9: expect[1]: takes exactly one of invoice, balance, budget, entries, events, call',
      ],
    ],
    [
      'a range whose ends are no decimals',
      `${acme}usage:\n  - customer: acme\n    eventName: a\n    perDay: 1\n    properties:\n      n: { from: x, to: 5 }\n      m: { from: 1e3, to: 5 }\n`,
      [
        's.yaml:12: usage[0].properties.n.from: must be a decimal such as 12.50',
        's.yaml:13: usage[0].properties.m.from: must be a decimal such as 12.50',
      ],
    ],
    [
      'usage of nothing',
      `${acme}usage:\n  - { customer: acme }\n`,
      ['s.yaml:8: usage[0]: takes either perDay or file'],
    ],
    [
      'usage of two kinds',
      `${acme}usage:\n  - { customer: acme, eventName: x, perDay: 1, timeZone: UTC }\n`,
      ['s.yaml:8: usage[0].timeZone: cannot be given with perDay'],
    ],
    [
      'a range without end',
      `${acme}usage:\n  - { customer: acme, eventName: x, perDay: 1, properties: { tokens: { from: 9, to: 1 } } }\n`,
      ['s.yaml:8: usage[0].properties.tokens.to: must be 9 or more'],
    ],
    [
      'a catalog with a mistake of its own',
      `${head}catalog:\n  products:\n    - nam: A\n`,
      [
        's.yaml:5: catalog.products[0].name: is required',
        's.yaml:5: catalog.products[0].nam: unknown field: did you mean name?',
      ],
    ],
  ])('%s', async (_what, text, problems) => {
    expect(await problemsOf(text)).toEqual(problems);
  });
});

test('a file of another form is told where the form stands', () => {
  expect(() => readScenario(`${head}custmers: []\n`, 's.yaml')).toThrow(
    expect.objectContaining({ hint: 'see what a scenario can hold with: tally simulate schema' }),
  );
});

test('an empty file is told what shows the form', () => {
  const words = 'see what one looks like with: tally simulate schema';
  expect(() => readScenario('', 's.yaml')).toThrow(expect.objectContaining({ hint: words }));
});

test('editors are given the schema that files are read by', () => {
  const schema = scenarioJsonSchema();
  const editor = z.fromJSONSchema(JSON.parse(schema));
  expect(editor.safeParse({ start: '2026-01-01', until: '2026-02-01', customers: [{ id: 'acme' }] }).success).toBe(
    true,
  );
  expect(editor.safeParse({ start: '2026-01-01', until: '2026-02-01', custmers: [] }).success).toBe(false);
});
