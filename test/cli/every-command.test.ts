/** The rules of output and failure, held by every command in every format, on the demo's database. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { parse as parseCsv } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';

import { errorFacts } from '../../src/errors.ts';
import { localPages } from '../../src/cli/help-pages.ts';
import type { CommandSpec } from '../../src/cli/command-line/manifest.ts';
import { rowsOf, valueAt, wireText } from '../../src/cli/wire/rows.ts';
import { createPlayground } from '../support/playground.ts';
import type { NamedAnswer, Playground } from '../support/playground.ts';
import { exampleLineOf, manifest, shellWords } from './shell.ts';

let playground: Playground;
/** Where nothing is written, so that all may share it. */
let shared: string;
beforeAll(async () => {
  playground = await createPlayground();
  shared = playground.copy();
  writeFileSync(join(shared, 'scenario.yaml'), scenario);
});
afterAll(async () => await playground.close());

const commands = manifest.commands.map((command) => ({ command, title: `${command.group} ${command.verb}` }));
const formats = ['table', 'json', 'jsonl', 'csv', 'tsv', 'yaml', 'name'] as const;

/** The first example that is carried out: known to be right, see examples.test.ts. */
function good(command: CommandSpec): string[] {
  return shellWords(exampleLineOf(command)).slice(1);
}

async function run(command: CommandSpec, words: readonly string[], isTerminal = false) {
  const place = command.isWrite ? {} : { directory: shared };
  const confirmed = command.destroys === true ? [...words, '--yes'] : words;
  return await playground.tally(confirmed, { ...place, terminal: { isTerminal, columns: 100, answers: ['yes'] } });
}

/** The last one of its operation: some commands look around once they are done. */
function answerTo({ operation }: CommandSpec, { answers }: { readonly answers: readonly NamedAnswer[] }) {
  return answers.findLast(({ name }) => name === operation)?.body;
}

/** Paths of the columns, those of what `--include` asks for behind the others. */
function columnsFor({ view }: CommandSpec, words: readonly string[]): string[] {
  const asked = words.includes('--include') ? (words[words.indexOf('--include') + 1] ?? '').split(',') : [];
  const more = asked.flatMap((name) => view.included?.[name] ?? []);
  return [...view.columns, ...more].map(({ path }) => path);
}

const escape = '\u001b';
const isFormula = (cell: string) => /^[=+@\t\r]/.test(cell) || (cell.startsWith('-') && !/^-\d+(?:\.\d+)?$/.test(cell));

