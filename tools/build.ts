/**
 * Bundles src/ and every library it uses into dist/: one file for what every command runs, one for what every call of an
 * embedded service runs, one for the records of most rooms, one for what most rooms share, one for the thread that reads
 * large files, and one for each part that is loaded later. A command pays 0.2 ms for each file, and as much for every 30 KB
 * that it does not use. Since libraries are bundled, they are development dependencies: installing the package fetches nothing
 * else. Their licences are collected in dist/licenses.txt, because their code is shipped with ours.
 */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';

import { rolldown } from 'rolldown';
import type { Plugin } from 'rolldown';
import { isolatedDeclarationSync } from 'rolldown/experimental';

import { chunkPlugins } from './chunk-plugins.ts';
import { statementModules } from './known-statements.ts';
import { packOf } from './pack.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const outputFolder = process.argv[2] ?? join(root, 'dist');

/** Commander finds flags with several values by a Unicode class that takes a millisecond to build; our flags are ASCII. */
const plainFlags: Plugin = {
  name: 'plain-flags',
  transform: {
    filter: { id: /[\\/]commander[\\/]lib[\\/]option\.js$/ },
    handler(code) {
      const slow = '/\\p{ID_Continue}\\.\\.\\.[>\\]]$/u';
      if (!code.includes(slow)) throw new Error('commander tells variadic flags in another way than it did');
      return code.replace(slow, '/\\w\\.\\.\\.[>\\]]$/');
    },
  },
};

/** Queries are declared where they are run; their text for SQLite is known when the bundle is made. */
const statements = statementModules(root);
const knownQueries: Plugin = {
  name: 'known-queries',
  transform: {
    filter: { id: /[\\/]src[\\/]store[\\/](?:known|other)-statements\.ts$/ },
    async handler(_code, id) {
      const { knownStatements, otherStatements } = await statements;
      return { code: basename(id).startsWith('known') ? knownStatements : otherStatements, moduleType: 'js' };
    },
  },
};

/** The library makes a parser for programs without one of their own; no tool would notice that it is unused. */
const ownParser: Plugin = {
  name: 'own-parser',
  transform: {
    filter: { id: /[\\/]commander[\\/]index\.js$/ },
    handler(code) {
      const unused = 'export const program = new Command();';
      if (!code.includes(unused)) throw new Error('commander makes its own program in another way than it did');
      return code.replace(unused, '');
    },
  },
};

/** Commands need only the version from package.json, and would build the whole object at every start. */
const versionAlone: Plugin = {
  name: 'version-alone',
  transform: {
    filter: { id: /[\\/]package\.json$/ },
    handler(code, id) {
      if (dirname(id) !== dirname(join(root, 'package.json'))) return null;
      return { code: `export default { version: ${JSON.stringify(JSON.parse(code).version)} };`, moduleType: 'js' };
    },
  },
};

/**
 * A large object is read faster as JSON than as the JavaScript that a bundler makes of it. Each member is parsed on access,
 * because a command needs one of a room.
 */
const jsonAsText: Plugin = {
  name: 'json-as-text',
  transform: {
    filter: { id: /[\\/](?:manifest|outlines)[\\/]\w+\.json$/ },
    handler(code) {
      const members = Object.entries(JSON.parse(code)).map(
        ([name, value]) =>
          `get ${JSON.stringify(name)}() { return JSON.parse(${JSON.stringify(JSON.stringify(value))}); }`,
      );
      return { code: `export default {\n${members.join(',\n')}\n};`, moduleType: 'js' };
    },
  },
};

/**
 * Puts jq's WebAssembly into its code, compressed and without the sections for debuggers, which are two thirds of it. Makes it an
 * ES module, because a bundler turns exports that are a promise into an object with a broken `then`.
 */
