/** How the files of the bundle are written, so that a command loads little of them, and quickly. */

import type { Plugin } from 'rolldown';

/**
 * Loads Node's modules and the files called `late-…` on first use. Otherwise each file would load everything that any of its
 * parts needs: the command parser alone loads what starts programs, 2 ms of every command. The modules are used directly: a
 * bundler's ECMAScript version of a module is a copy, member by member.
 */
const lateModules: Plugin = {
  name: 'late-modules',
  renderChunk: (code) =>
    loadedLate(code.replaceAll(/\bimport\(("node:[\w/]+")\)/g, 'Promise.resolve(require($1))'), lateRequire),
};
const lateRequire =
  /^(?:let|const) ([\w$]+) = require\("(node:[\w/]+|\.\/late-[^"]+)"\);\n(?:\1 = [\w.$]+\.__toESM\(\1, 1\);\n)?/gm;

/** The bundler's runtime, which makes its kind of modules: few files use it, and all name it. */
const lateRuntime: Plugin = {
  name: 'late-runtime',
  renderChunk: (code) => loadedLate(code, /^const (require_rolldown_runtime) = require\("(\.\/[^"]+)"\);\n/gm),
};

function loadedLate(code: string, requires: RegExp): string {
  let late = code;
  for (const [declaration, name = '', id] of code.matchAll(requires)) {
    // Skips members of the same name; three dots are a spread, not a member access.
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

/** Turns modules that are loaded late into plain objects, so that the bundler's runtime is not loaded for them. */
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

/** Exports constants directly: the getter that a bundler makes for each takes longer to create than most are used. */
const plainExports: Plugin = {
  name: 'plain-exports',
  renderChunk: (code) =>
    code.replaceAll(exportOfBundler, (text, name: string, own: string) => {
      const constant = String.raw`^(?:(?:const|var) ${RegExp.escape(own)} =|(?:class|(?:async )?function\*?) ${RegExp.escape(own)}(?![\w$]))`;
      return new RegExp(constant, 'm').test(code) ? `exports.${name} = ${own};` : text;
    }),
};
/**
 * Writes all exports of a file as one object: an object that grows export by export is moved again and again. Entries are left
 * alone, because programs that import CommonJS look for the names of an entry in the old form. The exports of the command line's
 * own file have no shape, because making one takes five times as long; the engine's have one, which speeds up frequent access.
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
 * Writes other characters than ASCII as escapes, where that means the same. V8 keeps a text with one such character in twice
 * the memory, and what a command loads is copied until it runs.
 */
const asciiAlone: Plugin = {
  name: 'ascii-alone',
  renderChunk(code) {
    if (/String\.raw`[^`]*[^\0-\x7f]|\\[^\0-\x7f]/.test(code)) return null;
    return code.replaceAll(/[^\0-\x7f]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
  },
};

/** Each works on the output of the one before. */
export const chunkPlugins: readonly Plugin[] = [
  plainNamespaces,
  lateModules,
  lateRuntime,
  plainExports,
  exportsAtOnce,
  asciiAlone,
];
