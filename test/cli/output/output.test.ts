import { describe, expect, test } from 'vitest';

import { chooseOutput, render } from '../../../src/cli/output/output.ts';
import type { OutputFlags } from '../../../src/cli/output/output.ts';
import type { OutputStream } from '../../../src/cli/terminal/terminal.ts';
import type { View } from '../../../src/operations/operation.ts';

const view: View = {
  rows: 'data',
  columns: [
    { header: 'ID', path: 'id' },
    { header: 'NAME', path: 'name' },
    { header: 'TOTAL', path: 'totalCents', format: 'money' },
    { header: 'PAUSED', path: 'isPaused', format: 'boolean' },
    { header: 'TAGS', path: 'tags', format: 'list' },
    { header: 'CREATED', path: 'createdAt', format: 'timestamp' },
  ],
};
const fields = ['id', 'name', 'totalCents', 'isPaused', 'tags', 'createdAt', 'credits', 'metadata'];
const ada = {
  id: 'c1',
  name: 'Ada',
  totalCents: 1250,
  isPaused: false,
  tags: ['eu', 'vip'],
  createdAt: '2026-03-01T00:00:00.000Z',
  credits: JSON.rawJSON('1.10'),
};
const bo = {
  id: 'c2',
  name: 'Bo',
  totalCents: -5,
  isPaused: true,
  tags: [],
  createdAt: '2026-03-02T10:20:30.456Z',
  credits: 2,
};
const list = { data: [ada, bo], hasMore: false, total: 2 };

const pipe = { isTerminal: false, hasColor: false, hasUnicode: false, columns: undefined };
const terminal = { isTerminal: true, hasColor: false, hasUnicode: false, columns: 100 };

async function printed(body: unknown, flags: OutputFlags, stdout: OutputStream = pipe) {
  return await render(body, view, { choice: chooseOutput(flags, stdout), fields, stdout });
}

describe('off a terminal', () => {
  test('a list is TSV: wire values, no header', async () => {
    expect(await printed(list, {})).toBe(
      'c1\tAda\t1250\tfalse\teu,vip\t2026-03-01T00:00:00.000Z\nc2\tBo\t-5\ttrue\t\t2026-03-02T10:20:30.456Z\n',
    );
  });

  test('-o json is the answer as it came, digit by digit', async () => {
    const text = await printed(list, { output: 'json' });
    expect(text).toContain('"credits": 1.10');
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(list)));
  });

  test('-o jsonl is a row a line', async () => {
    const lines = (await printed(list, { output: 'jsonl' })).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).id)).toEqual(['c1', 'c2']);
  });

  test('-o csv has a header of wire names, and numbers stay numbers', async () => {
    expect(await printed(list, { output: 'csv' })).toBe(
      [
        '"id","name","totalCents","isPaused","tags","createdAt"',
        '"c1","Ada",1250,"false","eu,vip","2026-03-01T00:00:00.000Z"',
        '"c2","Bo",-5,"true","","2026-03-02T10:20:30.456Z"',
        '',
      ].join('\n'),
    );
  });

  test('-o name is the ids alone', async () => {
    expect(await printed(list, { output: 'name' })).toBe('c1\nc2\n');
    const balance = { name: 'opening' };
    expect(await printed({ data: [balance, ada, bo, balance] }, { output: 'name' })).toBe('c1\nc2\n');
    expect(await printed({ data: [balance] }, { output: 'name' })).toBe('');
  });

  test('-o yaml keeps the digits of numbers', async () => {
    expect(await printed({ data: ada }, { output: 'yaml' })).toContain('  credits: 1.10\n');
  });

  test('--json with fields gives these members of each row, null where there is none', async () => {
    expect(JSON.parse(await printed(list, { json: 'id,metadata.x' }))).toEqual([
      { id: 'c1', 'metadata.x': null },
      { id: 'c2', 'metadata.x': null },
    ]);
    expect(JSON.parse(await printed({ data: ada }, { json: 'name' }))).toEqual({ name: 'Ada' });
  });

  test('--columns chooses by field or by header', async () => {
    expect(await printed(list, { columns: 'credits,TOTAL' })).toBe('1.10\t1250\n2\t-5\n');
  });

  test.each([
    ['json', '{\n  "data": [],\n  "hasMore": false,\n  "total": 0\n}\n'],
    ['jsonl', ''],
    ['tsv', ''],
    ['name', ''],
    ['csv', '"id","name","totalCents","isPaused","tags","createdAt"\n'],
  ])('an empty list is no prose in %s', async (output, expected) => {
    expect(await printed({ data: [], hasMore: false, total: 0 }, { output })).toBe(expected);
  });

  test('an empty list with --json fields is []', async () => {
    expect(await printed({ data: [] }, { json: 'id' })).toBe('[]\n');
  });
});

