import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from 'vitest';

import { root } from '../../support/sources.ts';
import { stage, useStage } from '../../support/use-stage.ts';
import { attributesOf } from './xml.ts';

useStage('embedded');

const examples = readdirSync(join(root, 'examples')).filter(
  (name) => name.endsWith('.yaml') && readFileSync(join(root, 'examples', name), 'utf8').includes('\nuntil:'),
);
const example = (name: string) => join(root, 'examples', name);

/** A request costs a dollar; acme sends one a day from March on. */
const base = `start: 2026-03-01
until: 2026-05-01
catalog:
  products: [{ name: Inference }]
  meters: [{ code: REQUESTS, displayName: Requests, aggregationType: COUNT }]
  pricing:
    - { product: Inference, name: Requests, model: USAGE, meter: REQUESTS, priceInterval: MONTH, unitAmount: 1 }
  plans: [{ name: Standard, externalId: standard, items: [{ product: Inference, price: Requests }] }]
customers: [{ id: acme, name: Acme Inc }]
contracts: [{ customer: acme, plan: Standard }]
usage: [{ customer: acme, eventName: request, perDay: 1, properties: { model: large } }]
`;
const lineOfMore = base.split('\n').length;

let count = 0;
function scenario(more: string, whole = base): string {
  count += 1;
  const folder = join(stage.directory, String(count));
  mkdirSync(folder);
  const path = join(folder, 'scenario.yaml');
  writeFileSync(path, `${whole}${more}`);
  return path;
}

const run = async (path: string, ...flags: string[]) => await stage.tally(['simulate', 'run', path, ...flags]);
const shown = async (part: string, path: string) =>
  (JSON.parse((await run(path, '--show', part, '-o', 'json')).stdout) as { data: Record<string, unknown>[] }).data;