const wholeJq: Plugin = {
  name: 'whole-jq',
  transform: {
    filter: { id: /[\\/]jq-web[\\/]jq\.js$/ },
    handler(code, id) {
      const end = code.indexOf("if (typeof exports === 'object' && typeof module === 'object')");
      if (end === -1) throw new Error('jq-web exports itself in another way than it did');
      const packed = brotliCompressSync(withoutCustomSections(readFileSync(join(dirname(id), 'jq.wasm'))));
      return `import { brotliDecompressSync } from 'node:zlib';
        ${code.slice(0, end)}
        const packed = '${packed.toString('base64')}';
        const wasmBinary = brotliDecompressSync(Buffer.from(packed, 'base64'));
        export default jq({ wasmBinary, printErr: () => undefined });`;
    },
  },
};

/** Matches these files of ours, and folders, which end in a slash. A missing path would silently leave its group. */
function ours(...paths: readonly string[]): RegExp {
  const patterns = paths.map((path) => {
    const isFolder = path.endsWith('/');
    const file = isFolder ? path : `${path}.ts`;
    if (!existsSync(join(root, 'src', file))) throw new Error(`bundling: there is no src/${file}`);
    const pattern = file
      .split('/')
      .map((part) => RegExp.escape(part))
      .join(String.raw`[\\/]`);
    return isFolder ? pattern : `${pattern}$`;
  });
  return new RegExp(String.raw`[\\/]src[\\/](?:${patterns.join('|')})`);
}

const either = (...tests: readonly RegExp[]): RegExp => new RegExp(tests.map(({ source }) => source).join('|'));

const bundle = await rolldown({
  input: {
    main: join(root, 'src/main.ts'),
    library: join(root, 'src/library/library.ts'),
    'reading-thread': join(root, 'src/cli/import/reading-thread.ts'),
  },
  cwd: root,
  platform: 'node',
  external: (id) => isBuiltin(id),
  plugins: [...chunkPlugins, plainFlags, ownParser, versionAlone, jsonAsText, knownQueries, wholeJq],
  // A library that looks for its folder finds none: what it needs from there must be in its code.
  transform: { define: { __dirname: '""', __filename: '""' } },
  tsconfig: false,
  // On a busy machine our plugins take long, which says nothing about the package.
  checks: { bundlerTimings: false },
  // A warning here means a library outside the bundle or an unknown name: the package would be broken. The exception is a
  // room that the engine loads late and another room at once, which is intended.
  onLog: (level, log) => {
    const isHarmless = log.code === 'INEFFECTIVE_DYNAMIC_IMPORT';
    if (level === 'warn' && !isHarmless) throw new Error(`bundling: ${log.message}`);
  },
});
rmSync(outputFolder, { recursive: true, force: true });
const { output } = await bundle.write({
  dir: outputFolder,
  // Not ESM: only a script can be given the bytecode of an earlier run, which the launcher keeps (bin/tally.js).
  format: 'cjs',
  exports: 'named',
  strict: true,
  entryFileNames: '[name].cjs',
  chunkFileNames: '[name]-[hash].cjs',
  codeSplitting: {
    groups: [
      // Before groups that would include it: only whoever hashes a text should wait for it.
      { name: 'late-hash', test: /[\\/]@noble[\\/]hashes[\\/]/, priority: 7 },
      {
        name: 'base',
        test: ours(
          'answer-facts',
          'assert',
          'digest',
          'errors',
          'limits',
          'loopback',
          'canonical-json',
          'exact-json',
          'normal-text',
          'text-order',
          'store/constraint-violation',
          'operations/index',
          'operations/invoice-number',
          'operations/operation',
          'operations/parse',
        ),
        priority: 6,
      },
      {
        name: 'start',
        test: ours('main', 'cli/program', 'cli/call/call', 'cli/session/open-session', 'cli/target/user-directories'),
        priority: 5,
      },
      {
        debugName: 'manifest and outlines',
        name: (id) => basename(id, '.json'),
        test: /[\\/](?:manifest|outlines)[\\/]\w+\.json$/,
        priority: 4,
      },
      { name: 'client', test: ours('client/'), priority: 4 },
      {
        name: 'writing',
        test: ours('cli/session/open-billing', 'cli/operator/journal'),
        priority: 4,
      },
      // Without SQLite's connection and other files that every call needs, which would otherwise be loaded late with these.
      { name: 'late-calculation', test: either(ours('calculation/'), /[\\/]big\.js[\\/]/), priority: 4 },
      { name: 'late-queries', test: /[\\/]kysely[\\/]/, priority: 4 },
      { name: 'late-statements', test: ours('store/other-statements'), priority: 4 },
      {
        name: 'late-events',
        test: ours('store/event-aggregation', 'store/event-content', 'store/backends/sqlite/events/'),
        priority: 3,
      },
      {
        name: 'service',
        test: ours(
          'engine/engine',
          'engine/call',
          'engine/keys',
          'engine/usage-sql',
          'engine/listing',
          'engine/webhooks-emit',
          'store/open',
          'store/open-meter-sql',
          'store/meter-sql',
          'store/mirror-file',
          'store/backends/sqlite/sqlite',
          'store/records/customers',
          'store/records/contacts',
          'store/records/webhooks',
          'store/records/page',
          'operations/providers',
        ),
        priority: 2,
      },
      // Files that the groups above need are in those groups already.
      { name: 'late-records', test: ours('store/records/'), priority: 1 },
      {
        name: 'schemas',
        test: either(ours('operations/define-operation', 'operations/fields'), /[\\/]zod[\\/]/),
        priority: 2,
      },
      { name: 'shared', test: ours('engine/', 'calculation/', 'store/'), minShareCount: 6, priority: 1 },
    ],
  },
  // Not minified: the stack of an unexpected failure stays readable, and with kept bytecode it starts equally fast.
  minify: false,
  comments: false,
  sourcemap: false,
});
await bundle.close();

