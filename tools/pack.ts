/**
 * The texts of what short commands run, as one text. Node keeps a text of that length outside of V8's heap. Inside it, the parts
 * that a command loads would be a third of the young generation: V8 would collect earlier, and more often, than most commands
 * take.
 */

import type { OutputChunk } from 'rolldown';

/** `EXTERN_APEX` of Node's src/string_bytes.cc: longer texts are kept outside. */
const leastCharacters = 0xfbee9 + 1;

/** What every short command runs, by the names of groups in `build.ts`; followed by each room's part of the command line. */
const first = ['start', 'service', 'base', 'writing', 'client', 'late-records', 'late-statements', 'late-hash'];
const ofCommands = /[\\/](?:manifest|outlines)[\\/]/;

/** The text of a file as bin/tally.js gives it to V8: a function, so that the bytecode of one fits the other. */
export function asFunction(code: string): string {
  return `(function (exports, require, module) {${code}\n})`;
}

/**
 * A table of lines `name begin end`, each after a line feed, then an empty line, and the texts, which the offsets refer to. Only
 * ASCII, so that characters are bytes.
 */
export function packOf(chunks: readonly OutputChunk[]): string {
  const places: string[] = [];
  let texts = '';
  for (const { fileName, code } of chunks.filter(isPacked).toSorted(byUse)) {
    if (texts.length >= leastCharacters) break;
    const text = asFunction(code);
    places.push(`\n${fileName} ${texts.length} ${texts.length + text.length}`);
    texts += text;
  }
  if (texts.length < leastCharacters) throw new Error('bundling: the pack is too short for Node to keep it outside');
  return `${places.join('')}\n\n${texts}`;
}

/** Entries are left out: other programs load them by path. */
function isPacked({ isEntry, code }: OutputChunk): boolean {
  return !isEntry && !/[^\0-\x7f]/.test(code);
}

function byUse(one: OutputChunk, other: OutputChunk): number {
  return useOf(one) - useOf(other) || one.code.length - other.code.length || (one.fileName < other.fileName ? -1 : 1);
}

function useOf({ name, moduleIds }: OutputChunk): number {
  if (first.includes(name)) return first.indexOf(name);
  return moduleIds.some((id) => ofCommands.test(id)) ? first.length : first.length + 1;
}
