/** A scenario file, read and checked as far as possible before anything runs. Every problem is reported with its line. */

import type * as z from 'zod';

import { InvalidInputError } from '../../errors.ts';
import type { InputIssue } from '../../errors.ts';
import type { CatalogFile } from '../catalog/file.ts';
import { catalogOfValue, unknownKeys, usualIssues } from '../catalog/file.ts';
import { didYouMean } from '../did-you-mean.ts';
import { inFileOrder, readYaml, type YamlFile } from '../catalog/yaml-source.ts';
import { valueAt } from '../wire/rows.ts';
import { scenarioFile, sections } from './scenario-schema.ts';
import type { Entry, ScenarioFile, Section } from './scenario-schema.ts';

export type Path = readonly PropertyKey[];

export interface Scenario extends Pick<YamlFile, 'lineOf' | 'issueAt'> {
  readonly fileName: string;
  /** With the usual name and seed where it has none. */
  readonly file: ScenarioFile & { readonly name: string; readonly seed: number };
  /** An entry as it is written, with the digits of its numbers; this is sent. */
  readonly written: (section: Section, index: number) => Readonly<Record<string, unknown>>;
  /** The catalog inside the file itself. */
  readonly catalog: CatalogFile | undefined;
}

/** Throws InvalidInputError with every problem: `scenario.yaml:12: contracts[0].plan: is required`. */
export function readScenario(text: string, fileName: string): Scenario {
  const { value, lineOf, issueAt } = readYaml(text, fileName, { example: 'tally simulate schema' });
  const { catalog: inline } = value as { readonly catalog?: unknown };
  const isInline = typeof inline === 'object' && inline !== null;
  // The catalog's own reader reports its issues.
  const parsed = scenarioFile.safeParse(isInline ? { ...(value as object), catalog: 'inline' } : value);
  if (!parsed.success) {
    const issues = parsed.error.issues.flatMap((issue) => told(issue, value, issueAt));
    throw new InvalidInputError(inFileOrder(issues), {
      hint: 'see what a scenario can hold with: tally simulate schema',
    });
  }
  const issues = [...timeIssues(parsed.data), ...nameIssues(parsed.data)].map(([path, words]) => issueAt(path, words));
  if (issues.length > 0) throw new InvalidInputError(inFileOrder(issues));
  const ofCatalog = (path: Path, message: string) => issueAt(['catalog', ...path], message);
  return {
    fileName,
    file: { ...parsed.data, name: parsed.data.name ?? fileName, seed: parsed.data.seed ?? 1 },
    written: (section, index) => (value as Record<Section, Record<string, unknown>[]>)[section][index] ?? {},
    catalog: isInline ? catalogOfValue(inline, ofCatalog) : undefined,
    lineOf,
    issueAt,
  };
}

/** The name of a contract in its file. */
export function contractName({ id, customer }: Entry<'contracts'>): string {
  return id ?? customer;
}

function told(issue: z.core.$ZodIssue, value: unknown, issueAt: Scenario['issueAt']): InputIssue[] {
  if (issue.code === 'unrecognized_keys') {
    const [section] = issue.path;
    const isEntry = Object.hasOwn(sections, section ?? '') && issue.path.length === 2;
    const known = Object.keys(isEntry ? sections[section as Section].shape : scenarioFile.shape);
    const here = isEntry || issue.path.length === 0 ? known : [];
    const words = unknownKeys(issue.keys, known, here);
    return issue.keys.map((key, index) => issueAt([...issue.path, key], words[index] ?? ''));
  }
  const given = valueAt(value, issue.path.map(String).join('.'));
  // A list of all commands would be too long.
  if (issue.code === 'invalid_value' && issue.values.length > shownChoices && typeof given === 'string') {
    return [issueAt(issue.path, `there is no ${given} here${meaning(given, issue.values.map(String))}`)];
  }
  return usualIssues(issue, value, issueAt);
}

const shownChoices = 20;

function meaning(name: string, known: readonly string[]): string {
  const hint = didYouMean(name, known, '');
  return hint === '' ? '' : `: ${hint}`;
}

type Place = readonly [path: Path, words: string];

function timeIssues(file: ScenarioFile): Place[] {
  const { start, until } = file;
  if (until <= start) return [[['until'], 'must be after the start']];
  return (['contracts', 'grants', 'budgets', 'steps', 'expect'] as const).flatMap((section) =>
    (file[section] ?? []).flatMap(({ at }, index): Place[] => {
      if (at === undefined || (at >= start && at <= until)) return [];
      return [[[section, index, 'at'], `must be from the start to the end, ${start} to ${until}`]];
    }),
  );
}

/** Names that stand for nothing, or for two things. */
function nameIssues(file: ScenarioFile): Place[] {
  const { customers = [], contracts = [], grants = [], budgets = [], usage = [], steps = [], expect = [] } = file;
  const customerIds = customers.map(({ id }) => id);
  const contractIds = contracts.map(contractName);
  const unknown = (path: Path, noun: string, name: string | undefined, known: readonly string[]): Place[] => {
    if (name === undefined || known.includes(name)) return [];
    return [[path, `there is no ${noun} ${name}${meaning(name, known)}`]];
  };
  const customer = (path: Path, name: string | undefined) =>
    unknown([...path, 'customer'], 'customer', name, customerIds);
  const contract = (path: Path, name: string | undefined) =>
    unknown([...path, 'contract'], 'contract', name, contractIds);
  return [
    ...repeated('customers', customerIds),
    ...repeated('contracts', contractIds),
    ...repeated(
      'steps',
      steps.map(({ as }) => as),
    ),
    ...contracts.flatMap((entry, index) => customer(['contracts', index], entry.customer)),
    ...grants.flatMap((entry, index) => contract(['grants', index], entry.contract)),
    ...budgets.flatMap((entry, index) => contract(['budgets', index], entry.contract)),
    ...usage.flatMap((entry, index) => [
      ...customer(['usage', index], entry.customer),
      ...contract(['usage', index], entry.contract),
    ]),
    ...expect.flatMap(({ invoice, balance, budget, entries, events }, index) => [
      ...customer(['expect', index, 'invoice'], invoice?.customer),
      ...contract(['expect', index, 'invoice'], invoice?.contract),
      ...unknown(['expect', index, 'balance'], 'contract', balance, contractIds),
      ...contract(['expect', index, 'budget'], budget?.contract),
      ...contract(['expect', index, 'entries'], entries?.contract),
      ...contract(['expect', index, 'events'], events?.contract),
    ]),
  ];
}

function repeated(section: Section, names: readonly (string | undefined)[]): Place[] {
  return names.flatMap((name, index): Place[] => {
    if (name === undefined || names.indexOf(name) === index) return [];
    return [[[section, index], `is called ${name}, as ${section}[${names.indexOf(name)}] is`]];
  });
}