describe('on a terminal', () => {
  test('a list is a table with units, amounts at the right', async () => {
    expect(await printed(list, {}, terminal)).toBe(
      [
        'ID  NAME      TOTAL  PAUSED  TAGS     CREATED',
        'c1  Ada   12.50 USD  no      eu, vip  2026-03-01T00:00:00Z',
        'c2  Bo    -0.05 USD  yes              2026-03-02T10:20:30.456Z',
        '',
      ].join('\n'),
    );
  });

  test('a list of many rows is one table, as wide as the widest of them', async () => {
    const data = Array.from({ length: 250 }, (_, index) => ({
      id: `c${index}`,
      name: index === 203 ? 'Ada Lovelace' : '',
    }));
    const lines = (await printed({ data }, {}, terminal)).trimEnd().split('\n');
    expect(lines).toHaveLength(251);
    expect(lines.filter((line) => line.startsWith('ID'))).toHaveLength(1);
    expect([lines[0], lines[204]]).toEqual(['ID    NAME          TOTAL  PAUSED  TAGS  CREATED', 'c203  Ada Lovelace']);
  });

  test('one record is its fields below each other, lists of records below them', async () => {
    const body = {
      data: { id: 'i1', totalCents: 100, metadata: { a: 'b' }, lineItems: [{ name: 'Seats', totalAmountCents: 100 }] },
    };
    expect(await printed(body, {}, terminal)).toBe(
      [
        'id          i1',
        'total       1.00 USD',
        'metadata.a  b',
        '',
        'line items',
        'NAME   TOTAL AMOUNT',
        'Seats      1.00 USD',
        '',
      ].join('\n'),
    );
  });

  test('an outer word that its own members repeat is left out, where no other field has the words that are left', async () => {
    const data = {
      currency: 'USD',
      balance: { balanceCents: 100, creditBalance: 5, currency: 'USD', asOf: '2026-03-01T00:00:00.000Z' },
      projected: { balanceCents: 50, creditBalance: 4 },
      period: { start: 'a', end: 'b' },
      terms: { netTerms: 30, creditSettings: { expiresAt: '2026-03-01T00:00:00.000Z' } },
    };
    const text = await printed({ data }, {}, terminal);
    expect(text.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['currency', 'USD'],
      ['balance', '1.00 USD'],
      ['credit balance', '5'],
      ['balance currency', 'USD'],
      ['as of', '2026-03-01T00:00:00Z'],
      ['projected balance', '0.50 USD'],
      ['projected credit balance', '4'],
      ['period start', 'a'],
      ['period end', 'b'],
      ['net terms', '30'],
      ['credit settings expires', '2026-03-01T00:00:00Z'],
      [''],
    ]);
  });

  test('a cost has its unit: dollars, or credits where those were asked for', async () => {
    const cost: View = { rows: '', columns: [{ header: 'TOTAL', path: 'totalAmount', format: 'usd' }] };
    const choice = chooseOutput({}, terminal);
    const shown = async (unit: string) =>
      await render({ totalAmount: 12.5, unit }, cost, { choice, fields: [], stdout: terminal });
    expect(await shown('currency')).toMatch(/^total {2}12\.50 USD\n/);
    expect(await shown('credits')).toMatch(/^total {2}12\.5 credits\n/);
  });

  test('a column that was asked for is called in words, and a name of somebody else as it is', async () => {
    const body = { data: [{ legalName: 'Acme', feeCents: 5, isPaid: true, start: '2026-03-01T00:00:00.000Z' }] };
    const asked = { columns: ['legalName', 'feeCents', 'isPaid', 'start', 'metadata.Seats'] };
    const choice = { format: 'table', jsonFields: undefined, jq: undefined, ...asked } as const;
    const text = await render(body, view, {
      choice,
      fields: ['legalName', 'feeCents', 'isPaid', 'start', 'metadata'],
      stdout: terminal,
    });
    expect(text.split(/\n|\s{2,}/).filter((cell) => cell !== '')).toEqual([
      'LEGAL NAME',
      'FEE',
      'PAID',
      'START',
      'metadata.Seats',
      'Acme',
      '0.05 USD',
      'yes',
      '2026-03-01T00:00:00Z',
    ]);
  });

  test.each([120, 80, 60, 50])('a table is at most %i columns wide, ids whole', async (columns) => {
    const id = '01900000-0000-7000-8000-000000000001';
    const body = { data: [{ ...ada, id, name: 'A name that goes on and on '.repeat(9) }] };
    const lines = (await printed(body, { columns: 'id,name' }, { ...terminal, columns })).split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
    expect(lines[1]).toContain(id);
  });

  test('a rate in cents is an amount, below a cent as well', async () => {
    const body = { data: { creditRateCents: 10, otherRateCents: JSON.rawJSON('0.5') } };
    expect(await printed(body, {}, terminal)).toBe('credit rate  0.10 USD\nother rate   0.005 USD\n');
  });

  test('wide characters count as two columns', async () => {
    const body = {
      data: [
        { id: 'c1', name: '東京' },
        { id: 'c2', name: 'Rome' },
      ],
    };
    expect(await printed(body, { columns: 'name,id' }, terminal)).toBe('NAME  ID\n東京  c1\nRome  c2\n');
  });

  test('an empty list is nothing', async () => {
    expect(await printed({ data: [] }, {}, terminal)).toBe('');
  });

  test('headers are bold where colours are wanted, and nowhere else', async () => {
    const escape = '\u001b[1m';
    expect(await printed(list, {}, { ...terminal, hasColor: true })).toContain(escape);
    expect(await printed(list, {}, terminal)).not.toContain('\u001b');
  });
});

