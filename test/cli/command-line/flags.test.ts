import { describe, expect, test } from 'vitest';

import { inputOf, missingFlags, wholeBody } from '../../../src/cli/command-line/flags.ts';
import type { Given } from '../../../src/cli/command-line/flags.ts';
import type { CommandSpec, FlagSpec, Shape } from '../../../src/cli/command-line/manifest.ts';

function flag(name: string, shape: Shape & { in?: 'query' }): FlagSpec {
  return { in: 'body', name, flag: name, placeholder: 'x', description: '', ...shape };
}

const contact: Shape['fields'] = {
  name: { kind: 'text' },
  email: { kind: 'text' },
  roles: { kind: 'list', element: { kind: 'text', choices: ['primary', 'accounts_payable'] } },
  weight: { kind: 'number' },
  include: { kind: 'list', element: { kind: 'text' } },
  uses: { kind: 'members', element: { kind: 'texts' } },
  filter: { kind: 'object', fields: {} },
  csm: { kind: 'object', fields: { displayName: { kind: 'text' }, level: { kind: 'integer' } } },
  dimensions: { kind: 'members', element: { kind: 'text' } },
};

const command = {
  positionals: [{ name: 'customerId', placeholder: 'customer-id', description: '' }],
  hasBody: true,
  isWrite: true,
  flags: [
    flag('name', { kind: 'text', isRequired: true }),
    flag('cents', { kind: 'integer' }),
    flag('credits', { kind: 'number' }),
    flag('auto', { kind: 'boolean' }),
    flag('mode', { kind: 'text', choices: ['In Progress', 'Paid'] }),
    flag('tags', { kind: 'list', element: { kind: 'text' } }),
    flag('thresholds', { kind: 'list', element: { kind: 'integer' } }),
    flag('contact', { kind: 'objects', fields: contact }),
    flag('address', { kind: 'object', fields: { postalCode: { kind: 'text' }, address1: { kind: 'text' } } }),
    flag('metadata', { kind: 'members', element: { kind: 'any' }, isNullable: true }),
    flag('dimensions', { kind: 'members', element: { kind: 'text' } }),
    flag('legalName', { kind: 'text', isNullable: true }),
    { ...flag('endDate', { kind: 'text' }), placeholder: 'date|date-time' },
    flag('status', { kind: 'text', choices: ['In Progress'], in: 'query' }),
  ],
} as unknown as CommandSpec;

const nothing: Given = { positionals: ['c1'], flags: {}, cleared: [] };
const files: Record<string, string> = { 'address.json': '{"postalCode":"1.0"}' };
const readText = (path: string) => Promise.resolve(files[path] ?? '');

async function bodyOf(flags: Given['flags'], extra: { whole?: unknown; cleared?: string[] } = {}): Promise<string> {
  const input = await inputOf(
    command,
    { ...nothing, flags, cleared: extra.cleared ?? [] },
    { whole: extra.whole, readText },
  );
  return JSON.stringify(input.body);
}

