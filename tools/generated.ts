/** What is generated from the declarations, and how it should read now: the reference in README. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { replaceBlock } from './marked-block.ts';
import { referenceMarkdown } from './reference.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

interface GeneratedFile {
  /** Path from the root. */
  readonly path: string;
  /** The whole text as it should be; given the text as it is, empty for a file that does not exist. */
  readonly write: (current: string) => string;
}

const generatedFiles: readonly GeneratedFile[] = [
  { path: 'README.md', write: (current) => replaceBlock(current, 'reference', referenceMarkdown()) },
];

export interface StaleFile {
  readonly path: string;
  readonly content: string;
}

/** The generated files whose text differs from what the declarations say, with the text that they should have. */
export function staleFiles(): StaleFile[] {
  return generatedFiles.flatMap(({ path, write }) => {
    const current = read(join(root, path));
    const content = write(current);
    return content === current ? [] : [{ path, content }];
  });
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8').replaceAll('\r\n', '\n');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}