describe('a text of others', () => {
  const hostile = [
    '\u001b[2J\u001b[1;1H',
    '\u001b]0;title\u0007',
    '\u001b]8;;http://x\u001b\\',
    '\u001bP+q\u001b\\',
    '\u009b31m',
    '\u0007',
    'a\rb',
    'a\nTOTAL 0',
    'x\u0000y',
    '\u202Egnp.exe',
    '\u2066x\u2069',
    'a\u200Bb',
    '\uFEFFx',
    '\u2028',
    '\u{e0041}',
    '\ud800',
    '\u007f',
  ];
  const unsafe =
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]|\p{Surrogate}/u;

  test.each(hostile.map((text) => [JSON.stringify(text), text]))(
    '%s does nothing to a terminal in any format',
    async (_shown, text) => {
      const body = { data: [{ id: text, name: text, tags: [text], [text]: text }], hasMore: false, total: 1 };
      for (const output of ['table', 'tsv', 'csv', 'json', 'jsonl', 'yaml', 'name']) {
        const result = await printed(body, { output }, terminal);
        expect({ output, unsafe: unsafe.exec(result)?.[0] }).toEqual({ output, unsafe: undefined });
      }
      expect(await printed({ data: { id: text, [text]: text } }, {}, terminal)).not.toMatch(unsafe);
    },
  );

  test.each(hostile.filter((text) => text.isWellFormed()))('%j survives JSON', async (text) => {
    expect(JSON.parse(await printed({ data: text }, { output: 'json' })).data).toBe(text);
  });

  test.each(['tsv', 'csv', 'json', 'jsonl', 'yaml', 'table'])(
    'keeps the joiners that its writing has, as %s',
    async (output) => {
      const name = 'می\u200cخواهم 👩\u200d💻';
      expect(await printed({ data: [{ id: 'c1', name }] }, { output })).toContain(name);
      expect(await printed({ data: [{ id: 'c1', name }] }, { jq: '.data[].name' })).toContain(name);
    },
  );

  test('a name cannot make a second row', async () => {
    const body = { data: [{ id: 'c1', name: 'a\nb\tc' }] };
    expect(await printed(body, { columns: 'id,name' })).toBe('c1\ta\\u{a}b\\u{9}c\n');
  });

  test.each([
    '=1+1',
    "=cmd|'/c calc'!A1",
    '+1',
    '-2+3',
    '@SUM(A1)',
    '\t=1',
    ' =1',
    '\r=1',
    '\tx',
    '\rx',
    '\nx',
    '\u0000x',
    '＝1',
    '＋1',
    '－1',
    '＠x',
  ])('%j is no formula in a spreadsheet', async (text) => {
    const [, row = ''] = (await printed({ data: [{ id: text }] }, { output: 'csv', columns: 'id' })).split('\n');
    expect(row.startsWith(`"'`)).toBe(true);
  });

  test.each([
    ['a decimal of an amount stays a number', 'totalCents', '-25.00', '-25.00'],
    ['an amount that is no number does not', 'totalCents', '-1+cmd', "'-1+cmd"],
    ['a number that is a name does not', 'name', '-25', "'-25"],
  ])('%s', async (_rule, column, value, cell) => {
    const text = await printed({ data: [{ [column]: value }] }, { output: 'csv', columns: column });
    expect(text).toBe(`"${column}"\n"${cell}"\n`);
  });

  test.each([-25, JSON.rawJSON('-0.10')])('a negative number stays a number in a spreadsheet: %j', async (value) => {
    const text = await printed({ data: [{ totalCents: value }] }, { output: 'csv', columns: 'totalCents' });
    expect(text.split('\n')[1]?.replaceAll('"', '')).toBe(JSON.stringify(value));
  });

  test.each(['=1+1', ' -2', '＠x', 'a"b'])('what a program asked for raw stands as it is: %s', async (text) => {
    const flags = { output: 'csv', columns: 'id', raw: true } as const;
    expect(await printed({ data: [{ id: text }] }, flags)).toBe(`"id"\n"${text.replace('"', '""')}"\n`);
  });

  test('what acts on a terminal is shown in raw cells, too', async () => {
    const flags = { output: 'csv', columns: 'id', raw: true } as const;
    expect(await printed({ data: [{ id: '=\u001b[2J' }] }, flags)).toBe('"id"\n"=\\u{1b}[2J"\n');
  });

  test('a quote in a cell is doubled', async () => {
    expect(await printed({ data: [{ id: 'a"b' }] }, { output: 'csv', columns: 'id' })).toBe('"id"\n"a""b"\n');
  });
});