describe('what is typed becomes what is sent', () => {
  test.each<[string, Given['flags'], string]>([
    ['a text stays a text, even one of digits', { name: ['42'] }, '{"name":"42"}'],
    ['a date is its 00:00 UTC', { endDate: ['2026-03-01'] }, '{"endDate":"2026-03-01T00:00:00Z"}'],
    [
      'a date-time stays as it is',
      { endDate: ['2026-03-01T09:00:00+01:00'] },
      '{"endDate":"2026-03-01T09:00:00+01:00"}',
    ],
    ['cents are a number', { cents: ['1250'] }, '{"cents":1250}'],
    ['a number keeps its digits', { credits: ['1.10'] }, '{"credits":1.10}'],
    ['a number beyond 2^53 keeps its digits', { cents: ['9007199254740993'] }, '{"cents":9007199254740993}'],
    ['what is no number is left for the schema to refuse', { cents: ['12,50'] }, '{"cents":"12,50"}'],
    ['true and false are booleans', { auto: ['false'] }, '{"auto":false}'],
    ['a choice is found whatever its case and dashes', { mode: ['in-progress'] }, '{"mode":"In Progress"}'],
    ['an unknown choice is left for the schema to refuse', { mode: ['payd'] }, '{"mode":"payd"}'],
    ['a list may be cut by commas and repeated', { tags: ['a,b', 'c'] }, '{"tags":["a","b","c"]}'],
    ['a list may be JSON, where a value has a comma', { tags: ['["a,b"]'] }, '{"tags":["a,b"]}'],
    ['a list of numbers', { thresholds: ['1,20'] }, '{"thresholds":[1,20]}'],
    ['an empty list', { tags: [''] }, '{"tags":[]}'],
    [
      'members are numbers, booleans or texts',
      { metadata: ['a=5', 'b=true', 'c=PO-1', 'd="5"', 'e=x=y'] },
      '{"metadata":{"a":5,"b":true,"c":"PO-1","d":"5","e":"x=y"}}',
    ],
    ['members of texts stay texts', { dimensions: ['model=5'] }, '{"dimensions":{"model":"5"}}'],
    [
      'a record by its fields in either spelling',
      { address: ['postal-code=75001,address1=1 Main St, Suite 5'] },
      '{"address":{"postalCode":"75001","address1":"1 Main St, Suite 5"}}',
    ],
    ['a record from a file', { address: ['@address.json'] }, '{"address":{"postalCode":"1.0"}}'],
    [
      'records, one a flag',
      { contact: ['name=Ada,roles=primary+accounts-payable', 'name=Bo,weight=1.50'] },
      '{"contact":[{"name":"Ada","roles":["primary","accounts_payable"]},{"name":"Bo","weight":1.50}]}',
    ],
    [
      'words of a choice parted by commas',
      { contact: ['name=Ada,roles=primary,accounts-payable'] },
      '{"contact":[{"name":"Ada","roles":["primary","accounts_payable"]}]}',
    ],
    [
      'words of any kind parted by + or |, or as JSON where a value has a comma',
      { contact: ['include=a+b|c,name=Ada', 'name=Bo,include=["a,b"]'] },
      '{"contact":[{"include":["a","b","c"],"name":"Ada"},{"name":"Bo","include":["a,b"]}]}',
    ],
    [
      'a member that is a text or several: digits are a text, several are JSON',
      { contact: ['uses.model=small,uses.tier=5', 'uses.model=["a","b"],uses.tier="a+b"'] },
      '{"contact":[{"uses":{"model":"small","tier":"5"}},{"uses":{"model":["a","b"],"tier":"a+b"}}]}',
    ],
    [
      'records as JSON',
      { contact: ['{"name":"Ada"}', '[{"name":"Bo"}]'] },
      '{"contact":[{"name":"Ada"},{"name":"Bo"}]}',
    ],
    [
      'a record inside a record as JSON',
      { contact: ['name=Ada,filter={"a":[1,2]}'] },
      '{"contact":[{"name":"Ada","filter":{"a":[1,2]}}]}',
    ],
    [
      'a record inside a record by names with a point',
      {
        contact: ['name=Ada, Countess,csm.display-name=Grace,csm.level=2,dimensions.model=5,dimensions.max-tokens=a,b'],
      },
      '{"contact":[{"name":"Ada, Countess","csm":{"displayName":"Grace","level":2},"dimensions":{"model":"5","max-tokens":"a,b"}}]}',
    ],
    [
      'a point in the name of no record is a name',
      { contact: ['nmae.first=Ada'] },
      '{"contact":[{"nmae.first":"Ada"}]}',
    ],
    ['an unknown field is kept for the schema to refuse', { contact: ['nmae=Ada'] }, '{"contact":[{"nmae":"Ada"}]}'],
  ])('%s', async (_rule, flags, expected) => {
    expect(await bodyOf(flags)).toBe(expected);
  });

  test('query values are texts, with their choices found', async () => {
    const input = await inputOf(command, { ...nothing, flags: { status: ['in-progress'] } }, { readText });
    expect(input).toEqual({ params: { customerId: 'c1' }, query: { status: 'In Progress' }, body: {} });
  });

  test('flags go on top of the body of --input', async () => {
    const whole = wholeBody('{"name":"Old","credits":0.10}', false);
    expect(await bodyOf({ name: ['New'] }, { whole })).toBe('{"name":"New","credits":0.10}');
  });

  test('a list from a file may be as large as the body of --input', async () => {
    const events = Array.from({ length: 6_000 }, () => ({ name: 'x', email: 'y' }));
    const whole = JSON.stringify(events);
    const given = { ...nothing, flags: { contact: ['@events.json'] } };
    const read = async (spec: CommandSpec) => (await inputOf(spec, given, { readText: async () => whole })).body;
    expect(await read({ ...command, isBulk: true })).toEqual({ contact: events });
    await expect(read(command)).rejects.toThrow('--contact: the JSON has more than 10000 names');
  });

  test.each([['legalName'], ['legal-name'], ['LEGALNAME']])('--clear %s sends null', async (name) => {
    expect(await bodyOf({}, { cleared: [name] })).toBe('{"legalName":null}');
  });

  test('a field that cannot be null cannot be cleared', async () => {
    await expect(bodyOf({}, { cleared: ['name'] })).rejects.toThrow('--clear name: no field of this name');
  });

  test.each(['metadata', 'dimensions'])('a name of %s that would touch prototypes is refused', async (member) => {
    for (const name of ['__proto__', 'constructor', 'prototype']) {
      await expect(bodyOf({ [member]: [`${name}=1`] })).rejects.toMatchObject({ kind: 'invalidInput' });
    }
    await expect(bodyOf({ contact: ['dimensions.__proto__=1'] })).rejects.toMatchObject({ kind: 'invalidInput' });
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  test.each<[string, Record<string, string[]>, string]>([
    ['of two flags', { metadata: ['a=1', 'a=2'] }, '--metadata: "a" is given twice'],
    ['of JSON and a flag', { metadata: ['{"a":1}', 'a=2'] }, '--metadata: "a" is given twice'],
    ['of one record, in either spelling', { address: ['postal-code=1,postalCode=2'] }, '"postalCode" is given twice'],
    ['of a record inside a record', { contact: ['dimensions.a=1,dimensions.a=2'] }, '--contact: "a" is given twice'],
    ['of a record and a name with a point', { contact: ['csm={"level":1},csm.level=2'] }, '"csm" is given twice'],
  ])('a name that is there twice is refused, and no value lost: %s', async (_rule, flags, words) => {
    await expect(bodyOf(flags)).rejects.toThrow(words);
  });

  test('words of any kind parted by commas inside a record are refused: they may be one value or several', async () => {
    await expect(bodyOf({ contact: ['include=a,b,name=Ada'] })).rejects.toMatchObject({
      kind: 'usage',
      message:
        '--contact: include: "a,b" may be one value or several: put + between several, or give JSON, as ["a,b"], for this one',
    });
  });

  test.each(['a,b', 'a+b', 'a|b'])('%s is refused for a member that is a text or several', async (text) => {
    await expect(bodyOf({ contact: [`uses.model=${text}`] })).rejects.toMatchObject({
      kind: 'usage',
      message: `--contact: model: "${text}" may be one value or several: give JSON, as ["a","b"] for several or "${text}" for this one`,
    });
  });

  test('a record that is neither pairs nor JSON is refused with its flag', async () => {
    await expect(bodyOf({ address: ['Paris'] })).rejects.toThrow('--address takes name=value, not "Paris"');
    await expect(bodyOf({ address: ['{"a":'] })).rejects.toThrow('--address: the JSON is malformed');
  });

  test('an empty text empties a list, but is no list to look for, of which nothing would be found', async () => {
    const given = { ...nothing, flags: { tags: ['', 'a'] } };
    const sent = async (isWrite: boolean) => (await inputOf({ ...command, isWrite }, given, { readText })).body;
    expect([await sent(true), await sent(false)]).toEqual([{ tags: ['a'] }, { tags: ['', 'a'] }]);
  });
});

describe('what is missing', () => {
  const missing = (given: Partial<Given>, hasWhole = false) =>
    missingFlags(command, { ...nothing, ...given }, hasWhole).map((spec) => spec.flag);

  test('is every required flag that was not given', () => {
    expect(missing({})).toEqual(['name']);
    expect(missing({ flags: { name: ['x'] } })).toEqual([]);
  });

  test('is for the schema to say where the body came by --input', () => {
    expect(missing({}, true)).toEqual([]);
  });
});

test.each([
  ['[]', 'must hold a JSON object'],
  ['5', 'must hold a JSON object'],
  ['{', '--input: the JSON is malformed'],
  ['{"a":1,"a":2}', 'twice'],
  ['{"__proto__":1}', 'not allowed'],
])('--input of %s is refused', (text, words) => {
  expect(() => wholeBody(text, false)).toThrow(words);
});
