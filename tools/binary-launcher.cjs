// The launcher of the self-contained executable: gives a `require` for the files of the bundle. These are assets of the
// executable, each with the bytecode of what it ran when the executable was made (tools/build-binary.ts).
// It reads no file of the machine, so that it never takes a nearby bundle or source for its own.

const { getAssetKeys, getRawAsset } = process.getBuiltinModule('node:sea');
const { Script } = process.getBuiltinModule('node:vm');

const assets = new Set(getAssetKeys());
const modules = new Map();

void load(`./${Buffer.from(getRawAsset('main.txt'))}`).main();

function load(id) {
  if (!id.startsWith('./')) return builtIn(id);
  const known = modules.get(id);
  if (known !== undefined) return known.exports;
  const loaded = { exports: {} };
  modules.set(id, loaded);
  run(id.slice(2))(loaded.exports, load, loaded);
  return loaded.exports;
}

function builtIn(id) {
  const found = process.getBuiltinModule(id);
  if (found === undefined) throw new Error(`the executable does not hold ${id}`);
  return found;
}

function run(name) {
  const text = `(function (exports, require, module) {${Buffer.from(getRawAsset(name)).toString()}\n})`;
  const bytecode = `${name}.bytecode`;
  const cachedData = assets.has(bytecode) ? Buffer.from(getRawAsset(bytecode)) : undefined;
  return new Script(text, { filename: name, cachedData }).runInThisContext();
}
