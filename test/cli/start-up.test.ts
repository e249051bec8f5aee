import { expect, test } from 'vitest';

import { readSources } from '../support/sources.ts';

const sources = new Map(readSources('src').map((source) => [source.path, source]));

/** What is loaded before a command runs: everything that main.ts imports, and what that imports, but for dynamic imports. */
function loadedAtStart(): { files: Set<string>; libraries: Set<string> } {
  const files = new Set<string>();
  const libraries = new Set<string>();
  const follow = (path: string): void => {
    if (files.has(path)) return;
    files.add(path);
    const source = sources.get(path);
    for (const { target, isType } of source?.imports ?? []) {
      const isDynamic = new RegExp(
        `import\\(['"][^'"]*${target
          .split('/')
          .at(-1)
          ?.replaceAll('.', String.raw`\.`)}['"]\\)`,
      );
      if (isType || isDynamic.test(source?.code ?? '')) continue;
      if (target.startsWith('src/')) follow(target);
      else if (!target.startsWith('node:') && !target.endsWith('.json')) libraries.add(target);
    }
  };
  follow('src/main.ts');
  return { files, libraries };
}

test('help and version load the parser and no other library', () => {
  expect([...loadedAtStart().libraries]).toEqual(['commander']);
});

test('help and version load no declaration, engine, store, server or client', () => {
  const heavy = [...loadedAtStart().files].filter(
    (path) =>
      path !== 'src/operations/operation.ts' &&
      /^src\/(operations|calculation|engine|store|server|client)\//.test(path),
  );
  expect(heavy).toEqual([]);
});
