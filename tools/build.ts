/**
 * Bundles src/ and every library it uses into dist/: one file for start-up, one for what every command runs, one for what
 * every call of an embedded service runs, one for what most rooms share, and one for each part that is loaded later. Each
 * file costs a command 0.2 ms, and so do 30 KB that it has no use for. The libraries are development dependencies for that reason: installing the package fetches nothing else. Their
 * licences are collected into dist/licenses.txt, since their code travels with ours.
 */

import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { rolldown } from 'rolldown';
import type { Plugin } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));
const outputFolder = process.argv[2] ?? join(root, 'dist');

/**
 * The command parser can start subcommands as programs of their own. Ours never are, and what starts programs takes 2 ms
 * to load.
 */
const noSubprograms: Plugin = {
  name: 'no-subprograms',
  resolveId: (id, importer) => (isForSubprograms(id, importer) ? noSubprogramsId : undefined),
  load: (id) => (id === noSubprogramsId ? 'export default undefined;' : undefined),
};
const noSubprogramsId = '\0no-subprograms';

function isForSubprograms(id: string, importer: string | undefined): boolean {
  return id === 'node:child_process' && importer !== undefined && /[\\/]commander[\\/]/.test(importer);
}

/**
 * Asks for Node's modules by name where they would be imported. An import makes a namespace of a module, which reads all
 * of its exports, and with them loads what Node itself loads late: `fs.promises`, `process.report`, `util.parseArgs`.
 */
const noNamespaces: Plugin = {
  name: 'no-namespaces',
  renderChunk: (code) =>
    code.replaceAll(
      /^import (?:([\w$]+)(?:, )?)?(?:\* as ([\w$]+)|(\{.+\}))? from "(node:[\w/]+)";$/gm,
      (_, ...[whole, star, members, name]: (string | undefined)[]) =>
        [whole, star, members?.replaceAll(' as ', ': ')]
          .filter((each) => each !== undefined)
          .map((each) => `const ${each} = globalThis.process.getBuiltinModule("${name}");`)
          .join('\n'),
    ),
};

/** A large object is read faster as JSON than as the JavaScript that a bundler makes of it. */
const jsonAsText: Plugin = {
  name: 'json-as-text',
  transform: {
    filter: { id: /[\\/]manifest[\\/]\w+\.json$/ },
    handler: (code) => ({
      code: `export default JSON.parse(${JSON.stringify(JSON.stringify(JSON.parse(code)))});`,
      moduleType: 'js',
    }),
  },
};

const bundle = await rolldown({
  input: { main: join(root, 'src/main.ts') },
  cwd: root,
  platform: 'node',
  external: (id, importer) => isBuiltin(id) && !isForSubprograms(id, importer),
  plugins: [noSubprograms, noNamespaces, jsonAsText],
  tsconfig: false,
  // A warning here is a library left outside the bundle or a name that cannot be found: the package would be broken. But
  // a room that is loaded late by the engine and at once by another room is as it should be.
  onLog: (level, log) => {
    const isHarmless = log.code === 'INEFFECTIVE_DYNAMIC_IMPORT';
    if (level === 'warn' && !isHarmless) throw new Error(`bundling: ${log.message}`);
  },
});
rmSync(outputFolder, { recursive: true, force: true });
const { output } = await bundle.write({
  dir: outputFolder,
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: '[name].js',
  codeSplitting: {
    groups: [
      { name: 'start', tags: ['$initial'], priority: 4 },
      { name: 'command', test: /src[\\/]cli[\\/](open-session|call)\.ts$|[\\/]env-paths[\\/]/, priority: 3 },
      {
        name: 'service',
        test: /src[\\/](engine[\\/](engine|call|keys)|store[\\/](open|backends[\\/]sqlite)|operations[\\/](fields|providers))\.ts$/,
        priority: 2,
      },
      { name: 'shared', test: /src[\\/](engine|calculation|store)[\\/]/, minShareCount: 6, priority: 1 },
    ],
  },
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
