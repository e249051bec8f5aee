/** What is generated from the declarations, and its current text: reference, command manifest, completions. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import packageFacts from '../package.json' with { type: 'json' };
import { catalogJsonSchema } from '../src/cli/catalog/file-schema.ts';
import { scenarioJsonSchema } from '../src/cli/simulation/scenario-schema.ts';
import { placesOf } from '../src/cli/completion-places.ts';
import { completionFiles, completionScript, shells } from '../src/cli/help/completions.ts';
import { helpPages, localPages } from '../src/cli/help-pages.ts';
import type { CommandSpec } from '../src/cli/command-line/manifest.ts';
import { allOperations } from '../src/operations/all.ts';
import { roomOf } from '../src/operations/index.ts';
import type { OperationName, RoomName } from '../src/operations/index.ts';
import type { Outline } from '../src/operations/operation.ts';
import { commandManifest } from './command-manifest.ts';
import { libraryTypes } from './library-types.ts';
import { manPage } from './man-page.ts';
import { replaceBlock } from './marked-block.ts';
import { newestSchema } from './newest-schema.ts';
import { outlineOf } from './outlines.ts';
import { referenceMarkdown } from './reference.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

interface GeneratedFile {
  /** Path from the root. */
  readonly path: string;
  /** Gives the whole text as it should be, from the current text, which is empty if the file does not exist. */
  readonly write: (current: string) => string | Promise<string>;
}

const rooms = [...new Set(allOperations.map(({ name }) => roomOf(name as OperationName)))];
const manifest = commandManifest(allOperations);

const generatedFiles: readonly GeneratedFile[] = [
  ...Object.keys(manifest.groups).map((group) => ({
    path: `src/cli/command-line/manifest/${group}.json`,
    write: () => `${JSON.stringify(commandsOf(group), undefined, 2)}\n`,
  })),
  ...rooms.map((room) => ({
    path: `src/operations/outlines/${room}.json`,
    write: () =>
      `{\n${outlinesOf(room)
        .map((outline) => `${JSON.stringify(outline.name)}: ${JSON.stringify(outline)}`)
        .join(',\n')}\n}\n`,
  })),
  ...shells.map((shell) => ({
    path: `completions/${completionFiles[shell]}`,
    write: async () => completionScript(shell, await placesOf(manifest)),
  })),
  { path: 'man/tally.1', write: async () => manPage(await helpPages(manifest), packageFacts.version) },
  { path: 'schemas/catalog.schema.json', write: catalogJsonSchema },
  { path: 'schemas/scenario.schema.json', write: scenarioJsonSchema },
  { path: 'src/library/operations.ts', write: libraryTypes },
  {
    path: 'src/store/backends/sqlite/migrations/newest.json',
    write: () => `${JSON.stringify(newestSchema(), undefined, 2)}\n`,
  },
  // The bundle and the executable have no files beside them that a demo could copy.
  { path: 'src/cli/demo/examples.json', write: () => `${JSON.stringify(examples(), undefined, 2)}\n` },
  {
    path: 'README.md',
    write: async (current) => replaceBlock(current, 'reference', referenceMarkdown(await localPages(manifest))),
  },
];

/** The text of each scenario and catalog in `examples/`, by name. */
function examples(): Readonly<Record<string, string>> {
  const names = readdirSync(join(root, 'examples'))
    .filter((name) => name.endsWith('.yaml'))
    .toSorted();
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(root, 'examples', name), 'utf8')]));
}

function outlinesOf(room: RoomName): readonly Outline[] {
  return allOperations.filter(({ name }) => roomOf(name as OperationName) === room).map(outlineOf);
}

/** The commands of a group by their verbs. */
function commandsOf(group: string): Readonly<Record<string, CommandSpec>> {
  const own = manifest.commands.filter((command) => command.group === group);
  return Object.fromEntries(own.map((command) => [command.verb, command]));
}

export interface StaleFile {
  readonly path: string;
  readonly content: string;
}

/** The generated files whose text is not what the declarations give, with the text that they should have. */
export async function* staleFiles(): AsyncGenerator<StaleFile> {
  for (const { path, write } of generatedFiles) {
    const current = read(join(root, path));
    const content = await write(current);
    if (content !== current) yield { path, content };
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8').replaceAll('\r\n', '\n');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}
