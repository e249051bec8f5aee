import { describe, expect, test } from 'vitest';

import { readSources } from '../support/sources.ts';

const sources = new Map(readSources('src').map((source) => [source.path, source]));

/** What a file brings: everything that it imports, and what that imports, but for dynamic imports. */
function loadedWith(...entries: readonly string[]): {
  files: Set<string>;
  libraries: Set<string>;
  builtIn: Set<string>;
} {
  const files = new Set<string>();
  const libraries = new Set<string>();
  const builtIn = new Set<string>();
  const follow = (path: string): void => {
    if (files.has(path)) return;
    files.add(path);
    const source = sources.get(path);
    if (source === undefined) throw new Error(`there is no ${path}`);
    for (const { target, isType } of source.imports) {
      const isDynamic = new RegExp(
        `import\\(['"][^'"]*${target
          .split('/')
          .at(-1)
          ?.replaceAll('.', String.raw`\.`)}['"][,)]`,
      );
      if (isType || isDynamic.test(source.code)) continue;
      if (target.startsWith('src/')) follow(target);
      else if (target.startsWith('node:')) builtIn.add(target);
      else if (!target.endsWith('.json')) libraries.add(target);
    }
  };
  entries.forEach(follow);
  return { files, libraries, builtIn };
}

test('help and version load the parser and no other library', () => {
  expect([...loadedWith('src/main.ts').libraries]).toEqual(['commander']);
});

test('help and version load no declaration, engine, store, server or client', () => {
  const heavy = [...loadedWith('src/main.ts').files].filter(
    (path) =>
      path !== 'src/operations/operation.ts' &&
      /^src\/(operations|calculation|engine|store|server|client)\//.test(path),
  );
  expect(heavy).toEqual([]);
});

describe('a call on a database', () => {
  const rooms = ['budgets', 'catalog', 'clock', 'contracts', 'credits', 'customers', 'invoices', 'meters']
    .concat(['usage', 'webhooks'])
    .map((room) => `src/engine/${room}.ts`);
  const path = [
    'src/cli/session/open-session.ts',
    'src/cli/call/call.ts',
    'src/store/open.ts',
    'src/store/backends/sqlite/sqlite.ts',
  ];
  const declaration =
    /^src\/operations\/(?!(index|operation|parse|plain|api-key|cross-rules|field-rules|listed|quick-events|wire-values)\.ts$)/;

  test('loads the declarations and the handlers of no room until it knows which one it enters', () => {
    const { files } = loadedWith(...path, 'src/engine/engine.ts', 'src/engine/keys.ts');
    expect([...files].filter((file) => declaration.test(file) || rooms.includes(file))).toEqual([]);
  });

  test.each(rooms)('%s brings nothing that takes long to load and is seldom used', (room) => {
    const { builtIn, libraries } = loadedWith(...path, 'src/engine/engine.ts', 'src/engine/keys.ts', room);
    expect(
      [...builtIn].filter((name) => ['node:assert', 'node:crypto', 'node:http', 'node:net'].includes(name)),
    ).toEqual([]);
    expect([...libraries].toSorted()).toEqual(['@noble/hashes/sha2.js', 'big.js', 'kysely']);
  });
});

test('a call of a service loads neither schemas nor what reads a database', () => {
  const { libraries } = loadedWith('src/cli/session/open-session.ts', 'src/cli/call/call.ts', 'src/client/client.ts');
  expect([...libraries].toSorted()).toEqual([]);
});
