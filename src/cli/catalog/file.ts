/** A catalog file, read and checked as far as possible without a service. Every problem is reported with its line. */

import type * as z from 'zod';

import { InvalidInputError, pathText } from '../../errors.ts';
import type { InputIssue } from '../../errors.ts';
import { operations } from '../../operations/all.ts';
import { issuesOf } from '../../operations/parse.ts';
import { meterBody, priceBody } from './bodies.ts';
import { itemKey, planKey, priceKey, sections } from './definitions.ts';
import type { Catalog, Section } from './definitions.ts';
import { catalogFile, fieldNames, fieldsAt } from './file-schema.ts';
import type { ParsedFile } from './file-schema.ts';
import { definitionOf } from './from-file.ts';
import { nearest } from './nearest.ts';
import { inFileOrder, readYaml, type YamlFile } from './yaml-source.ts';

export interface CatalogFile {
  readonly catalog: Catalog;
  /** Sections that are in the file, even if empty. */
  readonly sections: ReadonlySet<Section>;
  readonly issueAt: YamlFile['issueAt'];
}

/** Throws InvalidInputError with every problem: `catalog.yaml:12: pricing[0].unitAmount: must be…`. */
export function readCatalogFile(text: string, fileName: string): CatalogFile {
  const { value, issueAt } = readYaml(text, fileName, { example: 'tally catalog export' });
  return catalogOfValue(value, issueAt);
}

/** The same for a value in another kind of file, where `issueAt` finds its line. */
export function catalogOfValue(value: unknown, issueAt: YamlFile['issueAt']): CatalogFile {
  const parsed = catalogFile.safeParse(value);
  if (!parsed.success) {
    const issues = parsed.error.issues.flatMap((issue) => told(issue, value, issueAt));
    throw new InvalidInputError(inFileOrder(issues), {
      hint: 'see what a catalog can hold with: tally catalog schema',
    });
  }
  const catalog = fullForm(parsed.data);
  const issues = [...ruleIssues(catalog), ...repetitions(catalog)].map(([path, words]) => issueAt(path, words));
  if (issues.length > 0) throw new InvalidInputError(inFileOrder(issues));
  return { catalog, sections: new Set(sections.filter((section) => parsed.data[section] !== undefined)), issueAt };
}

function fullForm(file: ParsedFile): Catalog {
  return {
    products: (file.products ?? []).map(definitionOf.products),
    meters: (file.meters ?? []).map(definitionOf.meters),
    rateCards: (file.rateCards ?? []).map(definitionOf.rateCards),
    pricing: (file.pricing ?? []).map(definitionOf.pricing),
    plans: (file.plans ?? []).map(definitionOf.plans),
  };
}

type Place = readonly [path: readonly PropertyKey[], words: string];

function told(issue: z.core.$ZodIssue, value: unknown, issueAt: YamlFile['issueAt']): InputIssue[] {
  if (issue.code === 'unrecognized_keys') {
    const known = isSection(issue.path[0]) ? fieldNames(issue.path[0]) : sections;
    const others = issue.keys.filter((key) => tierHint(key) === undefined);
    const words = unknownKeys(others, known, fieldsAt(issue.path)).values();
    return issue.keys.map((key) => issueAt([...issue.path, key], tierHint(key) ?? words.next().value ?? ''));
  }
  return usualIssues(issue, value, issueAt);
}

/** What the schema says of a value, and how to write a text: YAML takes 2026, true and null for what they look like. */
export function usualIssues(issue: z.core.$ZodIssue, value: unknown, issueAt: YamlFile['issueAt']): InputIssue[] {
  return issuesOf([issue], value, '').map(({ message }) =>
    issueAt(issue.path, message === 'must be text' ? 'must be text (put it in quotes)' : message),
  );
}

/** The service returns it, so a copied answer usually contains it. */
function tierHint(key: string): string | undefined {
  return key === 'minQty' ? 'unknown field: leave it out, since a tier begins where the one before it ends' : undefined;
}

/** The words for each unknown field of one place: what was probably meant, or else, once, the fields that there are. */
export function unknownKeys(keys: readonly string[], known: readonly string[], here: readonly string[]): string[] {
  // A field of another place is spelt as it was meant.
  const meant = keys.map((key) => (known.includes(key) ? undefined : nearest(key, known)));
  const first = here.length === 0 ? -1 : meant.indexOf(undefined);
  return meant.map((name, index) => {
    if (name !== undefined) return `unknown field: did you mean ${name}?`;
    return index === first ? `unknown field: the fields here are ${here.join(', ')}` : 'unknown field';
  });
}

function isSection(name: PropertyKey | undefined): name is Section {
  return (sections as readonly PropertyKey[]).includes(name ?? '');
}

/** What the service would say against each entry if it were sent now; names that are looked up later stand in for ids. */
function ruleIssues({ meters, pricing }: Catalog): Place[] {
  const fieldOf: Readonly<Record<string, string>> = { productId: 'product', meterId: 'meter' };
  const check = (section: Section, index: number, schema: z.ZodType, body: object): Place[] =>
    (schema.safeParse(body).error?.issues ?? []).flatMap((issue) =>
      issuesOf([issue], body, '').map(({ message }): Place => {
        const [first = '', ...rest] = issue.path;
        return [[section, index, fieldOf[String(first)] ?? first, ...rest], message];
      }),
    );
  return [
    ...meters.flatMap((meter, index) => check('meters', index, operations['meters.create'].body, meterBody(meter))),
    ...pricing.flatMap((price, index) => {
      const ids = { productId: price.product, meterId: price.meter };
      return check('pricing', index, operations['pricing.create'].body, priceBody(price, ids));
    }),
  ];
}

/** Names that occur twice: only names tell things apart. */
function repetitions({ products, meters, rateCards, pricing, plans }: Catalog): Place[] {
  return [
    ...repeated(['products'], products, ({ name }) => name),
    ...repeated(['meters'], meters, ({ code }) => code),
    ...repeated(['rateCards'], rateCards, ({ meter }) => meter),
    ...repeated(['pricing'], pricing, priceKey),
    ...repeated(['plans'], plans, planKey),
    ...plans.flatMap(({ items }, index) => repeated(['plans', index, 'items'], items, itemKey)),
  ];
}

function repeated<D>(list: readonly PropertyKey[], entries: readonly D[], keyOf: (entry: D) => string): Place[] {
  const first = new Map<string, number>();
  return entries.flatMap((entry, index): Place[] => {
    const earlier = first.getOrInsert(keyOf(entry), index);
    return earlier === index ? [] : [[[...list, index], `is the same as ${pathText([...list, earlier])}`]];
  });
}