describe('tally simulate run', () => {
  test.each(examples)('meets every expectation of examples/%s, with equal bytes each time', async (name) => {
    const first = await run(example(name), '-o', 'json');
    expect(first.exitCode).toBe(0);
    expect(first.stderr).toMatch(/^\d+ events, \d+ invoices, (\d+) of \1 expectations met$/m);
    expect(await run(example(name), '-o', 'json')).toEqual(first);
  });

  test('has other usage of the same price with another seed', async () => {
    const path = scenario('');
    const [one, other] = [await run(path, '-o', 'json', '--seed', '1'), await run(path, '-o', 'json', '--seed', '2')];
    expect((await run(path, '-o', 'json')).stdout).toBe(one.stdout);
    expect(other.stdout).not.toBe(one.stdout);
    const totals = ({ stdout }: typeof one) =>
      (JSON.parse(stdout) as { data: { invoices: { totalCents: number }[] } }).data.invoices.map(
        ({ totalCents }) => totalCents,
      );
    expect(totals(other)).toEqual(totals(one));
  });

  test('tells what happened when, in order', async () => {
    const timeline = await shown(
      'timeline',
      scenario(`grants: [{ contract: acme, amountCents: 500, expiresAt: 2026-03-04T00:00:00Z }]
steps: [{ at: 2026-04-15, do: contracts cancel, with: { contractId: $contracts.acme } }]
`),
    );
    const rows = timeline.map(({ at, what, amountCents }) => [String(at).slice(0, 10), what, amountCents]);
    expect(rows).toEqual([
      ['2026-03-01', 'customer.created', null],
      ['2026-03-01', 'contract.created', null],
      ['2026-03-01', 'invoice.created', 0],
      ['2026-03-01', 'invoice.created', 0],
      ['2026-03-01', 'credit.grant', 500],
      ['2026-03-04', 'credit.usage', -300],
      ['2026-03-04', 'credit.expiration', -200],
      ['2026-03-04', 'credit.balance_depleted', 0],
      ['2026-04-01', 'invoice.created', 0],
      ['2026-04-01', 'invoice.updated', 2800],
      ['2026-04-15', 'step', null],
      ['2026-04-15', 'invoice.updated', 0],
      ['2026-04-15', 'contract.updated', null],
      ['2026-05-01', 'invoice.updated', 3000],
      ['2026-05-01', 'contract.terminated', null],
    ]);
  });

  test('prints rows for scripts, and one document for JSON and YAML', async () => {
    const path = scenario('');
    expect((await run(path, '--show', 'invoices')).stdout.split('\n')[0]).toMatch(
      /^acme\tacme\t2026-03-01\t2026-04-01\tINV-000001\tIn Progress\t2026-05-01\t3100$/,
    );
    expect((await run(path)).stdout.split('\n')[0]).toMatch(/^2026-03-01T00:00:00.000Z\tcustomer.created\tacme\t/);
    expect((await run(path, '-o', 'yaml')).stdout).toContain('eventCount: 61\n');
    expect((await run(path, '--json', 'eventCount,seed')).stdout).toBe('{\n  "eventCount": 61,\n  "seed": 1\n}\n');
    expect((await run(path, '--show', 'invoices', '--json', 'totalCents')).stdout).toContain('"totalCents": 3100');
    expect((await run(path, '--show', 'invoices', '--columns', 'total')).stdout).toBe('3100\n3000\n0\n0\n');
    expect((await run(path, '--quiet')).stderr).toBe('');
  });

  test('reads events of a file beside it, and a catalog file', async () => {
    const [, catalog = ''] = /catalog:\n([\s\S]*)customers:/.exec(base) ?? [];
    const path = scenario(
      'usage: [{ file: requests.csv, eventName: request, customerColumn: account }]\n',
      base.replace(/catalog:[\s\S]*customers:/, 'catalog: catalog.yaml\ncustomers:').replace(/usage:.*\n/, ''),
    );
    writeFileSync(join(path, '../catalog.yaml'), catalog.replaceAll(/^ {2}/gm, ''));
    const rows = ['2026-03-02T10:00:00Z,acme', '2026-03-02T10:00:00Z,acme', '2026-04-01T00:00:00Z,acme'];
    writeFileSync(join(path, '../requests.csv'), `timestamp,account\n${rows.join('\n')}\n`);
    expect((await shown('invoices', path)).map(({ totalCents }) => totalCents)).toEqual([200, 100, 0, 0]);
  });

  test('writes nothing: there is no journal, and no database', async () => {
    const before = readdirSync(stage.directory).toSorted();
    const path = scenario('');
    await run(path);
    expect(readdirSync(stage.directory).toSorted()).toEqual([...before, String(count)].toSorted());
  });
});