describe('an answer', () => {
  test.each(commands)('of $title in every format', async ({ command }) => {
    const words = good(command);
    // A write is done anew for each format, on a book of its own: what is printed is held against the answer of that run.
    const ask = async (format: string) => {
      const result = await run(command, [...words, '-o', format]);
      const body = JSON.parse(JSON.stringify(answerTo(command, result))) as unknown;
      return { ...result, body, rows: rowsOf(body, command.view).rows };
    };
    const nameField = ['id', 'name'].find((field) => command.fields.includes(field));

    const json = await ask('json');
    expect([json.exitCode, json.stderr.includes(escape)]).toEqual([0, false]);
    expect(JSON.parse(json.stdout)).toEqual(json.body);

    const jsonl = await ask('jsonl');
    expect(
      jsonl.stdout
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(jsonl.rows);
    const yaml = await ask('yaml');
    expect(parseYaml(yaml.stdout)).toEqual(yaml.body);

    const csv = await ask('csv');
    const [header, ...records] = parseCsv(csv.stdout);
    expect([header, records.length]).toEqual([columnsFor(command, words), csv.rows.length]);
    expect(records.flat().filter(isFormula)).toEqual([]);

    const tsv = await ask('tsv');
    const lines = tsv.stdout.split('\n').slice(0, -1);
    expect(lines.map((line) => line.split('\t').length)).toEqual(tsv.rows.map(() => columnsFor(command, words).length));

    const result = await run(command, [...words, '-o', 'name']);
    if (nameField !== undefined) {
      const { rows } = rowsOf(answerTo(command, result), command.view);
      expect(result.stdout).toBe(rows.map((row) => `${wireText(row[nameField])}\n`).join(''));
    } else expect([result.exitCode, result.stdout]).toEqual([2, '']);

    if (!command.isWrite) expect((await run(command, words)).stdout).toBe(tsv.stdout);
    for (const { exitCode, stdout } of [jsonl, yaml, csv, tsv]) {
      expect([exitCode, stdout === '' || stdout.endsWith('\n'), stdout.includes(escape)]).toEqual([0, true, false]);
    }
  });

  test.each(commands)('of $title on a terminal', async ({ command }) => {
    const table = await run(command, good(command), true);
    const json = await run(command, [...good(command), '-o', 'json'], true);
    expect([table.exitCode, json.exitCode, table.stdout.includes(escape)]).toEqual([0, 0, false]);
    expect(JSON.parse(JSON.stringify(json.answers.map(({ body }) => body)))).toContainEqual(JSON.parse(json.stdout));
    expect(table.stdout).not.toMatch(/undefined|\[object|NaN/);
  });

  test.each(commands.filter(({ command }) => command.fields.length > 0 && !command.isWrite))(
    'of $title by field and by jq',
    async ({ command }) => {
      const [field = ''] = command.fields;
      const picked = await run(command, [...good(command), '--json', field]);
      const { rows, isList } = rowsOf(answerTo(command, picked), command.view);
      const expected = rows.map((row) => ({ [field]: valueAt(row, field) ?? null }));
      expect(JSON.parse(picked.stdout)).toEqual(JSON.parse(JSON.stringify(isList ? expected : (expected[0] ?? {}))));
      const through = await run(command, [...good(command), '--jq', '.']);
      expect(JSON.parse(through.stdout)).toEqual(JSON.parse(JSON.stringify(answerTo(command, through))));
    },
  );

  test.each(commands.filter(({ command }) => command.isPaged))('of $title page by page', async ({ command }) => {
    const words = [command.group, command.verb];
    const all = await run(command, [...words, '--all', '-o', 'json']);
    const { data, total } = JSON.parse(all.stdout) as { data: unknown[]; total: number };
    expect(data).toHaveLength(total);
    const cut = await run(command, [...words, '--limit', '1', '-o', 'json']);
    expect(cut.stderr).toBe(total > 1 ? `1 of ${total}: there are more; --all prints all of them\n` : '');
    const none = await run(command, [...words, '--offset', '999999', '-o', 'jsonl']);
    expect([none.exitCode, none.stdout]).toEqual([0, '']);
  });
});

const noSuchId = '01900000-0000-7000-8000-ffffffffffff';

/** Wrong command lines, each with its exit code and what is said. */
function wrong(
  command: CommandSpec,
): readonly (readonly [words: readonly string[], exitCodes: readonly number[], said: RegExp])[] {
  const words = good(command);
  const [flag] = command.flags;
  const misspelt = `--${(flag?.flag ?? 'output').slice(0, -1)}`;
  const bad = command.flags.find((spec) => spec.choices !== undefined || spec.kind === 'integer');
  const required = [...command.positionals, ...command.flags.filter((spec) => spec.isRequired === true)];
  const named = command.positionals[0]?.reference === undefined ? [] : [words[0] ?? '', words[1] ?? '', noSuchId];
  return [
    [[...words, misspelt, 'x'], [2], new RegExp(`unknown option '${misspelt}'\n.*did you mean --`)],
    [[...words, '--columns', 'nope'], [2], /there is no field "nope"\n.*the fields are/],
    [[...words, '--json', 'nope'], [2], /there is no field "nope"\n.*the fields are/],
    [[...words, '--jq', '.['], [2], /--jq: syntax error/],
    [[...words, '-o', 'xml'], [2], /Allowed choices are table, json/],
    ...(required.length === 0 ? [] : [[[command.group, command.verb], [2], /missing [<-]/] as const]),
    ...(bad === undefined
      ? []
      : [[[...without(words, bad.flag), `--${bad.flag}`, 'nonsense'], [2, 8], /nonsense|must|one of/] as const]),
    ...(named.length === 0 ? [] : [[[...named, ...words.slice(3)], [4], new RegExp(noSuchId)] as const]),
  ];
}

function without(words: readonly string[], flag: string): string[] {
  const at = words.indexOf(`--${flag}`);
  return at === -1 ? [...words] : words.filter((_word, index) => index !== at && index !== at + 1);
}

describe('a wrong command line', () => {
  test.each(commands)('of $title prints nothing but what is wrong', async ({ command }) => {
    for (const [words, exitCodes, said] of wrong(command)) {
      const result = await playground.tally(words, { directory: shared });
      const line = words.join(' ');
      expect([line, exitCodes.includes(result.exitCode), result.stdout]).toEqual([line, true, '']);
      expect(result.stderr).toMatch(said);
      expect(result.stderr).toMatch(/^tally: .+\n/);
      const asJson = words.some((word) => ['-o', '--json', '--jq'].includes(word)) ? words : [...words, '-o', 'json'];
      if (asJson.includes('xml')) continue;
      const { stderr, stdout } = await playground.tally(asJson, { directory: shared });
      const envelope = JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '') as { error: { code: string } };
      expect([stdout, Object.values(errorFacts).some(({ code }) => code === envelope.error.code)]).toEqual(['', true]);
    }
  });
});

const scenario = `start: 2026-03-01
until: 2026-04-02
catalog:
  products: [{ name: Seats }]
  pricing: [{ product: Seats, name: Seat, model: FLAT, priceInterval: MONTH, unitAmount: 5 }]
  plans: [{ name: Standard, items: [{ product: Seats, price: Seat }] }]
customers: [{ id: acme, name: Acme Inc }]
contracts: [{ customer: acme, plan: Standard }]
expect: [{ invoice: { customer: acme, period: 2026-03-01 }, equals: 500 }]
`;
/** Less to do than in the examples, which are run once each in examples.test.ts. */
const small: Readonly<Record<string, string>> = {
  'simulate run': 'tally simulate run scenario.yaml',
  'simulate compare': 'tally simulate compare --grant amount-cents=1000 --customer hooli',
};

const local = (await localPages(manifest))
  .filter(({ usage }) => !usage.startsWith('<verb>'))
  .flatMap(({ words, examples }) => {
    const line = examples.find(
      (each) => !/[<>|]|--profile|--base-url|mirror|tally (?:serve|demo|pull|webhooks listen)/.test(each.line),
    )?.line;
    const title = words.join(' ');
    return line === undefined ? [] : [{ title, words: shellWords(small[title] ?? line).slice(1) }];
  });

describe('a command that is no operation', () => {
  test.each(local)('has each format or says which ones it has: $title', async ({ title, words }) => {
    const place = small[title] === undefined ? {} : { directory: shared };
    for (const format of formats) {
      const given = words.filter((word, index) => word !== '-o' && words[index - 1] !== '-o' && word !== '--json');
      const { exitCode, stdout, stderr } = await playground.tally([...given, '-o', format], place);
      if (exitCode === 2) {
        expect([given.join(' '), format, stdout]).toEqual([given.join(' '), format, '']);
        expect(stderr).toMatch(/hint: (?:its formats are|it prints|there are|give|leave)/);
        continue;
      }
      expect([given.join(' '), format, exitCode, stderr.includes('unexpected')]).toEqual([
        given.join(' '),
        format,
        0,
        false,
      ]);
      if (format === 'json' && stdout !== '') JSON.parse(stdout);
      if (format === 'jsonl')
        stdout
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line) as unknown);
      if (format === 'csv') parseCsv(stdout);
      if (format === 'yaml') parseYaml(stdout);
    }
  });
});
