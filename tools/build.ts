/**
 * Bundles src/ and every library it uses into dist/, one file for start-up and one for each part that is loaded later.
 * The libraries are development dependencies for that reason: installing the package fetches nothing else. Their
 * licences are collected into dist/licenses.txt, since their code travels with ours.
 */

import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));
const outputFolder = process.argv[2] ?? join(root, 'dist');

const bundle = await rolldown({
  input: { main: join(root, 'src/main.ts') },
  cwd: root,
  platform: 'node',
  external: (id) => isBuiltin(id),
  tsconfig: false,
  // A warning here is a library left outside the bundle or a name that cannot be found: the package would be broken.
  onLog: (level, log) => {
    if (level === 'warn') throw new Error(`bundling: ${log.message}`);
  },
});
rmSync(outputFolder, { recursive: true, force: true });
const { output } = await bundle.write({
  dir: outputFolder,
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: '[name].js',
  // Not minified: the stack of an unexpected failure stays readable, and the compile cache makes start-up equally fast.
  minify: false,
  comments: false,
  sourcemap: false,
});
await bundle.close();

const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
writeFileSync(join(outputFolder, 'licenses.txt'), licensesOf(modules));

/** The licence text of every package that a module belongs to, in the order of names. */
function licensesOf(moduleIds: readonly string[]): string {
  const folders = new Set(moduleIds.map(packageFolder).filter((folder) => folder !== undefined));
  const sections = [...folders].map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file === undefined ? '' : `\n\n${readFileSync(join(folder, file), 'utf8').trim()}`;
    return `${name} ${version} (${license})${text}`;
  });
  return `${[...new Set(sections)].sort().join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

/** The folder of the package that a module was found in; undefined for our own sources. */
function packageFolder(moduleId: string): string | undefined {
  const match = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(moduleId);
  const folder = match?.[0];
  return folder !== undefined && existsSync(join(folder, 'package.json')) ? folder : undefined;
}