describe('an expectation', () => {
  const grants = `grants:
  - { contract: acme, amountCents: 1000, expiresAt: 2026-03-06T00:00:00Z }
  - { contract: acme, amountCents: 2000, expiresAt: 2027-01-01T00:00:00Z }
budgets:
  - { contract: acme, eventPropertyKey: model, eventPropertyValue: large, maxCreditsCents: 1200 }
steps:
  - { at: 2026-04-10, do: budgets update, with: { contractId: $contracts.acme, index: 0, maxCreditsCents: 9000 }, as: raised }
expect:
`;

  // 5.00 of the first grant in five days, 7.00 of the second by the cap; then overage.
  const pairs: readonly (readonly [holds: string, fails: string, actual: string])[] = [
    [
      'invoice: { customer: acme, period: 2026-03-01 }, equals: 1900',
      'invoice: { customer: acme, period: 2026-03-01 }, equals: 1901',
      '1900',
    ],
    [
      'invoice: { contract: acme, period: 2026-03-01 }, between: [1900, 2000]',
      'invoice: { contract: acme, period: 2026-03-01 }, between: [1901, 2000]',
      '1900',
    ],
    [
      'invoice: { contract: acme, period: 2026-03-01 }, between: [1800, 1900]',
      'invoice: { contract: acme, period: 2026-03-01 }, between: [1800, 1899]',
      '1900',
    ],
    [
      'invoice: { contract: acme, period: 2026-03-01 }, atMost: 1900',
      'invoice: { contract: acme, period: 2026-09-01 }, atMost: 1900',
      'nothing',
    ],
    [
      'invoice: { contract: acme, period: 2026-03-01 }, path: status, equals: In Progress',
      'invoice: { contract: acme, period: 2026-03-01 }, path: status, equals: Paid',
      'In Progress',
    ],
    [
      'invoice: { contract: acme, period: 2026-03-01 }, at: 2026-03-03, equals: 0',
      'invoice: { contract: acme, period: 2026-09-01 }, equals: 0',
      'nothing',
    ],
    ['balance: acme, at: 2026-03-03, equals: 2800', 'balance: acme, at: 2026-03-03, atLeast: 2801', '2800'],
    ['balance: acme, at: 2026-03-06, equals: 2000', 'balance: acme, at: 2026-03-06, atMost: 1999', '2000'],
    ['balance: acme, at: 2026-04-09, equals: 1300', 'balance: acme, at: 2026-04-11, equals: 1300', '300'],
    [
      'budget: { contract: acme, label: model=large }, equals: 2026-03-12',
      'budget: { contract: acme, label: model=large }, equals: 2026-03-13',
      '2026-03-12T',
    ],
    [
      'budget: { contract: acme, label: model=large }, at: 2026-03-11, equals: null',
      'budget: { contract: acme, label: model=small }, equals: null',
      'refused: no budget is called model=small: the budgets are model=large',
    ],
    [
      'budget: { contract: acme, label: model=large }, path: maxCreditsCents, equals: 9000',
      'budget: { contract: acme, label: model=large }, path: maxCreditsCents, equals: null',
      '9000',
    ],
    ['entries: { contract: acme, type: expiration }, equals: 1', 'entries: { contract: acme }, atMost: 4', ''],
    [
      'events: { type: credit.budget.exhausted, contract: acme }, equals: 1',
      'events: { type: credit.budget.exhausted }, equals: 0',
      '1',
    ],
    [
      'call: usage cost, with: { contractId: $contracts.acme }, path: totalAmount, equals: 61.00',
      'call: usage cost, with: { contractId: $contracts.acme }, path: totalAmount, equals: "61.01"',
      '61',
    ],
    [
      'call: contracts get, with: { contractId: $contracts.acme }, path: data.isActive, equals: true',
      'call: contracts get, with: { contractId: other }, path: data.isActive, equals: true',
      'refused: no contract has this id',
    ],
    [
      'call: budgets list, with: { contractId: $contracts.acme }, path: data.budgets.0.index, equals: $steps.raised.data.index',
      'call: budgets list, with: { contractId: $steps.lost.id }, path: data, equals: 1',
      'refused: $steps.lost.id refers to nothing at that time',
    ],
  ];

  let outcomes: { isMet: boolean; line: number; actual: string }[] = [];
  let result: Awaited<ReturnType<typeof run>>;
  beforeAll(async () => {
    const expected = pairs.map(([holds, fails]) => `  - { ${holds} }\n  - { ${fails} }\n`);
    result = await run(scenario(`${grants}${expected.join('')}`), '--show', 'expectations', '-o', 'json');
    outcomes = (JSON.parse(result.stdout) as { data: typeof outcomes }).data;
  });

  test.each(pairs.map((pair, index) => [...pair, index] as const))('%s', (_holds, _fails, actual, index) => {
    const line = lineOfMore + grants.split('\n').length - 1 + index * 2;
    expect(outcomes[index * 2]).toMatchObject({ line, isMet: true });
    expect(outcomes[index * 2 + 1]).toMatchObject({
      line: line + 1,
      isMet: false,
      actual: expect.stringContaining(actual) as string,
    });
    expect(result.stderr).toContain(`scenario.yaml:${line + 1}: `);
    expect(result.stderr).not.toContain(`scenario.yaml:${line}: `);
  });

  test('looks at the contract that it names alone, and at no invoice that was cancelled', async () => {
    const contracts = 'contracts: [{ customer: acme, plan: Standard }, { id: second, customer: acme, plan: Standard }]';
    const whole = base.replace(/^contracts:.*$/m, contracts);
    const more = `steps:
  - { at: 2026-03-10, do: contracts cancel, with: { contractId: $contracts.second } }
expect:
  - { invoice: { contract: second, period: 2026-03-01 }, equals: 0 }
  - { invoice: { customer: acme, period: 2026-03-01 }, equals: 3100 }
  - { invoice: { contract: second, period: 2026-04-01 }, equals: 0 }
  - { events: { type: contract.terminated, contract: acme }, equals: 0 }
  - { events: { type: contract.terminated }, equals: 1 }
`;
    const found = (await shown('expectations', scenario(more, whole))).map(({ isMet, actual }) => [isMet, actual]);
    expect(found).toEqual([
      [true, '0'],
      [true, '3100'],
      [false, 'nothing'],
      [true, '0'],
      [true, '1'],
    ]);
  });

  test('that is not met ends the run with 10', () => {
    expect(result.exitCode).toBe(10);
    const { error } = JSON.parse(result.stderr.trimEnd().split('\n').at(-1) ?? '');
    expect(error.message).toBe(`${pairs.length} of ${pairs.length * 2} expectations are not met`);
  });

  test('is the error itself where it is the only one', async () => {
    const expected = `expect:\n  - { balance: acme, equals: 1 }\n`;
    const { exitCode, stderr } = await run(scenario(expected), '--show', 'expectations');
    expect(exitCode).toBe(10);
    expect(stderr).toMatch(/^tally: .*scenario\.yaml:\d+: .* must be: equals 1$/m);
  });
});

