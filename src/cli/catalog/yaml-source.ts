/** YAML text as data, with the line on which each part of it stands. */

import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml';
import type { Document, Pair } from 'yaml';

import { exactNumber, isNumberText } from '../../exact-json.ts';

export interface YamlSource {
  readonly value: unknown;
  /** Line, from 1, of the part at a path; of the nearest part above it where it is missing. */
  readonly lineOf: (path: readonly PropertyKey[]) => number;
}

export interface YamlProblem {
  readonly line: number;
  readonly message: string;
}

/** The data with the digits of its numbers, or the first problem. Custom tags and repeated keys are problems. */
export function readYaml(text: string): YamlSource | YamlProblem {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineAt = (position: number) => lines.linePos(position).line;
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined) return { line: lineAt(problem.pos[0]), message: wordsOf(problem) };
  keepDigits(document);
  try {
    return { value: document.toJS(), lineOf: (path) => lineAt(positionOf(document, path)) };
  } catch (error) {
    return { line: 1, message: (error as Error).message };
  }
}

function wordsOf({ code, message }: { readonly code: string; readonly message: string }): string {
  if (code === 'DUPLICATE_KEY') return 'this key stands here a second time';
  return code === 'MULTIPLE_DOCS' ? 'a second document begins here, and a file is one' : message;
}

function keepDigits(document: Document.Parsed): void {
  visit(document, {
    Scalar: (key, node) => {
      if (key === 'key' || typeof node.value !== 'number') return;
      // Forms that JSON lacks (0x10, .5, +1) stay texts, for the schema to refuse.
      const source = node.source ?? String(node.value);
      node.value = isNumberText(source) ? exactNumber(source) : source;
    },
  });
}

function positionOf(document: Document.Parsed, path: readonly PropertyKey[]): number {
  let node: unknown = document.contents;
  let position = startOf(node) ?? 0;
  for (const name of path) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = node.items.find(({ key }: Pair) => (isScalar(key) ? String(key.value) : '') === String(name));
      position = startOf(pair?.key) ?? position;
      node = pair?.value;
    } else if (isSeq(node)) {
      node = node.items[Number(name)];
      position = startOf(node) ?? position;
    } else return position;
  }
  return position;
}

function startOf(node: unknown): number | undefined {
  const { range } = (node ?? {}) as { readonly range?: readonly number[] | null };
  return range?.[0];
}