// The launcher begins with the file that holds main, whose bytecode it keeps, instead of one that only names that file.
const first = output.find((file) => file.type === 'chunk' && file.exports.includes('main') && !file.isEntry);
if (first === undefined) throw new Error('bundling: no file of the bundle begins it');
rmSync(join(outputFolder, 'main.cjs'));
writeFileSync(join(outputFolder, 'main.txt'), first.fileName);
writeFileSync(join(outputFolder, 'pack.txt'), packOf(output.filter((file) => file.type === 'chunk')));

const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
writeFileSync(join(outputFolder, 'licenses.txt'), licensesOf(modules));

// These five files alone have the public types of the library; types of its parts and of other libraries are not needed.
for (const name of ['library/library', 'library/operations', 'answer-facts', 'errors', 'exact-json']) {
  const path = join(outputFolder, 'types', `${name}.d.cts`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, declarationsOf(join(root, `src/${name}.ts`)));
}

/** A WebAssembly module without custom sections. A section is its kind (0 for custom), its length in LEB128, and its bytes. */
function withoutCustomSections(module: Buffer): Buffer {
  const headBytes = 8;
  const kept = [module.subarray(0, headBytes)];
  for (let start = headBytes, end: number; start < module.length; start = end) {
    let [length, shift, position] = [0, 0, start + 1];
    for (let isLast = false; !isLast; shift += 7, position++) {
      const byte = module.readUInt8(position);
      length += (byte & 0x7f) << shift;
      isLast = byte < 0x80;
    }
    end = position + length;
    if (module[start] !== 0) kept.push(module.subarray(start, end));
  }
  return Buffer.concat(kept);
}

/** The exported types of a file with explicit types, without its additions to the language's own types. */
function declarationsOf(path: string): string {
  const { code, errors } = isolatedDeclarationSync(path, readFileSync(path, 'utf8'));
  if (errors.length > 0) throw new Error(`${path}: ${errors.map((error) => error.message).join('; ')}`);
  return code.replace(/^declare global \{\n[\s\S]*?^\}\n/m, '').replaceAll(/(from "\.[^"]*)\.ts"/g, '$1.cjs"');
}

/** The licence text of every package that a module belongs to, ordered by name. */
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