describe('what the service refuses is told with its line, and stops the run', () => {
  const cancel = 'do: contracts cancel, with: { contractId: $contracts.acme }';
  test.each<[what: string, without: string, more: string, line: number, words: string, code: number]>([
    [
      'a plan',
      'contracts',
      'contracts: [{ customer: acme, plan: Standart }]\n',
      1,
      'contracts create: there is no plan Standart at that time',
      8,
    ],
    [
      'a grant',
      '',
      'grants:\n  - contract: acme\n    amountCents: 1\n    expiresAt: 2025-01-01T00:00:00Z\n',
      4,
      'credits grant: expiresAt: must be after now',
      8,
    ],
    [
      'a step',
      '',
      'steps:\n  - at: 2026-03-02\n    do: contracts cancel\n    with: { contractId: $contracts.globex }\n',
      4,
      'contracts cancel: there is no contract globex at that time',
      8,
    ],
    [
      'a conflict',
      '',
      `steps:\n  - { at: 2026-03-02, ${cancel} }\n  - { at: 2026-03-03, ${cancel} }\n`,
      3,
      'contracts cancel: contract',
      7,
    ],
    [
      'more usage than memory holds',
      'usage',
      'usage: [{ customer: acme, eventName: request, perDay: 1000000 }]\n',
      1,
      'usage[0]: makes 61000000 events of at most 1000000',
      8,
    ],
    ['a file', 'usage', 'usage: [{ file: nothing.csv, eventName: x, customer: acme }]\n', 1, 'usage: cannot read', 2],
    [
      'a name of no kind',
      '',
      'steps:\n  - { at: 2026-03-02, do: contracts cancel, with: { contractId: $contract.acme } }\n',
      2,
      'contracts cancel: $contract.acme refers to nothing',
      8,
    ],
  ])('%s', async (_what, without, more, line, words, code) => {
    const whole = without === '' ? base : base.replace(new RegExp(`^${without}:.*\\n`, 'm'), '');
    const { exitCode, stdout, stderr } = await run(scenario(more, whole));
    expect({ exitCode, stdout }).toEqual({ exitCode: code, stdout: '' });
    expect(stderr).toContain(`scenario.yaml:${whole.split('\n').length - 1 + line}: ${words}`);
  });

  test('and a form that is wrong before anything runs', async () => {
    expect(await run(scenario('steps: 1\n'))).toMatchObject({ exitCode: 8, stdout: '' });
    expect(await run(join(stage.directory, 'nothing.yaml'))).toMatchObject({ exitCode: 2, stdout: '' });
    expect(await run(scenario(''), '--show', 'nothing')).toMatchObject({ exitCode: 2, stdout: '' });
    expect(await run(scenario(''), '--seed', '-1')).toMatchObject({ exitCode: 2, stdout: '' });
  });
});

