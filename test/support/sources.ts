/** Our sources as the architecture tests see them: code without comments, and what each file imports. */

import { globSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

import { parseSync } from 'rolldown/utils';

export const root = fileURLToPath(new URL('../..', import.meta.url));

interface Import {
  /** Path from the root for our own files (`src/errors.ts`), else the name as written (`node:fs`, `zod`). */
  readonly target: string;
  readonly isType: boolean;
}

export interface Source {
  /** Path from the root, with forward slashes. */
  readonly path: string;
  readonly lines: number;
  /** The text with every comment blanked out. */
  readonly code: string;
  readonly imports: readonly Import[];
}

/** Every TypeScript file below the folders, in the order of paths. */
export function readSources(...folders: readonly string[]): Source[] {
  const paths = folders.flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root }));
  return paths
    .map((path) => path.replaceAll('\\', '/'))
    .sort()
    .map((path) => parseSource(path, readFileSync(join(root, path), 'utf8')));
}

/** One file: exported so that the rules can be tried on a wrong one. */
export function parseSource(path: string, text: string): Source {
  const { comments, module, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  let code = text;
  for (const { start, end } of comments) {
    code = code.slice(0, start) + code.slice(start, end).replaceAll(/[^\n]/g, ' ') + code.slice(end);
  }
  const imported = [
    ...module.staticImports.map((statement) => ({
      name: statement.moduleRequest.value,
      isType: statement.entries.length > 0 && statement.entries.every((entry) => entry.isType),
    })),
    ...module.staticExports
      .flatMap((statement) => statement.entries)
      .flatMap(({ moduleRequest, isType }) => (moduleRequest ? [{ name: moduleRequest.value, isType }] : [])),
    ...module.dynamicImports.map(({ moduleRequest }) => ({
      name: text.slice(moduleRequest.start, moduleRequest.end).replaceAll(/['"`]/g, ''),
      isType: false,
    })),
  ];
  const lines = text.split('\n').length - 1;
  return { path, lines, code, imports: imported.map(({ name, isType }) => ({ target: resolved(path, name), isType })) };
}

function resolved(path: string, name: string): string {
  return name.startsWith('.') ? posix.join(dirname(path), name) : name;
}