describe('a choice of output that cannot be', () => {
  test.each<[OutputFlags, string]>([
    [{ output: 'xml' }, 'not a known format'],
    [{ output: 'csv', json: true }, 'two formats'],
    [{ output: 'json', columns: 'id' }, '--columns cannot be used with json'],
    [{ output: 'tsv', raw: true }, '--raw is for -o csv alone'],
    [{ raw: true }, '--raw is for -o csv alone'],
  ])('%j is refused', (flags, words) => {
    expect(() => chooseOutput(flags, pipe)).toThrow(words);
  });

  test.each<[OutputFlags, string]>([
    [{ json: 'nmae' }, 'nmae'],
    [{ columns: 'id,nmae' }, 'nmae'],
    [{ json: '' }, ''],
    [{ columns: '' }, ''],
  ])('%j names a field that is not there', async (flags, name) => {
    await expect(printed(list, flags)).rejects.toThrow(`there is no field "${name}"`);
  });

  test('a field of a list is not one of its elements', async () => {
    const view: View = { rows: 'data', columns: [], parts: { lines: [{ header: 'CENTS', path: 'cents' }] } };
    const shown = async (name: string) =>
      await render({ data: { lines: [{ cents: 7 }] } }, view, {
        choice: chooseOutput({ json: name }, pipe),
        fields: ['lines'],
        stdout: pipe,
      });
    await expect(shown('lines.cents')).rejects.toMatchObject({
      message: 'there is no field "lines.cents"',
      hint: 'did you mean lines.*.cents?',
    });
    expect(await shown('lines.*.cents,lines.0.cents')).toContain('"lines.0.cents": 7');
  });
});