describe('--junit', () => {
  test('writes a test case for each expectation, in XML that holds whatever the names are', async () => {
    const path = scenario(
      `name: 'A & <B> "C"'\nexpect:\n  - { balance: acme, equals: 0 }\n  - { invoice: { customer: acme, period: 2026-03-01 }, equals: '<&>' }\n`,
    );
    const report = join(path, '../report.xml');
    expect((await run(path, '--junit', report)).exitCode).toBe(10);
    const elements = attributesOf(readFileSync(report, 'utf8'));
    const counts = { name: 'A & <B> "C"', tests: '2', failures: '1', errors: '0' };
    expect(elements.map(({ name }) => name)).toEqual(['testsuites', 'testsuite', 'testcase', 'testcase', 'failure']);
    expect(elements[0]?.attributes).toEqual(counts);
    expect(elements[1]?.attributes).toEqual(counts);
    expect(elements[2]?.attributes).toMatchObject({ file: path, line: String(lineOfMore + 2) });
    expect(elements[4]?.attributes['message']).toContain(
      ':15: invoice of acme from 2026-03-01: is 3100, must be: equals <&>',
    );
  });

  test('replaces the report of an earlier run, and no other file, the scenario that it reads included', async () => {
    const path = scenario('expect: [{ balance: acme, equals: 0 }]\n');
    const [report, feed] = [join(path, '../report.xml'), join(path, '../feed.xml')];
    writeFileSync(report, '');
    for (const _time of ['first', 'second']) expect((await run(path, '--junit', report)).exitCode).toBe(0);
    writeFileSync(feed, '<?xml version="1.0" encoding="UTF-8"?>\n<rss/>\n');
    for (const mine of [path, feed]) {
      const before = readFileSync(mine, 'utf8');
      const { exitCode, stdout, stderr } = await run(path, '--junit', mine);
      expect([exitCode, stdout]).toEqual([2, '']);
      expect(stderr).toContain(`${mine} exists and is not a JUnit report`);
      expect(readFileSync(mine, 'utf8')).toBe(before);
    }
  });

  test('says what stopped the run', async () => {
    const path = scenario('steps: [{ at: 2026-03-02, do: contracts get, with: { contractId: x } }]\n');
    const report = join(path, '../report.xml');
    expect((await run(path, '--junit', report)).exitCode).toBe(4);
    const elements = attributesOf(readFileSync(report, 'utf8'));
    expect(elements[0]?.attributes).toMatchObject({ tests: '1', failures: '0', errors: '1' });
    expect(elements.at(-1)).toMatchObject({
      name: 'error',
      attributes: { message: expect.stringContaining('contracts get: ') as string },
    });
  });

  test.runIf(existsSync('/dev/full'))('that cannot be written does not hide what stopped the run', async () => {
    const path = scenario('steps: [{ at: 2026-03-02, do: contracts get, with: { contractId: x } }]\n');
    const { exitCode, stderr } = await run(path, '--junit', '/dev/full');
    expect(exitCode).toBe(4);
    expect(stderr).toMatch(/contracts get: .*; cannot write \/dev\/full: the disk is full/);
  });
});
