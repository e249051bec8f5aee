/** How a file of the bundle is written, so that a command loads little of it, and soon. */

import type { Plugin } from 'rolldown';

/**
 * Loads Node's modules where they are first used, and so the files that are called `late-…`. Bundled together, each file would
 * load all that any of its parts needs: the command parser alone brings what starts programs, 2 ms of every command. They are
 * used as they are: a module for ECMAScript that a bundler makes of one is a copy, member by member.
 */
const lateModules: Plugin = {
  name: 'late-modules',
  renderChunk: (code) =>
    loadedLate(code.replaceAll(/\bimport\(("node:[\w/]+")\)/g, 'Promise.resolve(require($1))'), lateRequire),
};
const lateRequire =
  /^(?:let|const) ([\w$]+) = require\("(node:[\w/]+|\.\/late-[^"]+)"\);\n(?:\1 = [\w.$]+\.__toESM\(\1, 1\);\n)?/gm;

/** What the bundler makes modules with that were written for its likes: few files have one, and all name it. */
const lateRuntime: Plugin = {
  name: 'late-runtime',
  renderChunk: (code) => loadedLate(code, /^const (require_rolldown_runtime) = require\("(\.\/[^"]+)"\);\n/gm),
};

function loadedLate(code: string, requires: RegExp): string {
  let late = code;
  for (const [declaration, name = '', id] of code.matchAll(requires)) {
    // Not a member of something of this name; three points are no access to a member.
    const uses = new RegExp(
      String.raw`(?<![\w$]|(?<!\.\.)\.)${RegExp.escape(name)}(?![\w$])(?:\.default(?![\w$]))?`,
      'g',
    );
    late = late
      .replace(declaration, '')
      .replaceAll(uses, () => `(${name}())`)
      .replace(
        '"use strict";\n',
        (start) => `${start}let ${name}$;\nconst ${name} = () => ${name}$ ??= require("${id}");\n`,
      );
    if (late.includes(`${name}.`)) throw new Error(`bundling: ${name} is used without being loaded`);
  }
  return late;
}

/** Modules that are loaded late as objects of the language, so that what the bundler makes them with is not loaded for it. */
const plainNamespaces: Plugin = {
  name: 'plain-namespaces',
  renderChunk: (code) =>
    code.replaceAll(namespaceOfBundler, (_text, members: string) => {
      const plain = members.replaceAll(memberOfBundler, 'get $1() { return $2; }');
      if (plain.includes('=>')) throw new Error(`bundling: a module exports what is told in another way: ${members}`);
      return `{${plain}}`;
    }),
};
const namespaceOfBundler = /\/\* @__PURE__ \*\/ require_rolldown_runtime\.__exportAll\(\{([^{}]*)\}\)/g;
const memberOfBundler = /([\w$]+): \(\) => ([\w$.]+)/g;

/** Exports as it is what never changes: the function that a bundler reads each through takes longer to make than most are used. */
const plainExports: Plugin = {
  name: 'plain-exports',
  renderChunk: (code) =>
    code.replaceAll(exportOfBundler, (text, name: string, own: string) => {
      const constant = String.raw`^(?:(?:const|var) ${RegExp.escape(own)} =|(?:class|(?:async )?function\*?) ${RegExp.escape(own)}(?![\w$]))`;
      return new RegExp(constant, 'm').test(code) ? `exports.${name} = ${own};` : text;
    }),
};
/**
 * All exports of a file as one object: added to it one by one they are moved from one place to the next again and again. Programs that
 * import what they require look for the names of an entry as they were. Those of the command line's own file have no shape, whose
 * making takes five times as long; the engine's have one, by which what runs often finds them faster.
 */
const exportsAtOnce: Plugin = {
  name: 'exports-at-once',
  renderChunk(code, { isEntry, name: file }) {
    const found = [...code.matchAll(/^exports\.([\w$]+) = ([\w$]+);\n?/gm)];
    if (isEntry || found.length < 8 || code.includes('defineProperty(exports')) return null;
    const members = found.map(([, name, own]) => (name === own ? name : `${name}: ${own}`));
    const rest = code.replaceAll(/^exports\.[\w$]+ = [\w$]+;\n?/gm, '');
    const shape = file === 'start' ? '\n\t__proto__: null,' : '';
    return `${rest}module.exports = {${shape}\n\t${members.join(',\n\t')}\n};\n`;
  },
};
const exportOfBundler =
  /^Object\.defineProperty\(exports, "([\w$]+)", \{\s+enumerable: true,\s+get: function \(\) \{\s+return ([\w$]+);\s+\}\s+\}\);/gm;

/**
 * Writes what is not ASCII as escapes, where that means the same. V8 keeps a text with one such character in twice the memory,
 * and what a command loads is copied until it runs.
 */
const asciiAlone: Plugin = {
  name: 'ascii-alone',
  renderChunk(code) {
    if (/String\.raw`[^`]*[^\0-\x7f]|\\[^\0-\x7f]/.test(code)) return null;
    return code.replaceAll(/[^\0-\x7f]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
  },
};

/** Each takes what the one before it has left. */
export const chunkPlugins: readonly Plugin[] = [
  plainNamespaces,
  lateModules,
  lateRuntime,
  plainExports,
  exportsAtOnce,
  asciiAlone,
];
