/** YAML text as data, with the line of each part. */

import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml';
import type { Document, Pair, YAMLMap } from 'yaml';

import type { InputIssue } from '../../errors.ts';
import { InvalidInputError, pathText } from '../../errors.ts';
import { exactNumber, forbiddenNameMessage, isNumberText } from '../../exact-json.ts';

export interface YamlFile {
  /** Neither null nor undefined. */
  readonly value: unknown;
  /** Line, from 1, of the part at a path; if the part is missing, of the nearest one above it. */
  readonly lineOf: (path: readonly PropertyKey[]) => number;
  /** An issue of the part at a path, with the file's name and line. */
  readonly issueAt: (path: readonly PropertyKey[], message: string) => InputIssue;
}

/**
 * The data, with the digits of its numbers. Throws InvalidInputError with the first problem, which includes a custom tag, a
 * repeated key and a key `__proto__`, and for an empty file. `example` is a command that shows what a file looks like.
 */
export function readYaml(text: string, fileName: string, { example }: { readonly example: string }): YamlFile {
  const lines = new LineCounter();
  // The library would compare each key with all before it: 40,000 in one map took 15 seconds.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  const lineAt = (position: number) => lines.linePos(position).line;
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined) throw refusal(`${fileName}:${lineAt(problem.pos[0])}`, wordsOf(problem));
  keepWritten(document);
  const lost = findLostKey(document);
  if (lost !== undefined) throw refusal(`${fileName}:${lineAt(lost.position)}`, lost.message);
  const value = valueOf(document, fileName);
  if (value === null || value === undefined) {
    throw new InvalidInputError([{ path: fileName, message: 'the file is empty' }], {
      hint: `see what one looks like with: ${example}`,
    });
  }
  const lineOf = (path: readonly PropertyKey[]) => lineAt(positionOf(document, path));
  const issueAt = (path: readonly PropertyKey[], message: string): InputIssue => {
    const place = pathText(path);
    return { path: `${fileName}:${lineOf(path)}`, message: place === '' ? message : `${place}: ${message}` };
  };
  return { value, lineOf, issueAt };
}

/** Problems by line, in the order in which a person corrects them. */
export function inFileOrder(issues: readonly InputIssue[]): InputIssue[] {
  const lineOf = ({ path }: InputIssue) => Number(/:(\d+)$/.exec(path)?.[1] ?? 0);
  return issues.toSorted((one, other) => lineOf(one) - lineOf(other));
}

function valueOf(document: Document.Parsed, fileName: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    throw refusal(`${fileName}:1`, (error as Error).message);
  }
}

function refusal(path: string, message: string): InvalidInputError {
  return new InvalidInputError([{ path, message }]);
}

function wordsOf({ code, message }: { readonly code: string; readonly message: string }): string {
  if (code === 'MULTIPLE_DOCS') return 'a second document begins here, but a file must be one';
  return message.startsWith('Maximum call stack') ? 'is nested too deep to be read' : message;
}

interface LostKey {
  readonly position: number;
  readonly message: string;
}

/** The first key that the data would silently lose: one repeated in its map, or one that schemas skip. */
function findLostKey(document: Document.Parsed): LostKey | undefined {
  let lost: LostKey | undefined;
  visit(document, {
    Map: (_key, { items }) => {
      const names = new Set<string>();
      for (const pair of items) {
        if (!isScalar(pair.key)) continue;
        const name = nameOf(pair);
        const message = names.has(name) ? 'this key is here a second time' : problemOfName(name);
        names.add(name);
        const position = startOf(pair.key) ?? 0;
        if (message !== undefined && position < (lost?.position ?? Number.POSITIVE_INFINITY))
          lost = { position, message };
      }
    },
  });
  return lost;
}

function problemOfName(name: string): string | undefined {
  return name === '__proto__' ? `__proto__: ${forbiddenNameMessage}` : undefined;
}

/** Keeps the digits of numbers, and keys as the texts that they are in the data: a `1.10` would become `1.1`. */
function keepWritten(document: Document.Parsed): void {
  visit(document, {
    Scalar: (key, node) => {
      const { value, source = String(value) } = node;
      if (key === 'key' && typeof value !== 'string') node.value = source;
      // Forms that JSON lacks (0x10, .5, +1) stay texts, for the schema to refuse.
      else if (typeof value === 'number') node.value = isNumberText(source) ? exactNumber(source) : source;
    },
  });
}

function positionOf(document: Document.Parsed, path: readonly PropertyKey[]): number {
  let node: unknown = document.contents;
  let position = startOf(node) ?? 0;
  for (const name of path) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = pairsOf(node).get(String(name));
      position = startOf(pair?.key) ?? position;
      node = pair?.value;
    } else if (isSeq(node)) {
      node = node.items[Number(name)];
      position = startOf(node) ?? position;
    } else return position;
  }
  return position;
}

/** A map's pairs by their names in the data. Made once per map, because thousands of issues may each ask for a line. */
function pairsOf(map: YAMLMap): ReadonlyMap<string, Pair> {
  return knownPairs.getOrInsertComputed(map, ({ items }) => new Map(items.map((pair) => [nameOf(pair), pair])));
}

const knownPairs = new WeakMap<YAMLMap, ReadonlyMap<string, Pair>>();

function nameOf({ key }: Pair): string {
  return isScalar(key) ? String(key.value) : '';
}

function startOf(node: unknown): number | undefined {
  const { range } = (node ?? {}) as { readonly range?: readonly number[] | null };
  return range?.[0];
}
